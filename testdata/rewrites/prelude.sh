# What every history begins with: a hub, a repository r whose first commit nobody is to
# review, and commits that are one minute apart.
printf '[user]\n name = Ada\n email = ada@example.com\n[init]\n defaultBranch = main\n[core]\n abbrev = 7\n hooksPath = /dev/null\n[advice]\n detachedHead = false\n[commit]\n gpgSign = false\n' >"$GIT_CONFIG_GLOBAL"
minute=1767323045
tick() { minute=$((minute + 60)); export GIT_AUTHOR_DATE="@$minute +0000" GIT_COMMITTER_DATE="@$minute +0000"; }
# add FILE TEXT: a commit that is called FILE TEXT, with TEXT as another line of FILE.
add() { tick; printf '%s\n' "$2" >>"$1"; git add "$1"; git commit -q -m "$1 $2"; }
# later COMMAND…: in a minute in which only the committer's clock says so.
later() { tick; unset GIT_AUTHOR_DATE; "$@"; }
reviewed() { git-runr -q review --wait --no-serve ${1:-HEAD} >/dev/null || [ $? -eq 1 ]; }
# share: what the worker does now, and what a second clone sees of it.
share() {
	git-runr -q work >/dev/null
	git push -q --force --all origin
	git-runr -q sync
	cd "$WORK/other"
	git fetch -q origin "+refs/heads/*:refs/remotes/origin/*"
	git checkout -q --detach "origin/$(git -C ../r rev-parse --abbrev-ref HEAD)"
	git-runr -q sync
	cd ../r
}
git init -q --bare hub.git
git init -q r
git init -q other
git -C other remote add origin ../hub.git
cd r
git remote add origin ../hub.git
git config runr.writer 0123456789ab
git -C ../other config runr.writer ba9876543210
seq 1 30 >long
tick
git add long
git commit -q -m first
