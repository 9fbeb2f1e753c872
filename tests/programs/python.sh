#!/bin/sh
# Debian's Python: data, subprocess, threads, processes, sqlite3, signals.
/usr/bin/python3 data/everything.py
echo "exit code $?"
