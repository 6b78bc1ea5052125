package loop

import (
	"context"

	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
)

// Checker runs checks and judges what came of them. Whether a failure counts against
// a change is decided here and recorded with the result, the same for a review and a
// run: everybody else asks CheckResult.Fails.
type Checker struct {
	// Run runs one check in dir, whose files are those of tree.
	Run func(ctx context.Context, check runplan.Check, dir string, tree gitstore.ID) record.CheckResult
	// Judge fills in what result means for a change of the files changed, beside what
	// the check came to on the base; nil: it was not run there.
	Judge func(result record.CheckResult, base *record.CheckResult, changed []string) record.CheckResult
}

// checkup is a change whose checks are to be run.
type checkup struct {
	checks  []runplan.Check
	watch   func(while string) watch      // of the change, checked out
	tree    gitstore.ID                   // that is in it
	base    gitstore.ID                   // what it is compared with; there is none where it is no commit
	changed []string                      // paths that differ between the two
	own     func(runplan.Check) bool      // checks that count although they fail on the base; nil: none
	known   map[string]record.CheckResult // what checks came to on the base, by name; what is run is added
}

// check runs the checks of a change, and those that do not pass on its base too: what
// failed before is not this change's fault. Nothing counts where one of them tampered with
// the repository.
func check(ctx context.Context, s *record.Store, c Checker, p Progress, job checkup) (_ []record.CheckResult, tampered *record.Failure, err error) {
	results := []record.CheckResult{}
	var asked []runplan.Check
	for _, check := range job.checks {
		p.Step("check", check.Name)
		result, tampered, err := c.watched(ctx, job.watch("check "+check.Name+" ran"), check, job.tree)
		if tampered != nil || err != nil {
			return nil, tampered, err
		}
		results = append(results, result)
		_, known := job.known[check.Name]
		if !result.OK() && result.Reason != record.NotInstalled && !known && (job.own == nil || !job.own(check)) {
			asked = append(asked, check)
		}
	}
	if tampered, err := checkBase(ctx, s, c, p, job, asked); tampered != nil || err != nil {
		return nil, tampered, err
	}
	for i, check := range job.checks {
		var base *record.CheckResult
		if b, known := job.known[check.Name]; known {
			base = &b
		}
		results[i] = c.Judge(results[i], base, job.changed)
	}
	return results, nil, nil
}

// watched runs one check in the tree that is watched, whose files are those of id.
func (c Checker) watched(ctx context.Context, w watch, check runplan.Check, id gitstore.ID) (result record.CheckResult, tampered *record.Failure, err error) {
	tampered, err = w.during(ctx, func(ctx context.Context) error {
		result = c.Run(ctx, check, w.tree.Dir, id)
		return ctx.Err()
	})
	return result, tampered, err
}

// checkBase fills in what checks come to on the base.
func checkBase(ctx context.Context, s *record.Store, c Checker, p Progress, job checkup, checks []runplan.Check) (tampered *record.Failure, err error) {
	if _, err := s.Repo.ReadCommit(ctx, job.base); len(checks) == 0 || err != nil {
		return nil, nil // all is well, or there is nothing before
	}
	err = inCheckout(ctx, s, job.base, func(ctx context.Context, tree *gitstore.Worktree) error {
		for _, check := range checks {
			p.Step("check", check.Name+" on the base")
			w := job.watch("check " + check.Name + " ran on the base")
			w.tree, w.own = tree, nil
			var result record.CheckResult
			if result, tampered, err = c.watched(ctx, w, check, job.base); tampered != nil || err != nil {
				return err
			}
			job.known[check.Name] = result
		}
		return nil
	})
	return tampered, err
}
