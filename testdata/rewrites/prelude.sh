# Every history begins with this: a hub, a repository r whose first commit needs no review, and commits one minute
# apart.
printf '[user]\n name = Ada\n email = ada@example.com\n[init]\n defaultBranch = main\n[core]\n abbrev = 7\n[advice]\n detachedHead = false\n[commit]\n gpgSign = false\n' >"$GIT_CONFIG_GLOBAL"
minute=1767323045
tick() { minute=$((minute + 60)); export GIT_AUTHOR_DATE="@$minute +0000" GIT_COMMITTER_DATE="@$minute +0000"; }
# add FILE TEXT: makes a commit with the title "FILE TEXT" that appends TEXT to FILE.
add() { tick; printf '%s\n' "$2" >>"$1"; git add "$1"; git commit -q -m "$1 $2"; }
# later COMMAND…: runs the command one minute later by the committer's clock only.
later() { tick; unset GIT_AUTHOR_DATE; "$@"; }
reviewed() {
	if [ -n "$HOOKS" ] && [ $# -eq 0 ]; then
		git-runr -q work --drain --timeout 60s >/dev/null
	else
		git-runr -q review --wait --no-serve ${1:-HEAD} >/dev/null || [ $? -eq 1 ]
	fi
}
# share: does the worker's steps, and fetches everything into a second clone.
share() {
	if [ -n "$HOOKS" ]; then
		git-runr -q work --drain --timeout 60s >/dev/null || [ $? -eq 1 ]
	fi
	git-runr -q work >/dev/null
	git push -q --force --all origin
	git-runr -q sync
	cd "$WORK/other"
	git fetch -q origin "+refs/heads/*:refs/remotes/origin/*"
	git checkout -q --detach "origin/$(git -C ../r rev-parse --abbrev-ref HEAD)"
	git-runr -q sync
	cd ../r
}
# sed.sh SCRIPT FILE: edits a file in place, because not every sed has -i.
echo 'sed "$1" "$2" >"$2.new" && cat "$2.new" >"$2" && rm "$2.new"' >sed.sh
git init -q --bare hub.git
git init -q r
git init -q other
git -C other remote add origin ../hub.git
cd r
git remote add origin ../hub.git
git config runr.writer 0123456789ab
git -C ../other config runr.writer ba9876543210
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do echo $n; done >long
tick
git add long
git commit -q -m first
if [ -n "$HOOKS" ]; then
	git-runr -q hooks install
fi
