#!/bin/sh
# Makes the stored records of a program version: make.sh GIT-RUNR BUNDLE. Two clones request, answer, claim and close
# reviews and run scripted agents, so that every type of event occurs. The bundle contains all refs of the first
# clone except those of its remote. A bundle is never made again: see the README beside it.
set -eu
program=$(realpath "$1")
bundle=$(realpath -m "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir home
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" XDG_STATE_HOME="$work/home/state"
export GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1 GIT_RUNR_ACTOR=ada
git config --global user.name Ada
git config --global user.email ada@example.com
git config --global init.defaultBranch main

minute=0
tick() { # a minute goes by before each step
  minute=$((minute + 1))
  GIT_RUNR_CLOCK=$(printf '2026-01-02T%02d:%02d:00Z' $((3 + minute / 60)) $((minute % 60)))
  export GIT_RUNR_CLOCK GIT_AUTHOR_DATE="$GIT_RUNR_CLOCK" GIT_COMMITTER_DATE="$GIT_RUNR_CLOCK"
}
runr() { # runr STATUS ARG…: a step that ends with that status
  want=$1 got=0
  shift
  tick
  "$program" "$@" >out 2>&1 </dev/null || got=$?
  [ "$got" = "$want" ] || { echo "git runr $*: $got, not $want"; cat out; exit 1; } >&2
}
said() { grep -q -- "$1" out || { echo "not said: $1"; cat out; exit 1; } >&2; }
commit() { tick; git -C a add -A; git -C a commit -qm "$1"; }

git init -q --bare hub.git
git init -q a
git -C a config runr.writer aaaaaaaaaaaa
git -C a remote add origin ../hub.git
mkdir a/agents
cat >a/agents/impl.sh <<'IMPL'
case $(cat) in
*"RE-EXECUTE"*) echo hello >hello.txt ;;
*"FIX review findings"*) echo 'hello, please' >hello.txt ;;
*"Do nothing"*) ;;
*"Be stubborn"*) echo nonsense >stubborn.txt ;;
*) echo bad >bad.txt ;;
esac
echo 'Status: success'
echo
echo 'I did what was asked.'
IMPL
cat >a/agents/rev.sh <<'REV'
cat >/dev/null
if [ -e bad.txt ]; then
  printf '### Verdict: CRITICAL\n\n### Issues Found\n- [CRITICAL] `bad.txt:1` is all wrong\n'
elif [ -e stubborn.txt ]; then
  printf '### Verdict: NEEDS_FIX\n\n### Issues Found\n- [WARNING] `stubborn.txt:1` is nonsense\n'
elif ! grep -q please hello.txt; then
  printf '### Verdict: NEEDS_FIX\n\n### Issues Found\n- [WARNING] `hello.txt:1` is not polite\n'
else
  printf '### Verdict: PASS\n\nPolite.\n'
fi
REV
cat >a/.runr.toml <<'CONFIG'
[loop]
implementer = "impl"
reviewer = "rev"
max_retries = 2

[agents.impl]
command = ["sh", "agents/impl.sh"]

[agents.rev]
command = ["sh", "agents/rev.sh"]

[agents.gone]
command = ["no-such-agent"]

[checks.hello]
command = "test -f hello.txt || test -f stubborn.txt"
CONFIG
printf '# Say hello\n\nWrite hello.txt.\n\n## Done criteria\n\n- hello.txt is polite\n' >a/task.md
commit 'The project'
git -C a push -q origin main
git clone -q hub.git b
git -C b config runr.writer bbbbbbbbbbbb
runr 0 -C a trust --yes

# a run: reverted, executed again, fixed and passed; landed, undone, landed again
runr 0 -C a run task.md
runr 0 -C a land
runr 0 -C a undo
runr 0 -C a land

# a run that gives up: a person intervenes, it continues, and is accepted as it is
printf '# Be stubborn\n' >task2.md
runr 4 -C a run ../task2.md --max-retries 0
runr 0 -C a intervene latest --reason review_loop --note 'it is meant to be so' --cmd 'test -f stubborn.txt'
runr 4 -C a resume latest
runr 0 -C a answer latest commit

# a run that changes nothing, and is aborted
printf '# Do nothing\n' >task3.md
runr 4 -C a run ../task3.md
runr 0 -C a abort latest

# a review by the built-in reviewer: claimed, answered, resolved, opened again
printf 'package a\n\n<<<<<<< ours\nvar x = 1\n=======\nvar x = 2\n>>>>>>> theirs\n' >a/a.go
commit 'A merge that went wrong'
runr 1 -C a review --wait --reviewer builtin
runr 0 -C a inbox claim latest --as ann
runr 0 -C a inbox release latest --as ann
runr 0 -C a inbox claim latest --as ann
finding=$("$program" -C a inbox get latest --json | grep -o '"id":"f-[0-9a-f]*"' | head -1 | cut -d'"' -f4)
printf 'package a\n\nvar x = 2\n' >a/a.go
commit 'Mend the merge'
runr 0 -C a inbox answer latest "$finding" fixed --as ann --commit HEAD
runr 0 -C a inbox resolve latest --as ann
runr 0 -C a inbox reopen latest --as ann

# a review by a person, with a comment, from the other clone; and a withdrawn one
git -C a push -q origin main
runr 0 -C a review --reviewer human --no-serve
runr 0 -C a sync
git -C b pull -q
runr 0 -C b sync
runr 0 -C b inbox comment latest a.go:3 -m 'why two?'
runr 0 -C b inbox submit latest --request-changes -m 'not yet'
runr 0 -C b inbox claim latest --as bob
runr 0 -C b sync
runr 0 -C a sync
runr 0 -C a review HEAD~1 --reviewer human --no-serve
runr 0 -C a inbox cancel latest

# a review by an agent that is not installed
runr 30 -C a review --wait --reviewer gone
runr 0 -C a sync

for clone in a b; do
  "$program" -C "$clone" fsck
done
git -C a bundle create -q "$bundle" --exclude='refs/remotes/*' --all
git -C a log --format=%B --glob='refs/runr/log/*' | sed -n 's/^Runr-Type: //p' | sort | uniq -c
