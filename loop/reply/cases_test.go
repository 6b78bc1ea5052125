package reply

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/casetest"
)

func TestParseReviewCases(t *testing.T) {
	casetest.Run(t, "review", func(t *testing.T, c casetest.Case) {
		report := ParseReview(c.Input(), strings.TrimSpace(c.File("nonce")))
		report.Text = "" // the input once more
		c.Check(t, report)
	})
}

func TestParseExecutorCases(t *testing.T) {
	casetest.Run(t, "executor", func(t *testing.T, c casetest.Case) {
		c.Check(t, ParseExecutor(c.Input()))
	})
}
