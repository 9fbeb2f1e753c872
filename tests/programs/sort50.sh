#!/bin/sh
# 50 MB through sort: large files, large pipes, threads, temporary files.
awk 'BEGIN { x = 12345; for (i = 0; i < 5300000; i++) { x = (x * 1103515245 + 12345) % 2147483648; printf "%09d\n", x % 1000000000 } }' | head -c 52428800 > big
wc -c < big
LC_ALL=C sort -S 20M --parallel=2 big | sha256sum
