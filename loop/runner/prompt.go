package runner

import (
	"embed"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
)

// ImplementPrompt is everything that a prompt for an implementer can contain.
type ImplementPrompt struct {
	Entity       runplan.Entity
	Task         string
	DoneCriteria string
	References   string
	Lead         string // of the workflow's step
	Attempt      int
	Findings     []reply.Finding
	Requests     []string      // requests beyond the findings
	Said         []reply.Words // what the review said, in full
	Failed       []record.CheckResult
	Files        []string // changed so far
	History      []string // one line for each earlier attempt
	Notes        []string // what people said since
	Checks       []runplan.Check
	Scope        string // what may be changed; "" means everything
	Told         reviewing.ToldText
	Nonce        string // required with Told
}

//go:embed prompts
var promptFiles embed.FS

var prompts = reviewing.Prompts(promptFiles)

// Text returns the prompt for mode: the first turn, a targeted fix or a re-execution.
func (p ImplementPrompt) Text(mode record.AttemptMode) string {
	beside := reply.RequestsBeside(p.Requests, p.Findings)
	return reviewing.FillPrompt(prompts, "implement.md", struct {
		ImplementPrompt
		Mode     record.AttemptMode
		FixLabel string
		Beside   []string // requests beyond the findings
		Issues   int
	}{p, mode, map[bool]string{true: "**Fix:**", false: "**How to avoid it:**"}[mode == record.ModeFix], beside,
		len(p.Findings) + len(beside)})
}

// Name returns the identifier and the title of the task.
func (p ImplementPrompt) Name() string {
	return strings.TrimSpace(p.Entity.Identifier + ": " + p.Entity.Title)
}
