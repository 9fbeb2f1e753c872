#!/bin/bash
# Files and text with everyday tools.
seq 100 | shuf --random-source=<(yes) | sort -n | md5sum
seq 1 30 | paste - - - | head -3; join <(printf 'a 1\nb 2\n') <(printf 'a x\nb y\n')
mkdir -p t/a; cp -a data t/a/; mv t/a t/b; ls -R t | head; rm -rf t; ls t 2>/dev/null || echo gone
dd if=/dev/zero of=z bs=64k count=5 status=none; stat -c '%s' z; truncate -s 10 z; wc -c < z
split -l 10 <(seq 35) part.; ls part.*; cat part.* | md5sum; csplit -s <(seq 9) 4 7; head -1 xx01
mktemp -d > name; [ -d "$(cat name)" ] && rmdir "$(cat name)" && echo made
printf 'x\n' | tee a b | cat; cmp a b; ln -s a l; realpath --relative-to=. l; touch -r a b; [ a -ot b ] || echo same time
nl <(echo one); fold -w 5 <(echo abcdefghij); expand <(printf 'a\tb\n'); tac <(seq 3); cut -d: -f1 /etc/passwd | head -1
od -c <(printf 'a\0b'); base64 <(echo hi); numfmt --to=iec 1048576; factor 360; date -u -d @86400 +%F; expr length abc
sed -i s/x/y/ a && cat a; xargs -P 2 -n 1 echo < <(seq 4) | sort
nproc > /dev/null && echo nproc; uname -sm; sync; df . > /dev/null && echo df; ps -o comm= -p $$; id -u
