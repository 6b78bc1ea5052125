// Package runner carries out runs. Next looks at the folded run and names the step: attempt, checks, review, revert,
// stop or complete. Runner does it and appends what came of it (execution is one process at one run), then asks again.
// The pictures of a run's states are in package loop.
//
// The files, from the bottom: plans (task, plan_review, plan_checkout, finished_work), Next (next), what one process
// works with (execution, calls, prepare, worktree), the steps (attempt, revert, round, person, stop) and on top the
// runner, and people who step in (intervene, evidence).
package runner
