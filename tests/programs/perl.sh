#!/bin/sh
# perl: hashes, alarms, forks, pipes, temporary files.
perl -e 'my %h; $h{$_ % 7} += $_ for 1..1000; print join(",", map {"$_=$h{$_}"} sort keys %h), "\n";'
perl -e '$SIG{ALRM} = sub { print "alarm\n"; exit 3 }; $| = 1; alarm 1; sleep 10;'; echo "exit $?"
perl -e 'my $p = fork; if (!$p) { exit 6 } waitpid $p, 0; print $? >> 8, "\n"; print `echo back ticks`; $| = 1; open my $f, "|-", "sort" or die; print $f "$_\n" for qw(c a b); close $f;'
perl -MPOSIX -MFile::Temp=tempfile -MDigest::SHA=sha1_hex -e 'my ($fh, $n) = tempfile; print $fh "x" x 10000; close $fh; print -s $n, " ", sha1_hex("abc"), " ", POSIX::floor(2.7), "\n"; unlink $n; print -e $n ? "there" : "gone", "\n";'
perl -pe 's/(\w+)/<$1>/g' data/cproj/README
