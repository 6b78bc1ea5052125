#!/usr/bin/env bash
# Makes the pictures of README: terminal.svg, with the real output of a few commands, and page.png, the page of a
# review in chromium. Run it when what they show has changed. Requires chromium, and a committer name that the hooks
# of this machine accept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/bin/" ./cmd/... && go build -o "$work/bin/terminal" ./testdata/pictures)
GOCACHE=$(go env GOCACHE) GOFLAGS=-mod=mod
export GOCACHE GOFLAGS PATH="$work/bin:$PATH" HOME="$work/home" XDG_CONFIG_HOME="$work/home/config" XDG_STATE_HOME="$work/home/state" XDG_CACHE_HOME="$work/home/cache"
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com CI=1
mkdir -p "$XDG_CONFIG_HOME/git-runr" "$work/shop"
cat >"$XDG_CONFIG_HOME/git-runr/config.toml" <<'TOML'
[agents.helper]
command = ["sh", "-c", "cat >/dev/null; sed 's/sum -= p/sum += p/; /fmt/d' total.go | gofmt >t; mv t total.go; echo done"]
TOML

cd "$work/shop"
git init -q -b main
printf 'module example.com/shop\n\ngo 1.21\n' >go.mod
printf 'package shop\n\n// Total is the sum of prices in cents.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n' >total.go
printf 'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{100, 50}); got != 150 {\n\t\tt.Errorf("%%d, want 150", got)\n\t}\n}\n' >total_test.go
git add .
git commit -qm "Total of a cart"
git runr init --no-hooks >/dev/null
git add .
git commit -qm "Checks"
sed 's/sum += p/sum -= p\n\t\tfmt.Println("DEBUG", sum)/; s/^package shop$/package shop\n\nimport "fmt"/' total.go >t
mv t total.go
git commit -qam "Print the total"

show() { # show COMMAND…: as it would be seen
  printf '\033[1m$ %s\033[m\n' "$*"
  CLICOLOR_FORCE=1 COLUMNS=84 "$@" 2>/dev/null || true
  printf '\f'
}
{
  show git runr review --wait
  show git runr run --review latest --implementer helper
  show git runr land
  show git log --notes=runr -2 --format='%h %s%n%N'
} >"$work/typed"
terminal <"$work/typed" >"$here/terminal.svg"

git runr serve --json >"$work/serve" &
server=$!
for _ in $(seq 100); do [ -s "$work/serve" ] && break; sleep 0.1; done
git reset -q --hard HEAD~1
url=$(git runr review --reviewer human -m "Is the sum **right**?" --json | sed 's/.*"url":"\([^"]*\)".*/\1/; s/\\u0026/\&/g')
git runr inbox comment latest total.go:9 --severity critical -m 'This subtracts: a cart of 100 and 50 comes to -150.

```suggestion
		sum += p
```' >/dev/null
git runr inbox submit latest --request-changes -m "One line is wrong; the rest reads well." >/dev/null 2>&1
timeout 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,600 --timeout=3000 --screenshot="$work/page.png" "$url" 2>/dev/null
mv "$work/page.png" "$here/page.png"
ls -l "$here"
