package agent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// failureWords match error messages of providers and of the network. The first match decides
// whether the failure is transient.
var failureWords = []struct {
	words     func() *regexp.Regexp
	transient bool
}{
	{lazyre.Compile(`(?i)insufficient[_ ]quota|billing|credit balance|no credit|payment required|spend(?:ing)? (?:limit|cap)`),
		false},
	{lazyre.Compile(`(?i)\b(?:429|529)\b|too many requests|rate.?limit|usage limit|overloaded` +
		`|hit your (?:[\w-]+ ){0,2}limit|(?:\d+-hour|session|daily|weekly|monthly) limit|limit reached\b.{0,40}\bresets?\b`),
		true},
	{lazyre.Compile(`(?i)\b(?:40[0-4])\b|unauthori[sz]ed|forbidden|authenticat|api[ _-]?key|not logged in|please log ?in` +
		`|unknown (?:option|flag|argument|command|model)|unexpected argument|unrecogni[sz]ed|invalid (?:option|flag|argument|model|credential)` +
		`|model .*not (?:found|exist)|context (?:window|length)|prompt is too long`), false},
	{lazyre.Compile(`(?i)\b(?:408|425|50[0-4])\b|quota|high demand|at capacity|try again later|temporar|unavailable|internal server error|bad gateway|gateway time` +
		`|ECONN(?:RESET|REFUSED|ABORTED)|ETIMEDOUT|EAI_AGAIN|EPIPE|socket hang up|connection (?:was |is )?(?:reset|refused|closed|aborted|lost|error)|disconnected` +
		`|broken pipe|unexpected (?:EOF|end)|stream (?:closed|ended|error)|\bterminated\b|timed? ?out|network error|fetch failed|cut short`), true},
}

// Transient reports whether asking again later may help: the agent was stopped for taking
// too long, its provider says when to try again, or its error is about a limit or a lost
// connection. Warnings among its words are ignored.
func (a Answer) Transient() bool {
	stopped := a.Problem == ProblemTimeout || a.Problem == ProblemIdle
	if !stopped && a.Problem != ProblemExitStatus && a.Problem != ProblemAgentError && a.Problem != ProblemEmptyOutput {
		return false
	}
	said := strings.Join(slices.DeleteFunc(strings.Split(a.Detail, "; "), warns), "; ")
	if !a.Again.IsZero() {
		return true
	}
	for _, f := range failureWords {
		if f.words().MatchString(said) {
			return f.transient
		}
	}
	return stopped
}
