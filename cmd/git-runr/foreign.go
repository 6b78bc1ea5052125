package main

import (
	"context"
	"errors"
	"slices"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
)

// A run that another clone recorded names the checks of that clone. Whoever can push
// a log could have written them: they are offered only where this repository's
// configuration has them, too, and run only where they are trusted here.

// offered is run with commands only of those checks that may be shown as something
// to type; the others still say what was asked for and shown.
func (s *session) offered(store *record.Store, run record.Run) (record.Run, error) {
	if run.Writer == store.Repo.Writer() {
		return run, nil
	}
	run = run.Elsewhere()
	if len(run.Plan.Checks) == 0 {
		return run, nil
	}
	conf, err := s.configuration(store)
	if err != nil {
		return run, err
	}
	run.Plan.Checks = slices.Clone(run.Plan.Checks)
	for i, c := range run.Plan.Checks {
		if !conf.HasCheck(c.Command) {
			run.Plan.Checks[i].Command = ""
		}
	}
	return run, nil
}

// workHere refuses to go on with a run whose commits did not come with its log.
func workHere(ctx context.Context, store *record.Store, run record.Run) error {
	_, err := store.Repo.ReadCommit(ctx, run.Head())
	if !errors.Is(err, gitstore.ErrNotFound) {
		return err
	}
	return exit.Problemf(exit.NotFound, "the work of run %s (%s) is not in this clone", run.ID, run.Head().Short()).WithHint(
		"where it was made: git push origin "+run.Plan.Branch, "here: git fetch origin "+run.Plan.Branch)
}

// trustedPlan refuses to run checks that only another clone's log names.
func trustedPlan(store *record.Store, conf *config.Config, run record.Run) error {
	if run.Writer == store.Repo.Writer() {
		return nil
	}
	trusted, _ := conf.Checks()
	for _, c := range run.Plan.Checks {
		if !slices.ContainsFunc(trusted, func(known runplan.Check) bool { return known.Command == c.Command }) {
			return notTrusted("check " + c.Name + " of a run of another clone is not a trusted check of this one")
		}
	}
	return nil
}
