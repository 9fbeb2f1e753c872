#!/bin/bash
# --copy-in and --copy-out.
. "$(dirname "$0")/lib.sh"
mkdir -p tree/sub; echo a >tree/a; echo b >"tree/sub/b c"; ln -s ../a tree/sub/link; chmod 750 tree/a; printf x >"$(printf 'tree/new\nline')"
run run --copy-in tree:/w/t --copy-out /w/t:copied -- sh -c 'cd /w/t && find . | sort | wc -l && echo more >>a'
is "a tree in and out" "$rc $out$err" "0 7"
is "content" "$(cat copied/a | tr '\n' ' ')" "a more "
is "mode" "$(stat -c %a copied/a)" 750
is "link" "$(readlink copied/sub/link)" ../a
holds "a name with a newline" test -f "$(printf 'copied/new\nline')"
is "the source is untouched" "$(cat tree/a)" a
run run --copy-in tree/a:/w/ --copy-out /w/a:o1 -- test -f /w/a; is "into a directory" "$rc $(cat o1)" "0 a"
run run --copy-out /tmp/r:o2 -- sh -c 'echo partial >/tmp/r; exit 3'; is "out after a failure" "$rc $(cat o2)" "3 partial"
run run --time 0.3 --copy-out /tmp/r:o3 -- sh -c 'echo partial >/tmp/r; sleep 20'; is "out after the time limit" "$rc $(cat o3)" "124 partial"
run run --copy-out /tmp/r:o4 -- sh -c 'echo partial >/tmp/r; kill -9 $$'; is "out after a signal" "$rc $(cat o4)" "137 partial"
refused "source missing" run --copy-out /tmp/none:o5 -- true
holds "and nothing made" test ! -e o5
run run --copy-out /tmp/none:o5 -- sh -c 'exit 3'; is "source missing after a failure: the program's code" "$rc $(wc -l <.err)" "3 1"
run run --copy-out /tmp/none:o5 --copy-out /etc/hostname:o6 -- true; is "the other one is copied" "$rc $(cat o6)" "125 ward"
refused "source is a device" run --copy-out /dev/null:o7 -- true
refused "a newline in the missing source" run --copy-out $'/tmp/no\nne:o5' -- true
echo old >o8; ln o8 o8.link
run run --copy-out /tmp/r:o8 -- sh -c 'echo new >/tmp/r'
is "an existing file is replaced, not rewritten" "$rc $(cat o8) $(cat o8.link)" "0 new old"
is "no temporary file stays" "$(ls -A | grep -c '^\.ward-')" 0
# whoever reads meanwhile sees the old or the new content, never a part
head -c 3000000 /dev/zero | tr '\0' o >o9
(while [ ! -e stop ]; do [ "$(wc -c <o9)" = 3000000 ] || echo part >>torn; done) &
w=$!
for i in 1 2 3; do "$WARD" run --copy-out /tmp/r:o9 -- sh -c 'head -c 3000000 /dev/zero >/tmp/r'; done
touch stop; wait $w
holds "atomic" test ! -e torn
mkdir ro; chmod 555 ro
[ "$(id -u)" = 0 ] || refused "destination not writable" run --copy-out /etc/hostname:ro/x -- true
ln -s /etc/passwd o10; cksum /etc/passwd >before
run run --copy-out /etc/hostname:o10 -- true
is "a link at the destination is replaced, not followed" "$rc $(cat o10) $(cksum /etc/passwd)" "0 ward $(cat before)"
run run --copy-out /tmp/t:o11 -- sh -c 'mkdir /tmp/t; ln -s /etc/passwd /tmp/t/abs; ln -s ../../x /tmp/t/up; ln -s ok /tmp/t/ok; echo 1 >/tmp/t/ok'
is "links out of the tree are left out" "$(ls o11 | tr '\n' ' ')" "ok "
run run --copy-out /tmp/r:o12 -- sh -c 'echo x >/tmp/r; chmod 6755 /tmp/r'; is "no set-id bits" "$(stat -c %a o12)" 755
mkdir b; echo host >b/f
run run --bind "$T/b:/b" -- sh -c 'cat /b/f; echo x >/b/g'; is "bind is read-only" "$out $([ -e b/g ] || echo no)" "host no"
run run --bind "$T/b:/b:rw" -- sh -c 'echo x >/b/g; mv /b/f /b/h'; is "bind rw" "$rc $(ls b | tr '\n' ' ')" "0 g h "
bb=$(command -v busybox) && {
	mkdir -p root/bin; cp "$(readlink -f "$bb")" root/bin/busybox
	for a in sh ls cat echo id; do ln -s busybox root/bin/$a; done
	run run --rootfs root -- sh -c 'echo x >/new; cat /new; ls /bin | wc -l; ls /usr 2>/dev/null; cat /proc/self/comm'
	is "--rootfs DIR" "$rc $(echo $out)" "0 x 6 cat"
	is "--rootfs is not written" "$(ls root)" bin
	run run --rootfs root -- python3; is "--rootfs: program missing there" $rc 127
}
