#!/bin/sh
# A repository's life: init, commit, branch, merge, conflict, clone, gc, fsck. Dates are fixed, so the ids are equal.
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=$PWD
git init -q -b main r && cd r || exit 1
for i in $(seq 1 40); do echo "line $i" > "f$i"; done
git add . && git commit -q -m first && git log --format='%H %s'
git checkout -q -b side && echo side > s && git add s && git commit -q -m side
git checkout -q main && echo main > m && git add m && git commit -q -m main
git merge -q -m merged side && git log --format='%h %p %s' --graph
git checkout -q -b c1 && echo one > f1 && git commit -qam one && git checkout -q main && echo two > f1 && git commit -qam two
git merge c1; echo "conflict $?"; cat f1; git merge --abort; git status --short | wc -l
git tag v1 && git gc -q && git fsck 2>&1; ls .git/objects/pack | sed 's/.*\.//' | sort
cd .. && git clone -q r copy && cd copy && git log --format=%H | head -1 && git branch -a
echo x >> f2 && git diff --stat && git stash -q && git stash list && git stash pop -q && git diff | tail -1
git grep -c 'line 1' | wc -l; git archive HEAD | tar t | wc -l; git blame -s f3
