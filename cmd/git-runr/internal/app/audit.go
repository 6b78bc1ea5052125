package app

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/store"
)

// auditLimit is the default maximum number of commits to audit. A range has no default limit.
const auditLimit = 50

func (p *program) auditCommand() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "list commits and the run or review that accounts for each", ArgsUsage: "[A..B|REV]",
		Description: `Without a range: the newest 50 commits of HEAD. Each commit is a checkpoint (made by a run), an
intervention (made by a person for a run), attributed (it names its run, or was reviewed), inferred (it looks like a
run's work), nothing (it changes nothing, as a clean merge; coverage leaves it out) or a gap. --require demands two
things of each commit: exactly its change was checked, reviewed or approved, here or on a commit that it was made from,
and no NEEDS_FIX or CRITICAL against it is unanswered. checked: rules looked at it; reviewed: an agent or a person
answered for all of it that was not left out as vendored, generated or excluded; approved: a person who is not one of
its authors approved it; approved=2: two people did.
Exit status: 1 if a requirement is not met.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "only the commits of `RUN`: its own, and those that people made for it"},
			&cli.Float64Flag{Name: "fail-under", DefaultText: "none",
				Usage: "exit with 1 if less than `N` percent are accounted for"},
			&cli.Float64Flag{Name: "fail-under-with-inferred", DefaultText: "none",
				Usage: "the same, with inferred ones included, for `N` percent"},
			&cli.StringFlag{Name: "require",
				Usage: "exit with 1 if a commit is not `checked`, reviewed or approved, or has an unanswered NEEDS_FIX or " +
					"CRITICAL"},
			deepenFlag(),
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: auditLimit, Usage: "only the newest `N`; 0 for all"},
		},
		Action: p.inRepo(audit),
	}
}

// audited is the list of commits to audit, newest first.
type audited struct {
	name, run string
	base      gitstore.ID // the commit that they are based on; "" if unknown
	commits   []gitstore.LoggedCommit
	shallow   bool // as in diagnose.Audit
}

func audit(s *session, store *store.Store) error {
	if err := s.auditFlags(); err != nil {
		return err
	}
	store.Repo.PutBackLogs(s.ctx)
	var span audited
	err := s.deepened(store, s.Args().First(), func() (err error) {
		span, err = s.auditSpan(store)
		return err
	})
	if err != nil {
		return err
	}
	bar, err := s.auditBar(store, span)
	if err != nil {
		return err
	}
	covered, err := intake.Covered(s.ctx, store, span.commits, bar, s.secrets.OfMessage)
	if err != nil {
		return err
	}
	runs, bad, err := diagnose.RunsFor(s.ctx, store, span.commits, covered)
	if err != nil {
		return err
	}
	for _, why := range bad {
		s.say("unreadable: %v", why)
	}
	foreign, err := diagnose.ForeignTo(s.ctx, store, runs, span.commits)
	if err != nil {
		return err
	}
	doc := diagnose.NewAudit(span.commits, runs, covered, foreign)
	doc.Range, doc.Run, doc.Shallow = span.name, span.run, span.shallow
	for i := range doc.Commits {
		doc.Commits[i].Subject = s.redact(doc.Commits[i].Subject)
	}
	if doc.Unsynced, err = s.unfetched(s.ctx, store); err != nil {
		return err
	}
	below := s.missed(doc, bar)
	doc.Failed = len(below) > 0
	if err := s.print(doc, func(w io.Writer) { screen.Document(w, doc.Text()) }); err != nil || !doc.Failed {
		return err
	}
	for _, line := range below {
		if !s.json {
			s.say("%s", line)
		}
	}
	if !s.json && !doc.Shallow && doc.Reviews.Unreviewed+doc.Reviews.Checked > 0 && len(store.Repo.CutOff()) > 0 {
		s.say("this clone is shallow, and what was reviewed together with commits that are not here is not known: " +
			"git fetch --unshallow")
	}
	return exit.With(exit.NotPassed)
}

// auditBar returns what --require demands. Without it, it returns whose approvals count by the configuration, as far as
// that can be read.
func (s *session) auditBar(store *store.Store, span audited) (bar lineage.Bar, err error) {
	require := s.String("require")
	conf, err := s.configuration(store)
	if require == "" {
		if err == nil && conf.ApprovesByRule() {
			return s.shownBar(store, conf, "", span.base, span.commits)
		}
		return bar, nil
	}
	if err != nil {
		return bar, err
	}
	s.followFirst(store, conf)
	return s.bar(store, conf, require, span.base, span.commits)
}

// shownBar is bar for what lets nothing pass: see config.Config.KnownBar.
func (s *session) shownBar(store *store.Store, conf *config.Config, level string, base gitstore.ID,
	commits []gitstore.LoggedCommit) (lineage.Bar, error) {
	base, err := lineage.BaseOf(s.ctx, store, commits, base)
	if err != nil {
		return lineage.Bar{}, err
	}
	bar, broken, err := conf.KnownBar(s.ctx, level, base)
	s.sayBroken(broken)
	return bar, err
}

func (s *session) auditFlags() error {
	if s.NArg() > 0 && s.String("run") != "" {
		return exit.Problemf(exit.Usage, "use either a range or --run RUN, not both")
	}
	if r := s.String("require"); s.IsSet("require") && !config.IsLevel(r) {
		return exit.Problemf(exit.Usage, "--require is checked, reviewed, approved or approved=N, not %q", r)
	}
	for _, name := range []string{"fail-under", "fail-under-with-inferred"} {
		if n := s.Float64(name); !(n >= 0 && n <= 100) { // false for NaN as well
			return exit.Problemf(exit.Usage, "--%s is a percentage from 0 to 100", name)
		}
	}
	return nil
}

// unmetShown is the maximum number of commits below --require that are named.
const unmetShown = 20

// missed returns a line for each threshold that is not reached and each commit that does not meet --require.
func (s *session) missed(doc diagnose.Audit, bar lineage.Bar) []string {
	var lines []string
	for i, flag := range []string{"fail-under", "fail-under-with-inferred"} {
		if s.IsSet(flag) && doc.Counts.Below(s.Float64(flag), i == 1) {
			lines = append(lines, fmt.Sprintf("coverage is below --%s %g", flag, s.Float64(flag)))
		}
	}
	if bar.Level == "" {
		return lines
	}
	unmet := doc.Unmet(bar.Level)
	lines = append(lines, unmet[:min(len(unmet), unmetShown)]...)
	if more := len(unmet) - unmetShown; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// auditSpan returns the commits that the arguments name.
func (s *session) auditSpan(store *store.Store) (audited, error) {
	if id := s.String("run"); id != "" {
		return s.auditRun(store, id)
	}
	rev := s.arg("HEAD")
	span, limit := audited{name: rev}, s.Int("limit")
	var from, to gitstore.ID
	var err error
	if strings.Contains(rev, "..") {
		if !s.IsSet("limit") {
			limit = 0
		}
		from, to, err = store.Repo.Range(s.ctx, rev)
	} else {
		to, err = store.Repo.Resolve(s.ctx, rev)
	}
	if err != nil {
		return span, err
	}
	if span.base = from; from == "" {
		if span.base, _, err = store.Repo.BranchPointOf(s.ctx, "", to); err != nil {
			return span, err
		}
	}
	span.commits, err = store.Repo.LogMessages(s.ctx, from, to, limit)
	if err != nil {
		return span, err
	}
	cut := store.Repo.Whole(rev, span.commits)
	if from != "" && limit == 0 {
		return span, cut
	}
	span.shallow = cut != nil
	return span, nil
}

// auditRun returns a run's commits and those that people made for it.
func (s *session) auditRun(store *store.Store, id string) (audited, error) {
	run, err := store.Run(s.ctx, id)
	if err != nil {
		return audited{}, err
	}
	span, limit := audited{name: "run " + run.ID, run: run.ID}, 0
	if s.IsSet("limit") {
		limit = s.Int("limit")
	}
	span.commits, err = diagnose.CommitsOf(s.ctx, store, run, limit)
	if errors.As(err, new(*gitstore.GitError)) || errors.Is(err, gitstore.ErrNotFound) {
		err = exit.Problemf(exit.NotFound, "the commits of run %s are not in this clone, only its events", run.ID)
	}
	return span, err
}

// metricsPeriod is how far back metrics look by default.
const metricsPeriod = 30 * 24 * time.Hour

func (p *program) metricsCommand() *cli.Command {
	return &cli.Command{
		Name: "metrics", Usage: "what the runs and reviews of the last 30 days came to",
		Description: "Rounds to pass, stops by reason, time per step, findings by severity, and how long reviews took, of\n" +
			"what began in that time. A date is that day at midnight.",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "since", Usage: "`WHEN` the time begins: 7d, 12h, 2026-01-31, or RFC 3339"}},
		Action: p.inRepo(metrics),
	}
}

func metrics(s *session, store *store.Store) error {
	since := s.now().Add(-metricsPeriod)
	if text := s.String("since"); text != "" {
		var err error
		if since, err = pick.Moment(text, s.now()); err != nil {
			return err
		}
	}
	doc, err := diagnose.Measure(s.ctx, store, since)
	if err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) { screen.Document(w, doc.Text()) })
}
