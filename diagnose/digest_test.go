package diagnose

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

func TestDigest(t *testing.T) {
	run := stoppedRun()
	run.Stop.Detail = "the retries are used up"
	want := `# Review digest: T1: Add a thing

- Run: 20260107120000-abcdef
- Stop reason: review\_loop\_detected
- Stopped in: round 3 of 3
- Last checkpoint: abc1234222222233333334444444555555566666

` + record.ReasonOf(record.ReasonReviewLoop).Explanation + `

the retries are used up

## Reviewer requested

1. Fix type errors (unmet: asked for 3 times, first in round 1)
2. Add test coverage for new function (unmet: asked for 2 times, first in round 2)

## Unmet checks

- typecheck\_failed
- test\_coverage\_insufficient

## Evidence provided

- typecheck: 3 errors
- test: 65%, need 80%
- lint: ok

## Commands to satisfy

` + "```sh" + `
npm run typecheck       # was: 3 errors
npm test -- --coverage  # was: 65%, need 80%
` + "```" + `

## Suggested intervention

` + "```sh" + `
git runr intervene 20260107120000-abcdef --reason review_loop \
  --note "Fixed type errors and added test coverage for new function" \
  --cmd "npm run typecheck" --cmd "npm test -- --coverage"
` + "```" + `

## Next steps

` + "```sh" + `
git runr resume 20260107120000-abcdef  # let the loop go on, with fresh counters
git runr intervene 20260107120000-abcdef --reason review_loop --note "..."  # record what you did, for the next prompt
git runr audit --run 20260107120000-abcdef  # see which commits are accounted for
` + "```\n"
	if got := Digest(run, *run.Stop); got != want {
		t.Errorf("digest:\n%s\nwant:\n%s", got, want)
	}
}

func TestDigestIsSafeMarkdown(t *testing.T) {
	run := stoppedRun()
	run.Plan.Checks[0].Command = "echo '```` `x`'"
	run.Stop.Unmet = []string{"Fix type errors <script>alert(1)</script> in [a](http://b)\n```sh\nrm -rf ~\n```\n# Title",
		"1. nested"}
	got := Digest(run, *run.Stop)
	for _, bad := range []string{"<script", "[a](", "\n```sh\nrm", "\n# Title", "2. 1. "} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in:\n%s", bad, got)
		}
	}
	if !strings.Contains(got, "\n`````sh\nsh -c 'echo '\\''```` `x`'\\'  # was") {
		t.Errorf("fence:\n%s", got)
	}
}
