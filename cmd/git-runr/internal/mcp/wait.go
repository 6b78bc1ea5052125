package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/workspace"
)

// How long review_wait waits: by default less than clients allow for a call.
const (
	waitDefault = 50 * time.Second
	waitMost    = 10 * time.Minute
	waitTold    = 2 * time.Second // between two progress reports
)

// waited is the document of review_wait for a run. For a review it is the document of review_get.
type waited struct {
	Run        string   `json:"run_id"`
	Status     string   `json:"status"`
	Reason     string   `json:"stop_reason,omitempty"`
	Done       bool     `json:"done"` // it waits for nobody, not even a person
	WaitingFor []string `json:"waiting_for"`
}

// wait waits for a limited time until the agents have reviewed or a run has ended.
func (s *Server) wait(ctx context.Context, c call, in waitArgs) (outcome, error) {
	most := cmp.Or(time.Duration(in.Seconds)*time.Second, waitDefault)
	id := strings.TrimSpace(in.ID)
	review, err := c.Store.Review(ctx, id)
	if record.Unknown(err) {
		if run, runErr := c.Store.RunByID(ctx, id); !record.Unknown(runErr) {
			return c.waitForRun(ctx, run, runErr, most)
		}
	}
	if err == nil {
		review, err = await(ctx, c, review, most, func(ctx context.Context) (record.Review, error) {
			return c.Store.Review(ctx, review.ID)
		}, agents)
	}
	if err != nil {
		return outcome{}, err
	}
	doc, text, err := s.page(ctx, c, review, getArgs{which: which{review.ID}})
	if err != nil {
		return outcome{}, err
	}
	doc.Done = jsonschema.Ptr(len(doc.WaitingFor) == 0)
	return outcome{text: doc.waited(agents(review) != "", most) + "\n\n" + text, doc: doc}, nil
}

// agents returns the agents that a review waits for; people are not included.
func agents(r record.Review) string {
	var names []string
	for _, name := range r.Pending() {
		if name != record.Human && r.ClosedAt.IsZero() {
			names = append(names, name)
		}
	}
	return line(strings.Join(names, ", "), 500)
}

// waited describes the result of waiting for a review.
func (d gotten) waited(goesOn bool, most time.Duration) string {
	waiting := strings.Join(d.WaitingFor, ", ")
	switch {
	case goesOn:
		return fmt.Sprintf(
			"Review %s is not done after %v: it waits for %s. Go on with something else, or wait again with review_wait.", d.ID,
			most, waiting)
	case waiting != "":
		return fmt.Sprintf(
			"Review %s is %s and waits for %s. This tool does not wait for people: go on, and use review_get later.", d.ID,
			d.Status, waiting)
	}
	said := cmp.Or(string(d.Verdict), string(d.Outcome), "no verdict")
	if d.Verdict == reply.Checked {
		said = record.Says(record.Builtin, string(d.Verdict), d.Open)
	}
	return fmt.Sprintf("Review %s is %s: %s.", d.ID, d.Status, said)
}

// waitForRun waits while a process in this clone executes a run. err is the error of reading the run.
func (c call) waitForRun(ctx context.Context, run record.Run, err error, most time.Duration) (outcome, error) {
	atWork := func(r record.Run) string {
		if r.Status != record.RunRunning || !workspace.Live(c.Store, r.ID) {
			return ""
		}
		return fmt.Sprintf("run %s: %s, %s", r.ID, prose.Count(len(r.Attempts), "attempt"),
			prose.Count(len(r.Rounds), "review"))
	}
	if err == nil {
		run, err = await(ctx, c, run, most, func(ctx context.Context) (record.Run, error) {
			return c.Store.RunByID(ctx, run.ID)
		}, atWork)
	}
	if err != nil {
		return outcome{}, err
	}
	doc := waited{Run: run.ID, Status: string(run.Status), WaitingFor: []string{}}
	text := fmt.Sprintf("Run %s is %s.", run.ID, run.Status)
	switch {
	case atWork(run) != "":
		doc.WaitingFor = lines([]string{run.Plan.Implementer, run.Plan.Reviewer})
		text = fmt.Sprintf(
			"Run %s is not done after %v: it goes on. Go on with something else, or wait again with review_wait.", run.ID, most)
	case run.Status == record.RunRunning:
		doc.WaitingFor = []string{record.Human}
		text = fmt.Sprintf(
			"Run %[1]s did not end, and nothing works on it in this clone: the user can type git runr resume %[1]s", run.ID)
	case run.Stop != nil:
		doc.Reason = run.Stop.Reason
		text = fmt.Sprintf("Run %s is %s (%s): diagnose says why and what to do.", run.ID, run.Status, doc.Reason)
		if run.Status == record.RunReviewing {
			doc.WaitingFor = []string{record.Human}
		}
	}
	doc.Done = len(doc.WaitingFor) == 0
	return outcome{text: text, doc: doc}, nil
}

// await calls read repeatedly, for a limited time, until the result no longer waits for anything. got is the first
// result. It reports progress with what it waits for.
func await[T any](ctx context.Context, c call, got T, most time.Duration, read func(context.Context) (T, error),
	waits func(T) string) (T, error) {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	began, told := time.Now(), -waitTold
	_, err := steps.Await(limited, read, func(now T) bool {
		got = now
		what := waits(now)
		if past := time.Since(began); past-told >= waitTold && what != "" {
			told = past
			c.tell("waiting for "+what, past, most)
		}
		return what == ""
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return got, err
}
