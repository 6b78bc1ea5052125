package loop

import (
	"context"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// Checker runs checks and judges what came of them. Whether a failure counts against
// a change is decided here and recorded with the result, the same for a review and a
// run: everybody else asks CheckResult.Fails.
type Checker struct {
	// Run runs one check in dir, whose files are those of tree.
	Run func(ctx context.Context, check record.Check, dir string, tree gitstore.ID) record.CheckResult
	// Judge fills in what result means for a change of the files changed, beside what
	// the check came to on the base; nil: it was not run there.
	Judge func(result record.CheckResult, base *record.CheckResult, changed []string) record.CheckResult
}

// checkup is a change whose checks are to be run.
type checkup struct {
	checks  []record.Check
	dir     string                        // the change, checked out
	tree    gitstore.ID                   // that is in dir
	base    gitstore.ID                   // what it is compared with; there is none where it is no commit
	changed []string                      // paths that differ between the two
	own     func(record.Check) bool       // checks that count although they fail on the base; nil: none
	known   map[string]record.CheckResult // what checks came to on the base, by name; what is run is added
}

// check runs the checks of a change, and those that do not pass on its base too: what
// failed before is not this change's fault.
func check(ctx context.Context, s *record.Store, c Checker, p Progress, job checkup) ([]record.CheckResult, error) {
	results := []record.CheckResult{}
	var asked []record.Check
	for _, check := range job.checks {
		p.Step("check", check.Name)
		result := c.Run(ctx, check, job.dir, job.tree)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		results = append(results, result)
		_, known := job.known[check.Name]
		if !result.OK() && result.Reason != record.NotInstalled && !known && (job.own == nil || !job.own(check)) {
			asked = append(asked, check)
		}
	}
	if err := checkBase(ctx, s, c, p, job, asked); err != nil {
		return nil, err
	}
	for i, check := range job.checks {
		var base *record.CheckResult
		if b, known := job.known[check.Name]; known {
			base = &b
		}
		results[i] = c.Judge(results[i], base, job.changed)
	}
	return results, nil
}

// checkBase fills in what checks come to on the base.
func checkBase(ctx context.Context, s *record.Store, c Checker, p Progress, job checkup, checks []record.Check) error {
	if _, err := s.Repo.ReadCommit(ctx, job.base); len(checks) == 0 || err != nil {
		return nil // all is well, or there is nothing before
	}
	return inCheckout(ctx, s, job.base, func(ctx context.Context, tree *gitstore.Worktree) error {
		for _, check := range checks {
			p.Step("check", check.Name+" on the base")
			job.known[check.Name] = c.Run(ctx, check, tree.Dir, job.base)
		}
		return ctx.Err()
	})
}
