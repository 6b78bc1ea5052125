package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

func TestReviewAnswersInTheFormOfTheSeed(t *testing.T) {
	p := newProject(t)
	p.page = "http://127.0.0.1:1/review/"
	c := p.chat()
	text := c.call("review", args{"reviewer": "human", "message": "mind the gap"})
	id := p.review(record.Latest).ID
	want := fmt.Sprintf("Review requested (deferred).\nreview_id: %s\nurl: http://127.0.0.1:1/review/%s\n"+
		"When the user submits, use review_list and review_get to retrieve comments.", id, id)
	if text != want {
		t.Errorf("got  %q\nwant %q", text, want)
	}
	r := p.review(id)
	if r.Status != record.ReviewOpen || r.Source != "mcp" || r.Request.Reviewer != record.Human ||
		r.Request.Message != "mind the gap" {
		t.Errorf("recorded %+v", r)
	}
	if p.workers.Load() != 0 {
		t.Error("a worker was started for a person's review")
	}
}

func TestReviewDocument(t *testing.T) {
	p := newProject(t)
	doc := p.chat().document("review", args{})
	id := p.review(record.Latest).ID
	for key, want := range map[string]any{
		"review_id": id, "url": "", "status": "open", "reviewer": "builtin", "hint": hint,
	} {
		if doc[key] != want {
			t.Errorf("%s is %v, want %v", key, doc[key], want)
		}
	}
	if len(doc) != 5 {
		t.Errorf("document %v", doc)
	}
	if p.workers.Load() != 1 {
		t.Error("no worker was started for an agent's review")
	}
}

func TestReviewWithoutPage(t *testing.T) {
	p := newProject(t)
	text := p.chat().call("review", args{"reviewer": "human"})
	wants(t, text, "url: none, no page is served; read it with: git runr show "+p.review(record.Latest).ID,
		"git runr serve --open")
}

func TestReviewWarnsWithoutWorker(t *testing.T) {
	p := newProject(t)
	s := p.server()
	open := s.Open
	s.Open = func(ctx context.Context) (*screens.Project, error) {
		project, err := open(ctx)
		project.StartWorker = func() error { return errors.New("no more processes") }
		return project, err
	}
	wants(t, connect(t, s).call("review", args{}), "warning: the background worker did not start", "git runr work")
}

// TestReviewSubject: the subject of a review depends on the state of the repository and on the arguments.
func TestReviewSubject(t *testing.T) {
	change := func(p *project) { p.write("a.txt", "two\n"); p.write("new/c.txt", "three\n") }
	second := func(p *project) { p.write("src/b.go", "package c\n"); p.commit("second") }
	for _, tt := range []struct {
		name  string
		setUp func(*project)
		args  args
		kind  record.SubjectKind
		spec  string
		paths string
	}{
		{"clean is HEAD", second, args{}, record.SubjectCommit, "HEAD", ""},
		{"dirty is the working tree", change, args{}, record.SubjectWorktree, "--worktree", ""},
		{"a changed file", change, args{"files": []string{"a.txt"}}, record.SubjectWorktree, "--worktree", "a.txt"},
		{"a directory", change, args{"files": []string{"new/"}}, record.SubjectWorktree, "--worktree", "new"},
		{"all", change, args{"files": []string{".", "a.txt"}}, record.SubjectWorktree, "--worktree", ""},
		{"a glob", change, args{"files": []string{"*/*.txt"}}, record.SubjectWorktree, "--worktree", "new/c.txt"},
		{"twice", change, args{"files": []string{"a.txt", "*.txt"}}, record.SubjectWorktree, "--worktree", "a.txt"},
		{"one of two", change, args{"files": []string{"a.txt", "gone.txt"}}, record.SubjectWorktree, "--worktree", "a.txt"},
		{"a file of the last commit", func(p *project) { second(p); change(p) }, args{"files": []string{"src/b.go"}},
			record.SubjectCommit, "HEAD", "src/b.go"},
		{"a file that nobody changed", func(p *project) { second(p); p.write("d.txt", ""); p.commit("third") },
			args{"files": []string{"src"}}, record.SubjectRange, "HEAD", "src"},
		{"a revision", func(p *project) { second(p); change(p) }, args{"revision": "HEAD~1"}, record.SubjectCommit, "HEAD~1",
			""},
		{"a range", second, args{"revision": "HEAD~1..HEAD", "files": []string{"src/*.go"}}, record.SubjectRange,
			"HEAD~1..HEAD", "src/b.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			tt.setUp(p)
			p.chat().call("review", tt.args)
			got := p.review(record.Latest).Request.Subject
			if got.Kind != tt.kind || got.Spec != tt.spec || strings.Join(got.Paths, " ") != tt.paths {
				t.Errorf("got %s %s %v", got.Kind, got.Spec, got.Paths)
			}
			store := p.store()
			change, err := reviewing.ReadChange(t.Context(), store, got, role.Limits{})
			if err != nil || len(change.Files) == 0 {
				t.Errorf("there is nothing in it: %v %v", change.Files, err)
			}
		})
	}
}

func TestReviewNamesWhatIsMissing(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "two\n")
	wants(t, p.chat().call("review", args{"files": []string{"a.txt", "gone.txt"}}),
		"\nwarning: nothing to review in: gone.txt")
}

func TestReviewFromBelowAndByAbsolutePath(t *testing.T) {
	p := newProject(t)
	p.write("src/b.go", "package changed\n")
	p.write("a.txt", "changed\n")
	p.from = filepath.Join(p.dir, "src")
	for _, file := range []string{"b.go", filepath.Join(p.dir, "src", "b.go"), "../src/b.go"} {
		p.chat().call("review", args{"files": []string{file}})
		if got := p.review(record.Latest).Request.Subject.Paths; !slices.Equal(got, []string{"src/b.go"}) {
			t.Errorf("%s is %v", file, got)
		}
	}
}

func TestReviewRefuses(t *testing.T) {
	p := newProject(t)
	c := p.chat()
	outside := filepath.Join(t.TempDir(), "x")
	for _, tt := range []struct {
		args args
		want string
	}{
		{args{"files": []string{"gone.txt"}}, "No files found matching the provided paths."},
		{args{"files": []string{"../a.txt", outside, "[", ""}, "revision": "HEAD"},
			"No files found matching the provided paths."},
		{args{"revision": "nonsense"}, "nonsense"},
		{args{"revision": "--output=x"}, "--output=x"},
		{args{"reviewer": "nobody"}, "no agent nobody is configured"},
	} {
		if text := c.refused("review", tt.args); !strings.Contains(text, tt.want) || strings.Contains(text, "\n") {
			t.Errorf("%v: %q, want %q", tt.args, text, tt.want)
		}
	}
	if _, total, _ := p.store().Reviews(t.Context(), store.Filter{}); total != 0 {
		t.Errorf("%d requests were recorded", total)
	}
}

func TestReviewWithoutACommit(t *testing.T) {
	p := newProject(t)
	p.dir = t.TempDir()
	p.from = p.dir
	p.git("init", "-q")
	wants(t, p.chat().refused("review", args{}), "no commit yet", "make a first commit")
}

func TestReviewInABareRepository(t *testing.T) {
	p := newProject(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	p.git("clone", "-q", "--bare", p.dir, bare)
	p.from = bare
	c := p.chat()
	c.call("review", args{"files": []string{"a.txt"}})
	got := p.review(record.Latest).Request.Subject
	if got.Spec != "HEAD" || !slices.Equal(got.Paths, []string{"a.txt"}) {
		t.Errorf("got %+v", got)
	}
	wants(t, c.call("review_inbox", args{"action": "list", "status": "waiting"}), "open")
}

func TestReviewInALinkedWorktree(t *testing.T) {
	p := newProject(t)
	linked := filepath.Join(t.TempDir(), "linked")
	p.git("worktree", "add", "-q", linked)
	main := p.chat()
	p.from = linked
	p.chat().call("review", args{"reviewer": "human"})
	wants(t, main.call("review_inbox", args{"action": "list", "status": "waiting"}), p.review(record.Latest).ID)
}
