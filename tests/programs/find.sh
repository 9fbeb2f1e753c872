#!/bin/sh
# Everything under /usr is seen as it is on the host.
# (ward runs with the rights of its user, who may not be allowed into every directory: those are left out for comparison)
find /usr -xdev -type d ! -perm -o=rx -prune -o -print | sort | sha256sum
find /usr/bin -type l | wc -l
find /usr/share/doc -name copyright -size +10k | sort | head -20 | sha256sum
ls -lnR --time-style=full-iso /usr/lib/x86_64-linux-gnu/perl-base | sha256sum
find /usr/bin -maxdepth 1 -type f -perm -o=r -name 'l*' -exec sha256sum {} + | sort | sha256sum
