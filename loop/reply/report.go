package reply

import (
	"slices"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// Severity says how much a finding matters. The order is critical, warning, note.
type Severity string

const (
	Critical Severity = "critical" // the change is fundamentally wrong: revert and re-execute
	Warning  Severity = "warning"  // a targeted fix is wanted
	Note     Severity = "note"     // worth saying, never a reason to go round again
)

// Verdict is what a reviewer concluded.
type Verdict string

const (
	Checked       Verdict = "CHECKED" // rules found nothing that refuses; no reviewer says so
	Pass          Verdict = "PASS"
	PassWithNotes Verdict = "PASS_WITH_NOTES"
	NeedsFix      Verdict = "NEEDS_FIX"
	CriticalFail  Verdict = "CRITICAL"
)

// Passed reports whether v lets the change through. The zero Verdict does not.
func (v Verdict) Passed() bool { return v == Checked || v == Pass || v == PassWithNotes }

// Finding is one thing that a reviewer reported.
type Finding struct {
	// ID is stable across rounds: it does not change when only the line moved or
	// the words were reordered. See FindingID.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`     // slash-separated, relative to the top of the tree
	Line     int      `json:"line,omitempty"`     // from 1; 0 when the finding has no place
	EndLine  int      `json:"end_line,omitempty"` // last line, inclusive; 0 when it is Line
	Issue    string   `json:"issue"`
	Fix      string   `json:"fix,omitempty"`
	Rule     string   `json:"rule,omitempty"` // the built-in reviewer's rule or check that found it
}

// Place is where the finding is, as "file:line" or "file:line-end"; "" when it has no place.
func (f Finding) Place() string {
	return place.Place{File: f.File, Line: f.Line, End: f.EndLine}.String()
}

// At puts a place into a finding.
func (f *Finding) At(p place.Place) { f.File, f.Line, f.EndLine = p.File, p.Line, p.End }

// Report is one reviewer's answer, parsed.
type Report struct {
	Verdict   Verdict   `json:"verdict"`           // as stated; NEEDS_FIX when none could be read
	Effective Verdict   `json:"effective_verdict"` // what counts: see EffectiveVerdict
	Format    string    `json:"format"`            // what it was read from
	Summary   string    `json:"summary,omitempty"`
	Text      string    `json:"text,omitempty"` // the reviewer's own words, at most MaxText bytes: see ownWords
	Findings  []Finding `json:"findings"`
	Requests  []string  `json:"requests"` // what was asked for, findings first
	Approved  bool      `json:"approved"`
	Warnings  []string  `json:"parse_warnings"`
}

// The values of Report.Format, beside "builtin" of the reviewer that needs no model.
const (
	FormatNone        = "none"          // the reviewer said nothing
	FormatHuman       = "human"         // a person's
	FormatRemarks     = "remarks"       // an agent's, beside the people who were asked
	FormatUnreadable  = "unreadable"    // nothing could be read out of it
	formatTagged      = "tagged"        // the block that ReviewOutputInstructions asks for
	formatVerdictJSON = "verdict_json"  // the same object without its tag
	formatMarkdown    = "markdown"      // "### Verdict:" and "### Findings"
	formatReviewJSON  = "review_json"   // "success" and "review_issues"
	formatChangesJSON = "changes_json"  // "status" and "changes"
	formatFindings    = "findings_json" // an object each finding, or SARIF
	formatCodexJSON   = "codex_json"    // "overall_correctness", of codex
)

// Unreadable reports whether the answer held nothing that anybody could act on.
func (r Report) Unreadable() bool {
	return r.Format == FormatUnreadable && len(r.Findings) == 0 && len(r.Requests) == 0
}

// Says is what counts of the report, for people: the effective verdict, or that nothing could be read.
func (r Report) Says() string {
	if r.Unreadable() {
		return FormatUnreadable
	}
	return string(r.Effective)
}

// ExecutorStatus is how an implementer says its work ended.
type ExecutorStatus string

const (
	ExecutorComplete   ExecutorStatus = "complete"
	ExecutorFailed     ExecutorStatus = "failed"
	ExecutorCheckpoint ExecutorStatus = "checkpoint" // it waits for a person
	ExecutorUnknown    ExecutorStatus = "unknown"
)

// ExecutorReport is an implementer's structured return, parsed. Files is what it
// claims; what it changed is always taken from trees.
type ExecutorReport struct {
	Status       ExecutorStatus `json:"status"`
	Files        []string       `json:"files"`
	Verification string         `json:"verification"`     // the "### Verification Results" section
	Reason       string         `json:"reason,omitempty"` // why it did not finish, what it waits for, or what it calls wrong and why
	Warnings     []string       `json:"parse_warnings"`
}

// EffectiveVerdict is what counts of a reviewer's verdict. A critical finding makes
// CRITICAL whatever was stated; a failing check makes at least NEEDS_FIX; a PASS
// that comes with findings is PASS_WITH_NOTES; an unknown word is NEEDS_FIX.
func EffectiveVerdict(stated Verdict, findings []Finding, checksFailed bool) Verdict {
	isCritical := func(f Finding) bool { return f.Severity == Critical }
	switch {
	case stated == CriticalFail || slices.ContainsFunc(findings, isCritical):
		return CriticalFail
	case checksFailed || !stated.Passed():
		return NeedsFix
	case len(findings) > 0:
		return PassWithNotes
	}
	return stated
}

// VerdictRank orders verdicts from the best to the worst.
func VerdictRank(v Verdict) int {
	switch v {
	case Checked:
		return -1
	case Pass:
		return 0
	case PassWithNotes:
		return 1
	case CriticalFail:
		return 3
	}
	return 2
}

// HasSeverity reports whether one of findings has that very severity.
func HasSeverity(findings []Finding, severity Severity) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == severity })
}

// SeverityRank orders severities from the worst.
func SeverityRank(s Severity) int {
	return slices.Index([]Severity{Critical, Warning, Note}, s)
}

// MaxText is how much of an answer is kept with what was read out of it, in bytes.
const MaxText = 32 << 10

// Gist is what the report comes to beside its verdict, for a line: how many findings, or
// where there are none what was asked for first.
func (r Report) Gist() string {
	count := prose.Count(len(r.Findings), "finding")
	if len(r.Findings) == 0 && len(r.Requests) > 0 {
		return count + ": " + r.Requests[0]
	}
	return count
}
