#!/usr/bin/env bash
# The hook table: the effect of common commands with each kind of hooks directory and each hook manager, with the
# real tools. A cell is ok if exactly the expected reviews exist, earlier hooks ran as well, and git did not fail.
#   run.sh [SETUP…]     ACTIONS="commit gui" selects rows; TOOLS=DIR stores husky and lefthook there
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
go build -o "$work/bin/" ./cmd/...
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config PRE_COMMIT_HOME=$work/pre-commit
export GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true GIT_MERGE_AUTOEDIT=no NO_COLOR=1
unset $(git rev-parse --local-env-vars) GIT_CONFIG_GLOBAL
mkdir "$HOME"
PATH=$work/bin:$PATH
git config --global user.name Ada
git config --global user.email ada@example.com
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false
git config --global gc.auto 0

tools=${TOOLS:-$work/tools}
have_npm= have_pre_commit=
if command -v npm >/dev/null && { [ -d "$tools/node_modules/husky" ] ||
  { mkdir -p "$tools" && (cd "$tools" && npm init -y >/dev/null 2>&1 && npm install husky@9 lefthook@2 >/dev/null 2>&1); }; }; then
  have_npm=1
  PATH=$tools/node_modules/.bin:$PATH
else echo "SKIP husky and lefthook: npm, or its registry, is not there"; fi
if command -v pre-commit >/dev/null; then have_pre_commit=1; else echo "SKIP pre-commit: not installed (Debian: pre-commit)"; fi

hooks="post-commit post-rewrite post-merge"
put() { echo "$1" >"$2" && git add "$2" && GIT_RUNR_DEPTH=1 git -c core.hooksPath=/dev/null commit -qm "$2"; } # by no hook of anybody

# The repository at the beginning of every cell: feature has fifty reviewed commits, pick five others, and clash
# conflicts with main.
template() {
  git init -q "$work/template" && cd "$work/template"
  put 0 first
  git branch base
  git switch -qc feature && for i in $(seq 50); do put "$i" "f$i"; done
  git switch -qc pick base && for i in 1 2 3 4 5; do put "$i" "p$i"; done
  git switch -qc clash base && put theirs both
  git switch -q main && put ours both
  git runr review --missing -q base..feature >/dev/null
  idle .
  git clone -q --bare . "$work/upstream.git"
}

# idle waits until no worker runs.
idle() { while git -C "$1" runr work 2>/dev/null | grep -q 'Another worker'; do sleep 0.05; done; }

# count prints the number of reviews that were requested and not withdrawn.
count() { git -C "$1" runr inbox list --status all --limit 0 --json | grep -o '"status":"[a-z]*"' | grep -vc cancelled || true; }

foreign() { # foreign FILE HOOK: a script of somebody else's
  mkdir -p "$(dirname "$1")"
  printf '#!/bin/sh\n{ echo "%s $*"; cat; } >>"%s/ran"\n' "$2" "$work" >"$1"
  chmod +x "$1"
}

# Each set-up gets a copy of the template in $repo, and sets top to the directory for the actions.
setup_plain() { git runr hooks install; }
setup_existing() { for h in $hooks; do foreign ".git/hooks/$h" "$h"; done; git runr hooks install; }
setup_husky() {
  husky >/dev/null
  for h in $hooks; do foreign ".husky/$h" "$h"; done
  git runr hooks install --write
}
setup_lefthook() {
  for h in $hooks; do
    case $h in post-rewrite) stdin='use_stdin: true' ;; *) stdin='use_stdin: false' ;; esac
    printf '%s:\n  commands:\n    mine:\n      run: "{ echo %s {0}; cat; } >>%s/ran"\n      %s\n' "$h" "$h" "$work" "$stdin" >>lefthook.yml
  done
  lefthook install >/dev/null
  git runr hooks install --write || :
  lefthook install >/dev/null
}
setup_pre_commit() {
  printf 'repos:\n' >.pre-commit-config.yaml
  for h in $hooks; do
    printf -- '- repo: local\n  hooks:\n  - {id: mine-%s, name: mine, entry: sh -c "echo %s >>%s/ran", language: system, stages: [%s], always_run: true, pass_filenames: false}\n' "$h" "$h" "$work" "$h" >>.pre-commit-config.yaml
  done
  for h in $hooks; do pre-commit install -t "$h" >/dev/null; done
  git runr hooks install --write
}
setup_global() {
  for h in $hooks; do
    foreign "$work/globalhooks/$h" "$h"
  done
  git config --global core.hooksPath "$work/globalhooks"
  if git runr hooks install 2>/dev/null; then echo "install wrote into a directory that serves all repositories" >&2; fi
  for h in $hooks; do # by hand, as install says
    git runr hooks status --json | node -e 'let s="";process.stdin.on("data",d=>s+=d).on("end",()=>process.stdout.write(JSON.parse(s).hooks.find(h=>h.hook===process.argv[1]).snippet))' "$h" >"$work/snippet"
    { head -1 "$work/globalhooks/$h"; cat "$work/snippet"; tail -n +2 "$work/globalhooks/$h"; } >"$work/new"
    cat "$work/new" >"$work/globalhooks/$h"
  done
}
setup_local() {
  for h in $hooks; do foreign ".myhooks/$h" "$h"; done
  git config core.hooksPath .myhooks
  git runr hooks install
}
setup_linked() {
  for h in $hooks; do foreign ".git/hooks/$h" "$h"; done
  git runr hooks install
  git switch -q --detach
  git worktree add -q "$repo-linked" main
  top=$repo-linked
}
setup_submodule() {
  git init -q "$repo-super" && cd "$repo-super"
  git submodule --quiet add "$repo" sub
  cd sub
  for b in feature pick clash base; do git branch -q "$b" "origin/$b"; done
  git fetch -q "$repo" 'refs/runr/*:refs/runr/*'
  git runr hooks install
  top=$repo-super/sub
}
setup_bare() {
  git clone -q --bare "$repo" "$repo-bare"
  git -C "$repo-bare" fetch -q "$repo" 'refs/runr/*:refs/runr/*'
  git -C "$repo-bare" worktree add -q "$repo-linked" main
  cd "$repo-linked"
  git runr hooks install
  top=$repo-linked
}
setup_config() { # with a git of 2.54 or later first on PATH
  for h in $hooks; do foreign ".git/hooks/$h" "$h"; done
  git runr hooks install
}

# Each action runs in $top and sets want to the number of reviews that it should make.
act_commit() { echo x >a && git add a && git commit -qm a; want=1; }
act_commit_a() { echo x >>first && git commit -qam a; want=1; }
act_commit_path() { echo x >>first && echo y >n && git add n && git commit -qm a first; want=1; }
act_amend() { git switch -q feature && echo x >>f50 && git commit -qa --amend --no-edit; want=1; rewrites=1; }
act_amend_words() { git switch -q feature && git commit -q --amend -m words; want=0; rewrites=1; }
act_rebase_50() { git switch -q feature && git rebase -q main; want=0; rewrites=50; covered=main..feature; }
act_pick_1() { git cherry-pick pick >/dev/null; want=1; }
act_pick_5() { git cherry-pick base..pick >/dev/null; want=5; }
act_merge_ff() { git switch -qc ff base && git merge -q pick; want=0; }
act_merge_no_ff() { git merge -q --no-ff --no-edit pick; want=0; }
act_merge_conflict() { ! git merge -q clash >/dev/null 2>&1 && echo both >both && git add both && git commit -qm merged; want=1; }
act_pull_rebase() {
  git remote add up "$work/upstream.git" && git fetch -q up
  git switch -qc mine base && put l l && git branch -q --set-upstream-to=up/main
  git runr review -q --wait >/dev/null
  git pull -q --rebase; want=1; rewrites=1; covered=up/main..mine # that one was typed
}
act_revert() { git revert --no-edit HEAD >/dev/null; want=1; }
act_gui() { echo x >a && git add a && env -i HOME="$HOME" "$(command -v git)" commit -qm a; want=1; }
act_cat() { echo x >a && git add a && git commit -qm a 2>&1 | cat >/dev/null; want=1; }

actions="${ACTIONS:-commit commit_a commit_path amend amend_words rebase_50 pick_1 pick_5 merge_ff merge_no_ff merge_conflict pull_rebase revert gui cat}"
cell() { # cell SETUP ACTION: prints ok or what is wrong
  repo=$work/cells/$1-$2 top=$repo want= rewrites=0 covered=
  mkdir -p "$work/cells"
  cp -a "$work/template" "$repo"
  git config --global --unset core.hooksPath || :
  rm -rf "$work/globalhooks" "$work/ran"
  cd "$repo"
  echo '/.husky/
/.myhooks/
/lefthook*
/.pre-commit-config.yaml' >>.git/info/exclude
  "setup_$1" >"$work/out" 2>&1 || { echo "SETUP FAILED: $(tail -3 "$work/out")"; return; }
  cd "$top"
  git runr hooks status >"$work/out" 2>&1 || { echo "STATUS FAILS: $(cat "$work/out")"; return; }
  : >"$work/ran"
  before=$(count .)
  "act_$2" >"$work/out" 2>&1 || { echo "GIT FAILED: $(tail -3 "$work/out")"; return; }
  idle .
  made=$(($(count .) - before))
  [ "$made" = "$want" ] || { echo "$made reviews, not $want: $(git runr inbox list --status all --limit 5 --json | grep -o '"source":"[a-z]*"\|"status":"[a-z]*"\|"title":"[^"]*"' | paste -sd' ')"; return; }
  if [ -n "$covered" ]; then
    git runr review --missing --dry-run "$covered" >"$work/out"
    grep -q ': 0 reviews' "$work/out" || { echo "not covered: $(head -3 "$work/out")"; return; }
  fi
  case $1 in plain | submodule | bare) ;; *)
    [ -s "$work/ran" ] || { echo "the hook that was there did not run"; return; }
    case $1 in pre_commit) ;; *)
      fed=$(grep -cE '^[0-9a-f]{40} [0-9a-f]{40}' "$work/ran" || :)
      [ "$fed" = "$rewrites" ] || { echo "the hook that was there was fed $fed pairs, not $rewrites"; return; } ;;
    esac ;;
  esac
  [ ! -s .git/runr/hook.log ] || { echo "hook.log: $(tail -1 .git/runr/hook.log)"; return; }
  echo ok
}

setups="plain existing"
[ -z "$have_npm" ] || setups="$setups husky lefthook"
[ -z "$have_pre_commit" ] || setups="$setups pre_commit"
setups="$setups local linked submodule bare"
! command -v node >/dev/null || setups="$setups global"
[ $# = 0 ] || setups="$*"
template
failed=0
printf '%-15s' ''; printf ' %-11s' $setups; echo
for action in $actions; do
  printf '%-15s' "$action"
  for setup in $setups; do
    said=$(cell "$setup" "$action")
    if [ "$said" = ok ]; then printf ' %-11s' ok; else
      printf ' %-11s' FAIL
      failed=$((failed + 1))
      echo "$setup, $action: $said" >>"$work/failures"
    fi
    rm -rf "$work/cells"
  done
  echo
done
[ ! -e "$work/failures" ] || cat "$work/failures"
echo "$failed cells failed"
[ "$failed" = 0 ]
