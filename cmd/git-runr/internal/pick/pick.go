// Package pick selects reviews by the filter flags of lists and of --all.
package pick

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/when"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Wish is the selection of reviews, as typed. An empty field selects all.
type Wish struct {
	Reviewer  string // who was asked: an agent or a person
	ClaimedBy string // the claim's holder, with or without address and terminal
	Mine      *Self  // only reviews of this user
	Verdict   string
	Branch    string // the branch on which it was requested
	Since     string // requested since then, in the format of when.Parse
	Author    string // part of the commit author's name or address
	File      string // changed file: a path from the top, a directory, or a glob as in .gitignore
}

// Self is the user who types, under each name that reviews know.
type Self struct {
	Identity string // git's identity
	Person   string // name in comments and submissions
	Actor    string // name in claims
}

type test func(record.ReviewSummary) bool

// Test returns a function that reports whether a review is selected, or nil if all are. The error is an exit.Problem
// about what was typed.
func (w Wish) Test(ctx context.Context, store *store.Store) (func(record.ReviewSummary) bool, error) {
	var tests []test
	want := func(said bool, t test) {
		if said {
			tests = append(tests, t)
		}
	}
	verdict, err := w.ofVerdict()
	if err != nil {
		return nil, err
	}
	since := time.Time{} // from the beginning
	if w.Since != "" {
		if since, err = Moment(w.Since, store.Now()); err != nil {
			return nil, err
		}
	}
	branch, author := strings.TrimPrefix(w.Branch, "refs/heads/"), strings.ToLower(w.Author)
	want(w.Reviewer != "", func(r record.ReviewSummary) bool {
		return r.Reviewer == w.Reviewer || slices.Contains(r.Others, w.Reviewer) ||
			slices.ContainsFunc(r.People, func(p string) bool {
				who := gitstore.ParseIdentity(p)
				return slices.ContainsFunc([]string{p, who.Name, who.Email}, func(name string) bool {
					return strings.EqualFold(name, w.Reviewer)
				})
			})
	})
	want(w.ClaimedBy != "", func(r record.ReviewSummary) bool {
		return r.ClaimedBy == w.ClaimedBy || strings.HasPrefix(r.ClaimedBy, w.ClaimedBy+" ") || // an address or terminal
			record.SameActor(r.ClaimedBy, w.ClaimedBy)
	})
	want(w.Mine != nil, func(r record.ReviewSummary) bool {
		if len(r.BackTo) > 0 {
			return r.IsBackTo(w.Mine.Person)
		}
		asked := func(p string) bool { return record.SameActor(p, w.Mine.Person) }
		return slices.ContainsFunc(r.StillAsked, asked) || record.SameActor(r.RequestedBy, w.Mine.Identity) ||
			record.SameActor(r.ClaimedBy, w.Mine.Actor) || record.SameActor(r.ClaimedBy, w.Mine.Person)
	})
	want(verdict != nil, verdict)
	want(branch != "", func(r record.ReviewSummary) bool { return r.Branch == branch })
	want(author != "", func(r record.ReviewSummary) bool { return strings.Contains(strings.ToLower(r.Author), author) })
	want(!since.IsZero(), func(r record.ReviewSummary) bool { return !r.CreatedAt.Before(since) })
	if w.File != "" && w.File != "." { // last, because it reads changes: the list has only a few files per review
		globs := gitstore.CompileGlobs([]string{"/" + w.File})
		want(true, func(r record.ReviewSummary) bool {
			return slices.ContainsFunc(changedFiles(ctx, store, r), globs.Match)
		})
	}
	if len(tests) == 0 {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool {
		return !slices.ContainsFunc(tests, func(t test) bool { return !t(r) })
	}, nil
}

func (w Wish) ofVerdict() (test, error) {
	if w.Verdict == "" {
		return nil, nil
	}
	name := strings.ToLower(strings.ReplaceAll(w.Verdict, "-", "_"))
	if !slices.Contains(render.VerdictNames, name) {
		return nil, exit.Problemf(exit.Usage, "unknown --verdict %q: use %s", w.Verdict,
			strings.Join(render.VerdictNames, ", "))
	}
	if name == "critical" { // critical findings count whatever the verdict is
		return func(r record.ReviewSummary) bool { return r.Verdict == reply.CriticalFail || r.Critical > 0 }, nil
	}
	return func(r record.ReviewSummary) bool { return render.VerdictName(r) == name }, nil
}

// Moment parses a point in time as when.Parse does. An error is an exit.Problem.
func Moment(text string, now time.Time) (time.Time, error) {
	at, ok := when.Parse(text, now)
	if !ok {
		return at, exit.Problemf(exit.Usage, "cannot read %q as a time: use 7d, 12h, 2026-01-31 or 2026-01-31T12:00:00Z",
			text)
	}
	return at, nil
}

// changedFiles returns the files that the review's change modifies. If the change is not in this clone it returns
// those in the list.
func changedFiles(ctx context.Context, store *store.Store, r record.ReviewSummary) []string {
	if r.Commit == "" || r.Base == "" {
		return r.Files
	}
	changes, err := store.Repo.Changed(ctx, r.Base, r.Commit)
	if err != nil {
		return r.Files
	}
	return each.Of(changes, func(c gitstore.Change) string { return c.Path })
}
