#!/usr/bin/env bash
# Goes through a review with an independent client of the Model Context Protocol: the inspector's command line, from
# npm. It lists the tools strictly, then creates, lists, gets, claims and resolves a review, each step in its own
# process. It reviews a change as an agent does, reads a review of 500 comments page by page, and tries to write
# through a read-only server.
#
#   inspector.sh [GIT-RUNR]   the program to test, else git-runr on PATH
#
# Prints for each answer its number of bytes, as the client prints it, and the number of o200k tokens of its text and
# its document together, which must be below 20,000. Prints SKIP and exits with 0 if npm is not available.
set -euo pipefail

inspector=@modelcontextprotocol/inspector@2.12.0
tokenizer=js-tiktoken@1.0.21
node=node@22.19.0 # which the inspector needs; used where the installed one is older

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*"; exit 0; }

# want TEXT COMMAND…: fails unless the command's output contains TEXT.
want() {
  local text=$1 out status=0
  shift
  out=$("$@" 2>&1) || status=$?
  grep -qF -- "$text" <<<"$out" || fail "$* (status $status) lacks \"$text\": $out"
  echo "ok: $text"
}

# inspect METHOD…: one call through the inspector.
inspect() { mcp-inspector --cli --cwd "$repo" "$program" mcp $readonly --method "$@"; }
call() {
  local status=0
  inspect tools/call --tool-name "$@" >"$answer" || status=$?
  cat "$answer"
  NODE_PATH=$(dirname "$(dirname "$(command -v mcp-inspector)")") node -e '
    const a = JSON.parse(require("fs").readFileSync(process.argv[1])), size = (s) => Buffer.byteLength(s);
    const texts = (a.content ?? []).map((c) => c.text ?? "").concat(a.structuredContent ? JSON.stringify(a.structuredContent) : []);
    const o200k = require("js-tiktoken").getEncoding("o200k_base"), tokens = texts.reduce((n, t) => n + o200k.encode(t, "all").length, 0);
    console.error(`    ${process.argv[2]}: ${size(JSON.stringify(a))} bytes, ${texts.reduce((n, t) => n + size(t), 0)} of text and document, ${tokens} tokens`);
    process.exit(tokens < 20000 ? 0 : 1)' "$answer" "$*" 2>&3 || fail "$*: more than 20,000 tokens"
  return $status
}
# field NAME: prints a field of the last answer's document.
field() { node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).structuredContent[process.argv[2]] ?? ""' "$answer" "$1"; }

walk() {
  want '"name": "review_list"' inspect tools/list --strict
  inspect tools/list --strict >/dev/null || fail "the tools are not strictly described"
  want 'No submitted reviews found.' call review_list
  want 'Review requested (deferred).' call review --tool-arg reviewer=human --tool-arg 'message=mind the gap'
  want 'cannot be claimed' call review_claim --tool-arg id=latest
  (cd "$repo" && "$program" inbox comment latest a.txt:1 -m 'say two' && "$program" inbox submit latest --request-changes) >/dev/null
  want '] submitted · 1 comment(s) · a.txt' call review_list --tool-arg limit=3
  want 'say two' call review_get --tool-arg id=latest
  want 'Claimed review' call review_claim --tool-arg id=latest
  want 'is claimed by inspector' call review_claim --tool-arg id=latest
  want 'Resolved review' call review_resolve --tool-arg id=latest --tool-arg force=true
  want 'resolved' call review_list --tool-arg status=all
  want 'which audit and the gate go on counting' call diagnose --tool-arg id=latest
}

# reviewing does an agent's review: request, change, comment, submission, answer, prompts.
reviewing() {
  want 'Review requested (deferred).' call review --tool-arg reviewer=human
  want '+one' call review_diff --tool-arg id=latest
  want 'does not wait' call review_wait --tool-arg id=latest
  want 'to your draft' call review_comment --tool-arg id=latest --tool-arg file=a.txt --tool-arg line=1 --tool-arg 'text=why one?'
  want 'only people approve' call review_submit --tool-arg id=latest --tool-arg verdict=approve
  want 'changes requested, 1 comment' call review_submit --tool-arg id=latest --tool-arg verdict=request_changes --tool-arg 'comments=[{"file":"a.txt","line":1,"text":"why one?"}]'
  want 'waits for a person' call review_resolve --tool-arg id=latest
  call review_get --tool-arg id=latest >/dev/null
  local finding
  finding=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).structuredContent.findings[0].id' "$answer")
  want 'review_claim {' inspect prompts/get --prompt-name address_review
  want '0 findings left.' call review_answer --tool-arg id=latest --tool-arg "answers=[{\"finding\":\"$finding\",\"answer\":\"deferred\"}]"
  want 'No run of the loop has stopped' inspect prompts/get --prompt-name why_did_it_stop
}

# pages reads a review of 500 comments to its end, and checks that each comment appears once.
pages() {
  node -e 'const words = "it reads the file once more than it must, and says nothing of the one before ".repeat(4);
    console.log(JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ file: "a.txt", startLine: 1, endLine: 1, comment: `remark ${i + 1}: ${words}` }))))' >"$answer.json"
  (cd "$repo" && "$program" review --reviewer human --no-serve && "$program" inbox submit latest --request-changes --file "$answer.json") >/dev/null
  local cursor=() count=0 page=0 next found
  while :; do
    call review_get --tool-arg id=latest "${cursor[@]}" >/dev/null
    found=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).structuredContent.findings.length' "$answer")
    count=$((count + found)) page=$((page + 1)) next=$(field next_cursor)
    [ -n "$next" ] || break
    grep -qF "To read on: review_get" "$answer" || fail "page $page does not say how to ask for the next"
    [ "$page" -lt 100 ] || fail "there is no last page"
    cursor=(--tool-arg "cursor=$next")
  done
  [ "$count" = 500 ] || fail "$page pages hold $count comments, not 500"
  echo "ok: 500 comments on $page pages"
}

# hashes reads a change of hashes, base64 and hex bytes, which have the most tokens for their size.
hashes() {
  node -e 'const crypto = require("crypto"), row = (n, form) => crypto.createHash("sha512").update(String(n)).digest(form), rows = (f) => Array.from({ length: 100 }, (_, i) => f(i)).join("\n") + "\n";
    const [sums, encoded, bytes] = process.argv.slice(1), write = require("fs").writeFileSync;
    write(sums, rows((i) => row(i, "hex"))); write(encoded, rows((i) => row(i, "base64")));
    write(bytes, rows((i) => [...row(i)].map((b) => "0x" + b.toString(16)).join(", ")))' "$repo/sums" "$repo/encoded" "$repo/bytes"
  git -C "$repo" add . && git -C "$repo" commit -qm hashes
  call review --tool-arg reviewer=human >/dev/null
  local cursor=() page=0 next
  while call review_diff --tool-arg id=latest "${cursor[@]}" >/dev/null && page=$((page + 1)) && next=$(field next_cursor) && [ -n "$next" ]; do
    [ "$page" -lt 100 ] || fail "there is no last page"
    cursor=(--tool-arg "cursor=$next")
  done
  echo "ok: hashes on $page pages"
}

# reading uses a read-only server: it has no tool that writes, and none can be called.
reading() {
  local before after tool
  before=$(git -C "$repo" for-each-ref refs/runr)
  readonly=--read-only
  want '"readOnlyHint": true' inspect tools/list --strict
  if inspect tools/list | grep -q '"readOnlyHint": false'; then fail "a tool that writes is listed"; fi
  for tool in review review_claim review_release review_answer review_reply review_resolve review_comment review_submit; do
    want 'not found' inspect tools/call --tool-name "$tool" --tool-arg id=latest
  done
  want 'remark 1: ' call review_get --tool-arg id=latest --tool-arg limit=1
  want 'comment(s)' call review_list
  after=$(git -C "$repo" for-each-ref refs/runr)
  [ "$before" = "$after" ] || fail "a client that may only read has written: $after"
  echo "ok: a client that may only read has written nothing"
}

if [ "${1:-}" = --walk ]; then
  program=$2 repo=$3 answer=$3.answer readonly=
  exec 3>&1
  walk
  reviewing
  hashes
  pages
  reading
  echo "PASS: $inspector"
  exit
fi

program=$(command -v "${1:-git-runr}") || fail "no program ${1:-git-runr}"
program=$(realpath "$program")
command -v npx >/dev/null || skip "npx is not installed"
npm_config_fetch_retries=0 timeout 60 npm view "$inspector" version >/dev/null 2>&1 || skip "the npm registry is not reachable"

packages=(-p "$inspector" -p "$tokenizer")
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || a == 22 && b >= 19 ? 0 : 1)'; then
  packages+=(-p "$node")
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm_config_cache=$(npm config get cache 2>/dev/null)
export npm_config_cache HOME=$dir/home GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$dir/home/.gitconfig
mkdir "$HOME" "$dir/repo"
git config --global user.name Ada
git config --global user.email ada@example.com
git -C "$dir/repo" init -q
echo one >"$dir/repo/a.txt"
git -C "$dir/repo" add .
git -C "$dir/repo" commit -q -m first
npx -y "${packages[@]}" -c "bash $(printf %q "$(realpath "$0")") --walk $(printf %q "$program") $(printf %q "$dir/repo")"
