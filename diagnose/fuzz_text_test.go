package diagnose

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// FuzzForeignText: whatever reviewers, agents and files say, a stop prints only lines of our own form, nothing
// affects the terminal, and no command comes from their text.
func FuzzForeignText(f *testing.F) {
	for _, s := range []string{
		"Fix type errors", "Create src/foo.ts and `x`", "a\nb\x1b[2J", "\u202e", "Run `rm -rf ~`; $(reboot)",
		"- [ ] 65%, need 80%", "1. x\n```\n# y", "\xff\xfe", "Add tests to a/b.go:12: x", "",
	} {
		f.Add(s, 60)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		run := stoppedRun()
		run.Plan.Entity.Title, run.Plan.DoneCriteria, run.Plan.Checks[2].Match = text, "- "+text, []string{text}
		run.Stop.Unmet, run.Stop.Detail = []string{text, "Fix " + text}, text
		run.Checks[0].Results[0].Said, run.Attempts[2].Verification = text, text
		run.Rounds[2].Report = reply.Report{Requests: []string{text},
			Findings: []reply.Finding{{File: text, Issue: text, Line: 1}}}
		run.Stop.Said, run.Stop.SaidBy, run.Stop.Setting = text, text, &runplan.Setting{Name: text, Value: text, From: text}
		run.Checks[0].Event, run.Checks[0].Results[0].Output = head, text
		run.Checks[0].Results[0].Failures = []record.CheckFailure{{Test: text, File: text, Line: 1, Message: text},
			{Message: text}}
		run.Checks[0].Results[0].Name, run.Plan.Checks[0].Name = text, text
		d := diagnosisOf(run)
		for _, s := range d.SuggestedCommands {
			if !slices.ContainsFunc(run.Plan.Checks, func(c runplan.Check) bool { return c.Command == s.Command }) {
				t.Errorf("offers %q", s.Command)
			}
		}
		if strings.ContainsFunc(d.Intervention, unicode.IsControl) || len(d.intervention) != 2 && len(d.intervention) != 3 {
			t.Errorf("intervention %q", d.intervention)
		}
		width %= 200
		blocked := run
		blocked.Stop = &record.Stop{Reason: record.ReasonBlocked, Said: text, SaidBy: text, Setting: run.Stop.Setting}
		for _, shown := range []string{
			footer(run, width), Block(run, Place{Width: width}), d.Digest(), footer(blocked, width),
			Block(blocked, Place{Width: width}), Digest(blocked, *blocked.Stop),
		} {
			if r := strings.IndexFunc(shown, func(r rune) bool {
				return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
			}); r >= 0 {
				t.Errorf("%q at %d of %q", shown[r:r+1], r, shown)
			}
		}
	})
}
