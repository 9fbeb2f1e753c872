#!/bin/bash
# Round trips of archives and compressors.
set -e
mkdir -p src/d/e; cp -r data src/; ln -s data src/link; ln src/data/everything.py src/hard; chmod 750 src/d; touch -d @1000000000 src/d/e
chmod -R go-w src; seq 1 60000 > src/numbers
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX -cf a.tar src; sha256sum a.tar
for z in gzip xz; do
	$z -k -c a.tar > a.$z; $z -dc a.$z | cmp - a.tar && echo "$z round trip"
done
mkdir out; tar -xf a.tar -C out; diff -r src out/src && echo same
tar -czf - src | tar -tzf - | sort | sha256sum
tar -C out -cJf b.tar.xz src; tar -xJf b.tar.xz -O src/numbers | tail -1
stat -c '%A %h %n' out/src/hard out/src/link; readlink out/src/link
xz -T2 -c src/numbers | xz -dc | sha256sum
