#!/bin/sh
# Everything under /usr is seen as it is on the host.
find /usr -xdev | sort | sha256sum
find /usr/bin -type l | wc -l
find /usr/share/doc -name copyright -size +10k | sort | head -20 | sha256sum
ls -lnR --time-style=full-iso /usr/lib/x86_64-linux-gnu/perl-base | sha256sum
find /usr/bin -maxdepth 1 -type f -perm -o=r -name 'l*' -exec sha256sum {} + | sort | sha256sum
