#!/bin/bash
# -t, by a program that plays the terminal.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 "$top/tests/cli/terminal.py" "$WARD" || failed=1
