#!/bin/sh
# The host's environment, host name, command lines, mounts, descriptors.
got=
env | grep -i 'secret\|SSH_\|AWS_\|SUDO_' && got=1
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -i 'host-variabl[e]' && got=1
ls /proc | grep -c '^[0-9]' | { read -r n; [ "$n" -le 6 ] || { echo "$n processes in /proc"; exit 1; }; } || got=1
for fd in 3 4 5 6 7 8 9; do
	[ -e /proc/self/fd/$fd ] && readlink /proc/self/fd/$fd | grep -v '^/proc' && got=1
done
[ "$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)" = ward ] || { echo "host name"; got=1; }
ls -a /root /home /mnt /opt /srv /media 2>/dev/null | grep -v '^[/.]\|^$\|^user$' && got=1
ls "$1" 2>/dev/null && got=1
[ -z "$got" ] && echo contained
