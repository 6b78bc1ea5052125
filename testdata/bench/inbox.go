package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"strings"
)

// claim times what a chat does with a full inbox, in which everything is submitted.
func (b *bench) claim(n int) {
	dir := b.submitted(n)
	list := []string{b.bin, "inbox", "list"}
	get := []string{b.bin, "inbox", "get", reviewID(n / 2)}
	claim := []string{b.bin, "inbox", "claim", "", "--as", "chat"}
	next := 0
	warm := func() { b.must(dir, nil, list...) }
	other := func() {
		next++
		b.must(dir, nil, b.bin, "inbox", "claim", reviewID(next), "--as", "other")
	}
	b.compare(fmt.Sprintf("a chat and its inbox at %d submitted reviews", n), "list and get at most 10x git --version",
		command{name: "git --version", argv: []string{"git", "--version"}},
		command{name: "git-runr --version", argv: []string{b.bin, "--version"}},
		command{name: "git-runr inbox list", dir: dir, argv: list, before: warm},
		command{name: "git-runr inbox list, after a change", dir: dir, argv: list, before: other},
		command{name: "git-runr inbox get ID", dir: dir, argv: get, before: warm},
		command{name: "git-runr inbox claim ID", dir: dir, argv: claim, before: func() { warm(); next++; claim[3] = reviewID(next) }})
}

func reviewID(i int) string { return "20260102030405-" + suffix(i+1) }

// submitted is a repository with n submitted reviews, made out of a real one.
func (b *bench) submitted(n int) string {
	dir := b.repo("claim")
	b.answered(dir)
	b.multiply(dir, n, func(int) []string { return nil })
	out := b.must(dir, nil, b.bin, "inbox", "list", "--json", "--limit", "1", "--status", "submitted")
	if !strings.Contains(out, fmt.Sprintf(`"total":%d`, n+1)) {
		log.Fatalf("the inbox does not hold %d submitted reviews: %s", n+1, out)
	}
	return dir
}

// answered asks for a review and answers it.
func (b *bench) answered(dir string) {
	b.must(dir, nil, b.bin, "review", "--reviewer", "human", "--no-serve")
	b.must(dir, nil, b.bin, "inbox", "comment", "latest", "-m", "what the reviewer says")
	b.must(dir, nil, b.bin, "inbox", "submit", "latest", "--request-changes")
}

// events are the log of a repository, its ref and what its entries say.
func (b *bench) events(dir string) (ref string, messages []string) {
	ref = b.must(dir, nil, "git", "for-each-ref", "--format=%(refname)", "refs/runr/log")
	for _, id := range strings.Fields(b.must(dir, nil, "git", "rev-list", "--reverse", ref)) {
		messages = append(messages, b.must(dir, nil, "git", "log", "-1", "--format=%B", id))
	}
	return ref, messages
}

// trailer is what the last line of that name in a commit's message says.
func (b *bench) trailer(dir, commit, name string) string {
	return b.must(dir, nil, "git", "log", "-1", "--format=%(trailers:key="+name+",valueonly)", commit)
}

// writeCommit has git fast-import make a commit of a text.
func writeCommit(w io.Writer, ref, text string) {
	fmt.Fprintf(w, "commit %s\ncommitter Bench <bench@example.com> 1767323045 +0000\ndata %d\n%s\n", ref, len(text), text)
}

// multiply appends n reviews to the log, like the one that stands in it but for their
// ids and what swap gives: old, new, and so on.
func (b *bench) multiply(dir string, n int, swap func(i int) []string) {
	ref, messages := b.events(dir)
	tip, id := b.must(dir, nil, "git", "rev-parse", ref), b.trailer(dir, ref, "Runr-Review")
	var stream bytes.Buffer
	for i := range n {
		other := strings.NewReplacer(append(swap(i), id, reviewID(i))...)
		for k, message := range messages {
			text := strings.Replace(other.Replace(message), fmt.Sprintf(`"clock":%d,`, k+1), fmt.Sprintf(`"clock":%d,`, len(messages)*(i+1)+k+1), 1)
			writeCommit(&stream, ref, text)
			if i+k == 0 {
				fmt.Fprintf(&stream, "from %s\n", tip)
			}
		}
	}
	b.must(dir, stream.Bytes(), "git", "fast-import", "--quiet", "--force")
}
