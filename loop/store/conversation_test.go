package store

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// sh runs a script of git commands in the store's working tree and returns its output.
func sh(t *testing.T, s *Store, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = s.Repo.WorkTree
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%s: %v", script, out, err)
	}
	return strings.TrimSpace(string(out))
}

// TestSince makes two rounds of a change with the git commands that authors use. The difference contains the author's
// changes, and nothing that came only from the base.
func TestSince(t *testing.T) {
	const (
		rebase  = "git rebase -q main\n"
		nine    = "sed -i s/line.9/base/ f; git commit -qam base\n"
		two     = "sed -i s/first/second/ f; git commit -q --amend -am amended\n"
		resolve = "git rebase -q main >/dev/null 2>&1 || { git checkout -q --theirs .; git add -A; GIT_EDITOR=true git " +
			"rebase --continue >/dev/null; }\n"
	)
	for _, c := range []struct {
		name, base, newer string
		want, clashes     []string
	}{
		{name: "nothing"},
		{name: "rebased", base: nine, newer: rebase},
		{name: "rebased and amended", base: nine, newer: rebase + two, want: []string{"f -first", "f +second"}},
		{name: "amended and rebased", base: nine, newer: two + rebase, want: []string{"f -first", "f +second"}},
		{name: "amended", newer: two, want: []string{"f -first", "f +second"}},
		{name: "only the message", newer: "git commit -q --amend -m other"},
		{name: "a commit on top", base: nine, newer: rebase + "echo more >>f; git commit -qam more",
			want: []string{"f +more"}},
		{name: "squashed with a fix", base: nine,
			newer: "echo more >>f; git commit -qam more; git reset -q --soft HEAD~2; git commit -qm one\n" + rebase,
			want:  []string{"f +more"}},
		{name: "split", base: nine, newer: rebase +
			"git reset -q HEAD^; git add f; git commit -qm f; git add g; git commit -qm g"},
		{name: "split, and a part dropped", base: nine,
			newer: rebase + "git reset -q HEAD^; git add f; git commit -qm f; rm g", want: []string{"g -new"}},
		{name: "the order of commits", base: nine, newer: "echo h >h; git add h; git commit -qm h\n" + rebase,
			want: []string{"h +h"}},
		{name: "a file renamed", base: nine, newer: rebase + "git mv g moved; git commit -qm mv --amend",
			want: []string{"g to moved"}},
		{name: "a file that the base touched is renamed", base: "sed -i s/u1/base/ u; git commit -qam base",
			newer: rebase + "git mv u moved; git commit -qm mv",
			want:  []string{"u to moved"}},
		{name: "a file deleted", base: nine, newer: rebase + "git rm -q g; git commit -q --amend -m rm",
			want: []string{"g -new"}},
		{name: "the base deletes another file", base: "git rm -q u; git commit -qm rm", newer: rebase},
		{name: "the base renames the changed file", base: "git mv f moved; git commit -qm mv", newer: rebase},
		{name: "a binary file", base: nine, newer: rebase + "printf '\\0other' >bin; git commit -q --amend -am bin",
			want: []string{"bin differs"}},
		{name: "a binary file of the base", base: "printf '\\0base' >bin; git commit -qam bin", newer: rebase},
		{name: "a mode", base: nine, newer: rebase + "git update-index --chmod=+x f; git commit -q --amend -m x"},
		{name: "a conflict, solved as it was", base: "sed -i s/line.2/base/ f; git commit -qam base", newer: resolve,
			clashes: []string{"f"}},
		{name: "a conflict, solved by both", base: "sed -i s/line.2/base/ f; git commit -qam base",
			newer: resolve + "sed -i 's/first/first and base/' f; git commit -q --amend -am both",
			want:  []string{"f -first", "f +first and base"}, clashes: []string{"f"}},
		{name: "the base has taken a part over", base: "sed -i s/line.2/first/ f; git commit -qam same", newer: rebase},
		{name: "merged with the base", base: nine, newer: "git merge -q -m merge main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ctx := newTestStore(t), context.Background()
			sh(t, s, "git config user.name Ann; git config user.email ann@example.org; git checkout -q -b main 2>/dev/null || "+
				"true\n"+
				"printf 'line %s\\n' 1 2 3 4 5 6 7 8 9 10 >f; printf 'u1\\nu2\\n' >u; printf '\\0x' >bin; git add -A; git commit "+
				"-qm root\n"+
				"git checkout -q -b topic; sed -i s/line.2/first/ f; echo new >g; git add -A; git commit -qm change")
			round := func() record.Subject {
				subject, err := s.Subject(ctx, "main..topic")
				if err != nil {
					t.Fatal(err)
				}
				return subject
			}
			first := round()
			sh(t, s, "git checkout -q main\n"+c.base+"\ngit checkout -q topic\n"+c.newer)
			second := round()
			since, err := s.Since(ctx, first, second)
			if err != nil {
				t.Fatal(err)
			}
			patch, _, err := s.Repo.Diff(ctx, gitstore.DiffSpec{From: since.From, To: since.To})
			if err != nil {
				t.Fatal(err)
			}
			if got := linesOf(string(patch)); !slices.Equal(got, c.want) || !slices.Equal(since.Clashes, c.clashes) {
				t.Errorf("got %q, clashes %q\nwant %q, clashes %q\n%s", got, since.Clashes, c.want, c.clashes, patch)
			}
		})
	}
}

// linesOf returns the added and removed lines of a patch with their files, and a line for each file that differs in
// another way; sorted by file.
func linesOf(patch string) (changed []string) {
	from, to := "", ""
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			from, to, _ = strings.Cut(strings.TrimPrefix(line, "diff --git a/"), " b/")
		case strings.HasPrefix(line, "Binary files"):
			changed = append(changed, to+" differs")
		case strings.HasPrefix(line, "rename from "):
			changed = append(changed, from+" to "+to)
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			changed = append(changed, to+" "+line)
		case strings.HasPrefix(line, "-"):
			changed = append(changed, from+" "+line)
		}
	}
	return changed
}

// TestConversation finds all rounds from any of them and continues from the newest round that was not cancelled. A
// circle of rounds ends the search.
func TestConversation(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	ask := func(follows string) record.Review {
		request := record.ReviewRequest{Subject: record.Subject{Kind: record.SubjectCommit}, Reviewer: record.Human,
			Follows: follows}
		made, err := s.RequestReview(ctx, request, "cli")
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := ask("20250101000000-zzzzzz") // that round does not exist here
	second := ask(first.ID)
	dropped := ask(second.ID)
	if _, err := s.CancelReview(ctx, dropped.ID, "ann", ""); err != nil {
		t.Fatal(err)
	}
	third, other := ask(second.ID), ask("")
	for _, from := range []record.Review{first, second, third} {
		rounds, err := s.Conversation(ctx, from)
		var ids []string
		for _, r := range rounds {
			ids = append(ids, r.ID)
		}
		if want := []string{first.ID, second.ID, third.ID}; err != nil || !slices.Equal(ids, want) {
			t.Errorf("from %s: %v, %v, want %v", from.ID, ids, err, want)
		}
	}
	if rounds, err := s.Conversation(ctx, other); err != nil || len(rounds) != 1 {
		t.Errorf("%d rounds, %v", len(rounds), err)
	}
	self := other
	self.Request.Follows = other.ID
	if rounds, err := s.Conversation(ctx, self); err != nil || len(rounds) != 1 {
		t.Errorf("of one that follows itself: %d rounds, %v", len(rounds), err)
	}
}
