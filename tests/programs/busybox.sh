#!/bin/busybox sh
# busybox as the shell, and its applets.
b=/bin/busybox
$b seq 1 20 > nums
$b cat nums | $b head -n 3 | $b tail -n 1
$b wc -l nums; $b sort -rn nums | $b head -n 2; $b uniq -c nums | $b tail -n 1
$b cut -c1 nums | $b sort -u | $b tr '\n' ' '; $b echo
$b grep -c 1 nums; $b sed -n '5,6p' nums; $b awk '{s+=$1} END {print s}' nums
$b md5sum nums; $b sha256sum nums; $b cksum nums
$b mkdir -p a/b/c; $b touch a/b/c/f; $b find a | $b sort; $b cp nums a/copy; $b mv a/copy a/moved; $b ls a
$b ln -s moved a/link; $b readlink a/link; $b rm -r a/b; $b test -e a/b || $b echo gone
$b tar cf a.tar a; $b tar tf a.tar | $b sort; $b gzip -c nums | $b gunzip | $b cmp - nums && $b echo same
$b printf '%d\n' 0x1f; $b expr 6 \* 7; $b basename /x/y/z.c .c; $b dirname /x/y/z.c
$b xargs -n 5 < nums; $b od -An -tx1 nums | $b head -n 1; $b date -u -d @0 +%Y; $b stat -c %s nums
$b dd if=/dev/zero bs=1k count=3 2>/dev/null | $b wc -c; $b env -i A=b $b env; $b sleep 0.05
$b true; $b false || echo "false $?"; $b usleep 1000; $b tee t < nums | $b tail -n 1; $b diff nums t && echo equal
