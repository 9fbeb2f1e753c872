#!/bin/sh
# A small C project, built in parallel, tested, touched and built again.
cp -r data/cproj p && cd p || exit 1
make -j2 2>&1 | sort
make check
sleep 0.05; touch util.h; make -j2 2>&1 | sort
make -q; echo "up to date $?"
make clean; ls
make broken 2>/dev/null; echo "broken $?"
