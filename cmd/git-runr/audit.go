package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/diagnose"
	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// auditLimit is how many commits are audited unless a range or --limit says otherwise.
const auditLimit = 50

func (p *program) auditCommand() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "which commits are accounted for, and by what", ArgsUsage: "[A..B|REV]",
		Description: "Without a range: the newest 50 commits of what is checked out. Each commit is a checkpoint (a run made\n" +
			"it), an intervention (a person made it for a run), attributed (it names its run, or was reviewed),\n" +
			"inferred (it looks like a run's work) or a gap. Exit status: 1 when coverage is below what is asked for.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "the commits of `RUN`: its own, and those that people made for it"},
			&cli.Float64Flag{Name: "fail-under", DefaultText: "none", Usage: "end with 1 when less than `N` percent are accounted for"},
			&cli.Float64Flag{Name: "fail-under-with-inferred", DefaultText: "none", Usage: "the same for `N` percent, with those inferred"},
			&cli.IntFlag{Name: "limit", Value: auditLimit, Usage: "the newest `N`; 0 for all"},
		},
		Action: p.action(audit),
	}
}

// audited is what to look at: the commits, newest first, and what they exclude.
type audited struct {
	name, run string
	from      gitstore.ID
	commits   []gitstore.LoggedCommit
}

func audit(s *session) error {
	if err := s.auditFlags(); err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	span, err := s.auditSpan(store)
	if err != nil {
		return err
	}
	events, bad, err := store.Events(s.ctx)
	if err != nil {
		return err
	}
	for _, why := range bad {
		s.say("unreadable: %v", why)
	}
	histories, reviews := diagnose.Histories(events, nil)
	runs := make([]record.Run, len(histories))
	for i, h := range histories {
		runs[i] = h.Run
	}
	doc := diagnose.NewAudit(span.commits, span.from, runs, reviews)
	doc.Range, doc.Run = span.name, span.run
	below := s.belowThreshold(doc.Counts)
	doc.Failed = below != ""
	if err := s.print(doc, func(w io.Writer) { safetext.Fprintf(w, "%s", safetext.Block(doc.Text())) }); err != nil || !doc.Failed {
		return err
	}
	if !s.json {
		s.say("%s", below)
	}
	return exit.With(exit.NotPassed)
}

func (s *session) auditFlags() error {
	if s.NArg() > 0 && s.String("run") != "" {
		return exit.Problemf(exit.Usage, "an audit is of one thing: a range or --run RUN")
	}
	if s.Int("limit") < 0 {
		return exit.Problemf(exit.Usage, "--limit is not negative; 0 is all")
	}
	for _, name := range []string{"fail-under", "fail-under-with-inferred"} {
		if n := s.Float64(name); !(n >= 0 && n <= 100) { // not a number is neither
			return exit.Problemf(exit.Usage, "--%s is a percentage from 0 to 100", name)
		}
	}
	return nil
}

// belowThreshold says which threshold was missed; "" for none.
func (s *session) belowThreshold(counts diagnose.AuditCounts) string {
	for _, t := range []struct {
		flag     string
		inferred bool
	}{{"fail-under", false}, {"fail-under-with-inferred", true}} {
		if s.IsSet(t.flag) && counts.Below(s.Float64(t.flag), t.inferred) {
			return fmt.Sprintf("coverage is below --%s %g", t.flag, s.Float64(t.flag))
		}
	}
	return ""
}

// auditSpan reads what is to be audited.
func (s *session) auditSpan(store *record.Store) (audited, error) {
	if id := s.String("run"); id != "" {
		return s.auditRun(store, id)
	}
	rev, err := s.arg("HEAD")
	if err != nil {
		return audited{}, err
	}
	span, limit := audited{name: rev}, s.Int("limit")
	var to gitstore.ID
	if strings.Contains(rev, "..") {
		if !s.IsSet("limit") {
			limit = 0
		}
		span.from, to, err = store.Repo.Range(s.ctx, rev)
	} else {
		to, err = store.Repo.Resolve(s.ctx, rev)
	}
	if err != nil {
		return span, err
	}
	if span.commits, err = store.Repo.LogMessages(s.ctx, span.from, to, limit); err != nil || span.from == "" {
		return span, err
	}
	span.from, err = store.Repo.MergeBase(s.ctx, span.from, to) // where reviews of this range begin
	if errors.Is(err, gitstore.ErrNotFound) {
		span.from, err = "", nil
	}
	return span, err
}

// auditRun is a run's commits and those that people made for it.
func (s *session) auditRun(store *record.Store, id string) (audited, error) {
	run, err := store.Run(s.ctx, id)
	if err != nil {
		return audited{}, err
	}
	span := audited{name: "run " + run.ID, run: run.ID, from: run.Plan.Base}
	if run.Head() == "" {
		return span, nil // its start has not arrived here
	}
	limit := s.Int("limit")
	if !s.IsSet("limit") {
		limit = 0
	}
	span.commits, err = store.Repo.LogMessages(s.ctx, run.Plan.Base, run.Head(), limit)
	git := new(gitstore.GitError)
	if errors.As(err, &git) || errors.Is(err, gitstore.ErrNotFound) {
		return span, exit.Problemf(exit.NotFound, "the commits of run %s are not in this clone, only its events", run.ID)
	}
	if err != nil {
		return span, err
	}
	theirs, err := store.Repo.LogOnly(s.ctx, elsewhere(run, span.commits))
	span.commits = append(span.commits, theirs...)
	slices.SortStableFunc(span.commits, func(a, b gitstore.LoggedCommit) int { return b.When.Compare(a.When) })
	if limit > 0 && len(span.commits) > limit {
		span.commits = span.commits[:limit]
	}
	return span, err
}

// elsewhere are the commits of a run's interventions that are not listed yet.
func elsewhere(run record.Run, listed []gitstore.LoggedCommit) []gitstore.ID {
	seen := map[gitstore.ID]bool{"": true}
	for _, c := range listed {
		seen[c.ID] = true
	}
	var ids []gitstore.ID
	for _, iv := range run.Interventions {
		for _, id := range append([]gitstore.ID{iv.Commit}, iv.Commits...) {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}
