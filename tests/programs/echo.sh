#!/bin/sh
# The smallest programs, and the environment they see.
/bin/echo hello world
/bin/echo -n no newline; /bin/echo
/usr/bin/printf '%s|%5d|%x\n' str 42 255
/bin/true && /bin/echo true
/bin/false || /bin/echo false $?
env | sort | grep -v '^\(HOME\|PWD\|OLDPWD\|_\|SHLVL\)='
