package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// filterFlags choose among reviews, for a list and for --all.
func filterFlags() []cli.Flag {
	return append([]cli.Flag{&cli.StringFlag{Name: "reviewer", Usage: "only what `NAME` was asked for"}}, changeFlags()...)
}

// changeFlags are filterFlags without that of the reviewer.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "claimed-by", Usage: "only what `ACTOR` holds"},
		&cli.BoolFlag{Name: "mine", Usage: "only what you asked for or hold"},
		&cli.StringFlag{Name: "verdict", Usage: "only those with this `VERDICT`: critical, needs_fix, pass_with_notes, pass, partial, commented, nothing, or none while nobody gave one"},
		&cli.StringFlag{Name: "branch", Usage: "only what was asked for on `BRANCH`"},
		&cli.StringFlag{Name: "since", Usage: "only what was asked for since `TIME`: a duration such as 2d or 3h, or a date such as 2026-01-31 or 2026-01-31T15:04Z"},
		&cli.StringFlag{Name: "author", Usage: "only commits of an author whose name or address has `TEXT` in it"},
		&cli.StringFlag{Name: "file", Usage: "only changes of files that `PATH`, a directory or a glob as in .gitignore, names"},
	}
}

// reviewTest says whether a list wants a review.
type reviewTest func(record.ReviewSummary) bool

// changeTest is what the flags of changeFlags say; nil when they say nothing.
func (s *session) changeTest(store *record.Store) (reviewTest, error) {
	var wanted []reviewTest
	for _, of := range []func(*record.Store) (reviewTest, error){s.ofHolder, s.ofMine, s.ofVerdict, s.ofSubject, s.ofTime, s.ofFile} {
		test, err := of(store)
		if err != nil {
			return nil, err
		}
		if test != nil {
			wanted = append(wanted, test)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool {
		return !slices.ContainsFunc(wanted, func(test reviewTest) bool { return !test(r) })
	}, nil
}

// reviewerTest is changeTest with the flag of the reviewer.
func (s *session) reviewerTest(store *record.Store) (reviewTest, error) {
	test, err := s.changeTest(store)
	reviewer := s.String("reviewer")
	if reviewer == "" {
		return test, err
	}
	return func(r record.ReviewSummary) bool {
		asked := r.Reviewer == reviewer || slices.Contains(r.Others, reviewer)
		return asked && (test == nil || test(r))
	}, err
}

func (s *session) ofHolder(*record.Store) (reviewTest, error) {
	holder := s.String("claimed-by")
	if holder == "" {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool { return isActor(r.ClaimedBy, holder) }, nil
}

func (s *session) ofMine(store *record.Store) (reviewTest, error) {
	if !s.Bool("mine") {
		return nil, nil
	}
	me, err := store.Repo.Identity(s.ctx)
	person, personErr := s.person(store)
	actor, actorErr := s.actor(store)
	if err := errors.Join(err, personErr, actorErr); err != nil {
		return nil, err
	}
	return func(r record.ReviewSummary) bool {
		return r.RequestedBy == me.String() || r.ClaimedBy == actor || isActor(r.ClaimedBy, person)
	}, nil
}

// isActor reports whether actor is name, or name with more behind it: an address, or
// the terminal in which it acts.
func isActor(actor, name string) bool {
	return actor == name || strings.HasPrefix(actor, name+" ")
}

func (s *session) ofVerdict(*record.Store) (reviewTest, error) {
	typed := s.String("verdict")
	if typed == "" {
		return nil, nil
	}
	name := strings.ToLower(strings.ReplaceAll(typed, "-", "_"))
	if !slices.Contains(render.VerdictNames, name) {
		return nil, exit.Problemf(exit.Usage, "--verdict %q is none of %s", typed, strings.Join(render.VerdictNames, ", "))
	}
	if name == "critical" { // a pass that somebody takes back has findings, too
		return func(r record.ReviewSummary) bool { return r.Verdict == reply.CriticalFail || r.Critical > 0 }, nil
	}
	return func(r record.ReviewSummary) bool { return render.VerdictName(r) == name }, nil
}

func (s *session) ofSubject(*record.Store) (reviewTest, error) {
	branch, author := strings.TrimPrefix(s.String("branch"), "refs/heads/"), strings.ToLower(s.String("author"))
	if branch == "" && author == "" {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool {
		return (branch == "" || r.Branch == branch) && strings.Contains(strings.ToLower(r.Author), author)
	}, nil
}

func (s *session) ofTime(*record.Store) (reviewTest, error) {
	typed := s.String("since")
	if typed == "" {
		return nil, nil
	}
	since, ok := parseSince(typed, s.now())
	if !ok {
		return nil, exit.Problemf(exit.Usage, "--since %q is neither a duration such as 2d or 3h nor a date such as 2026-01-31", typed)
	}
	return func(r record.ReviewSummary) bool { return !r.CreatedAt.Before(since) }, nil
}

// parseSince reads a duration before now, or a date; a date without a zone is local.
func parseSince(text string, now time.Time) (since time.Time, ok bool) {
	var ago record.Duration
	if ago.UnmarshalText([]byte(text)) == nil {
		return now.Add(-time.Duration(ago)), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, true
		}
	}
	return since, false
}

// ofFile looks into the changes themselves, after everything else: a line of the list
// names few files. A change that is not here is gone by those.
func (s *session) ofFile(store *record.Store) (reviewTest, error) {
	typed := s.String("file")
	if typed == "" {
		return nil, nil
	}
	paths, err := pathsInside(store, []string{typed})
	if err != nil {
		return nil, err
	}
	wanted := gitstore.CompileGlobs([]string{"/" + paths[0]})
	if paths[0] == "." {
		return nil, nil
	}
	return func(r record.ReviewSummary) bool {
		return slices.ContainsFunc(changedFiles(s, store, r), wanted.Match)
	}, nil
}

func changedFiles(s *session, store *record.Store, r record.ReviewSummary) []string {
	if r.Commit == "" || r.Base == "" {
		return r.Files
	}
	changes, err := store.Repo.Changed(s.ctx, r.Base, r.Commit)
	if err != nil {
		return r.Files
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths
}

// inboxFilter is what a list's flags say; status is that of the list unless --status says
// another.
func (s *session) inboxFilter(store *record.Store, status string) (record.Filter, error) {
	filter := record.Filter{ByNeed: true}
	var err error
	if filter.Status, err = record.StatusFilter(status); err != nil {
		return filter, exit.Problemf(exit.Usage, "%w", err)
	}
	if !s.Bool("archived") {
		if filter.ClosedSince, err = loop.ClosedSince(store); err != nil {
			return filter, err
		}
	}
	filter.Review, err = s.reviewerTest(store)
	return filter, err
}
