#!/bin/sh
# only self
# Every name under /usr, as the user who runs ward sees it.
find /usr -xdev | sort | sha256sum
