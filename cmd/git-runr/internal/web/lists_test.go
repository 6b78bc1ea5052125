package web

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/overview"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// listCost counts what is read to show a list.
type listCost struct {
	parts     int // parts of index rows, mostly summaries
	events    int // decoded events
	processes int // git processes
	heads     int // rows that are counted or skipped; these, and bytes, grow with the history
	bytes     int // bytes of the index
}

// over reports whether any count of c exceeds most.
func (c listCost) over(most listCost) bool {
	return c.parts > most.parts || c.events > most.events || c.processes > most.processes || c.heads > most.heads ||
		c.bytes > most.bytes
}

// The sizes of histories, in reviews and in runs.
const fewReviews, manyReviews = 100, 400

// listCosts is the most that each list may cost with many reviews. Whoever makes a list read more raises its figure
// here and gives the reason in the commit.
var listCosts = map[string]listCost{ // parts, events, processes, heads, bytes
	"/review":                   {50, 0, 0, 500, 400e3},
	"/review?status=all":        {50, 0, 0, 500, 400e3},
	"/review?status=all&page=2": {50, 0, 0, 500, 400e3},
	"/runs":                     {50, 0, 0, 500, 400e3},
	"status":                    {250, 0, 1, 1610, 850e3},
	"audit":                     {200, 0, 1, 400, 560e3},
	"review":                    {2, 0, 0, 1, 60e3}, // and two parts for each open review of the very commit
}

// TestListsStayFlat: a list reads as many summaries, events and processes with few reviews as with many.
func TestListsStayFlat(t *testing.T) {
	for name, h := range map[string]history{
		"open, of one commit": {}, "open, of a commit each": {commits: true}, "answered, of one commit": {answered: true},
		"refused, of a commit each": {commits: true, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			few, many := h.costs(t, fewReviews), h.costs(t, manyReviews)
			for what, most := range listCosts {
				if what == "review" && !h.commits {
					continue
				}
				a, b := few[what], many[what]
				if a.parts != b.parts || a.events != b.events || a.processes != b.processes {
					t.Errorf("%s grows: it costs %+v of %d reviews, %+v of %d", what, a, fewReviews, b, manyReviews)
				}
				if b.over(most) {
					t.Errorf("%s costs %+v, and may cost %+v", what, b, most)
				}
			}
		})
	}
}

// history is a number of reviews, and as many runs with similar ids.
type history struct {
	commits  bool // each review is of a different commit
	answered bool // each review is answered and did not pass
	refused  bool // a person asked for changes in each review, and another one resolved it
}

// costs returns the cost of each list in a history of n reviews.
func (h history) costs(t *testing.T, n int) map[string]listCost {
	s := newSite(t)
	h.write(t, s.dir, n)
	trace := filepath.Join(t.TempDir(), "trace")
	lists := map[string]func(*site){"status": (*site).status, "audit": (*site).audit, "review": (*site).continues}
	for what := range listCosts {
		if strings.HasPrefix(what, "/") {
			lists[what] = func(s *site) { s.ask("GET", what, "", s.asPerson()).want(200) }
		}
	}
	s.status() // updates the index
	costs := map[string]listCost{}
	for what, show := range lists {
		fresh, read := openSite(t, s.dir), &store.Reads{} // a process reads the index once
		fresh.Store.Reads = read
		testrepo.WriteFile(t, filepath.Dir(trace), "trace", "")
		t.Setenv("GIT_TRACE2_EVENT", trace)
		show(fresh)
		os.Unsetenv("GIT_TRACE2_EVENT")
		if read.Rows.Load() == 0 && what != "/runs" {
			t.Errorf("%s: nothing is counted", what)
		}
		started := strings.Count(testrepo.ReadFile(t, filepath.Dir(trace), "trace"), `"event":"start"`)
		costs[what] = listCost{int(read.Parts.Load()), int(read.Events.Load()), started, int(read.Rows.Load()),
			int(read.Bytes.Load())}
	}
	return costs
}

func (s *site) status() {
	var secrets *builtin.Secrets
	given := overview.Given{Say: s.Errorf, Secret: secrets.OfMessage}
	if _, err := overview.Of(s.Context(), s.Store, given); err != nil {
		s.Fatal(err)
	}
}

// continues looks for the review that a request of the newest commit continues.
func (s *site) continues() {
	head, err := s.repo.Head(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	commit, err := s.repo.ReadCommit(s.Context(), head)
	if err != nil {
		s.Fatal(err)
	}
	subject := record.Subject{Kind: record.SubjectCommit, Base: commit.Parent(), Commit: head, Tree: head, Branch: "main"}
	request := record.ReviewRequest{Subject: subject, Reviewer: record.Human}
	if _, _, _, err := lineage.Continued(s.Context(), s.Store, request, false, false); err != nil {
		s.Fatal(err)
	}
}

// audit reads what the command reads about the newest commits.
func (s *site) audit() {
	head, err := s.repo.Head(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	commits, err := s.repo.LogMessages(s.Context(), "", head, 50)
	if err != nil {
		s.Fatal(err)
	}
	if _, _, err := diagnose.RunsFor(s.Context(), s.Store, commits, nil); err != nil {
		s.Fatal(err)
	}
	if _, err := lineage.Coverage(s.Context(), s.Store, commits); err != nil {
		s.Fatal(err)
	}
}

// write writes the history in one step.
func (h history) write(t *testing.T, dir string, n int) {
	t.Helper()
	const writer = "aaaaaaaaaaaa"
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata <<.\nchange %d\n.\n",
			1700000000+i, i)
		if i == 0 {
			stream.WriteString("from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline a.txt\ndata <<.\n%d\n.\n\n", i)
	}
	testrepo.GitInput(t, dir, stream.String(), "fast-import", "--quiet")
	commits := strings.Fields(testrepo.Git(t, dir, "rev-list", "--reverse", "main"))[1:]
	stream.Reset()
	clock, at := uint64(0), time.Now().UTC().Add(-24*time.Hour).Truncate(time.Second)
	add := func(e record.Event, payload any) {
		clock++
		e.V, e.Clock, e.Writer, e.Source, e.Title, e.Timestamp = record.FormatVersion, clock, writer, "cli", e.Type, at
		e.Payload, _ = json.Marshal(payload)
		text, err := e.CommitText("")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&stream, "commit refs/runr/log/%s\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n", writer,
			at.Unix(), len(text), text)
	}
	for i := range n {
		at = at.Add(time.Second)
		base, commit := commits[n-1], commits[n]
		if h.commits {
			base, commit = commits[i], commits[i+1]
		}
		const letters = "abcdefghijkmnpqrstuvwxyz23456789"
		suffix := "-aaaa" + string(letters[i/len(letters)]) + string(letters[i%len(letters)])
		review, run := at.Format(record.IDTime)+suffix, at.Add(365*24*time.Hour).Format(record.IDTime)+suffix
		subject := record.Subject{Kind: record.SubjectCommit, Spec: "HEAD", Base: gitstore.ID(base),
			Commit: gitstore.ID(commit), Tree: gitstore.ID(commit), Title: "change", Branch: "main"}
		add(record.Event{Type: record.EventReviewRequested.Name, Review: review},
			record.ReviewRequest{Subject: subject, Reviewer: record.Human})
		if h.answered {
			report := reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix,
				Findings: []reply.Finding{{ID: "f-1", Severity: reply.Warning, File: "a.txt", Issue: "why?"}}}
			add(record.Event{Type: record.EventReviewSubmitted.Name, Review: review},
				record.Submission{Reviewer: record.Human, Outcome: record.OutcomeFailed, Commit: subject.Commit, Tree: subject.Tree,
					Report: report})
		}
		if h.refused {
			add(record.Event{Type: record.EventReviewSubmitted.Name, Review: review},
				record.Submission{Reviewer: "A <a@example.com>", Decision: record.RequestChanges, Outcome: record.OutcomeFailed,
					Commit: subject.Commit, Tree: subject.Tree, Comments: []record.Comment{{ID: "c-1", Comment: "no"}}})
			add(record.Event{Type: record.EventReviewResolved.Name, Review: review},
				record.ActorPayload{Actor: "B <b@example.com>", Force: true})
		}
		add(record.Event{Type: record.EventRunStarted.Name, Run: run},
			runplan.Plan{Entity: runplan.Entity{Type: "task", Identifier: "T", Title: "Add a thing"},
				Base: gitstore.ID(commits[0]), Branch: "runr/" + run})
	}
	testrepo.GitInput(t, dir, stream.String(), "fast-import", "--quiet")
	testrepo.Git(t, dir, "config", "runr.writer", writer)
}
