// Package runner carries out runs. Next looks at the folded run and names the step: attempt, checks, review, revert,
// stop or complete. Runner does the step, appends the result as an event, and asks again. An execution is one process
// working on one run. Package loop's comment pictures the states of a run.
//
// The files, from the bottom: plans (task, plan_review, plan_checkout, finished_work), Next (next), what one process
// works with (execution, calls, prepare, worktree), the steps (attempt, revert, round, person, stop) and on top the
// runner, and interventions by people (intervene, evidence).
package runner
