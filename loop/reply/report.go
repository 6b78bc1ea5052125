package reply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// Severity is how much a finding matters: critical, warning or note.
type Severity string

const (
	Critical Severity = "critical" // the change is fundamentally wrong: revert and re-execute
	Warning  Severity = "warning"  // needs a targeted fix
	Note     Severity = "note"     // worth mentioning; never requires another round
)

// Verdict is a reviewer's conclusion.
type Verdict string

const (
	Checked       Verdict = "CHECKED" // the built-in rules found no reason to refuse; reviewers never state it
	Pass          Verdict = "PASS"
	PassWithNotes Verdict = "PASS_WITH_NOTES"
	NeedsFix      Verdict = "NEEDS_FIX"
	CriticalFail  Verdict = "CRITICAL"
)

// Passed reports whether v lets the change through. The empty Verdict does not.
func (v Verdict) Passed() bool { return v == Checked || v == Pass || v == PassWithNotes }

// Finding is one thing that a reviewer reported.
type Finding struct {
	// ID is stable across rounds: it stays the same if the line moves or the words are
	// reordered. See FindingID.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`     // slash-separated, relative to the top of the tree
	Line     int      `json:"line,omitempty"`     // from 1; 0 if the finding has no place
	EndLine  int      `json:"end_line,omitempty"` // last line, inclusive; 0 if it is Line
	Issue    string   `json:"issue"`
	Fix      string   `json:"fix,omitempty"`
	Rule     string   `json:"rule,omitempty"` // the built-in reviewer's rule or check that reported it
}

// Place returns the finding's place as "file:line" or "file:line-end"; "" if it has none.
func (f Finding) Place() string {
	return place.Place{File: f.File, Line: f.Line, End: f.EndLine}.String()
}

// At sets the place of a finding.
func (f *Finding) At(p place.Place) { f.File, f.Line, f.EndLine = p.File, p.Line, p.End }

// Report is one reviewer's parsed answer.
type Report struct {
	Verdict   Verdict   `json:"verdict"`           // as stated; NEEDS_FIX if none could be read
	Effective Verdict   `json:"effective_verdict"` // the verdict that counts; see EffectiveVerdict
	Format    string    `json:"format"`            // the format it was read from
	Summary   string    `json:"summary,omitempty"`
	Text      string    `json:"text,omitempty"` // the reviewer's own words, at most MaxText bytes; see ownWords
	Findings  []Finding `json:"findings"`
	Requests  []string  `json:"requests"` // requests; those of findings come first
	Approved  bool      `json:"approved"`
	Warnings  []string  `json:"parse_warnings"`
}

// Values of Report.Format; another one is "builtin", of the reviewer that needs no model.
const (
	FormatNone        = "none"          // the reviewer wrote nothing
	FormatHuman       = "human"         // a person's report
	FormatRemarks     = "remarks"       // an agent's report beside those of the requested people
	FormatUnreadable  = "unreadable"    // no known format
	formatTagged      = "tagged"        // the block that ReviewOutputInstructions asks for
	formatVerdictJSON = "verdict_json"  // the same object without its tag
	formatMarkdown    = "markdown"      // "### Verdict:" and "### Findings"
	formatReviewJSON  = "review_json"   // "success" and "review_issues"
	formatChangesJSON = "changes_json"  // "status" and "changes"
	formatFindings    = "findings_json" // one object for each finding, or SARIF
	formatCodexJSON   = "codex_json"    // "overall_correctness", of codex
)

// Unreadable reports whether the answer contained nothing to act on.
func (r Report) Unreadable() bool {
	return r.Format == FormatUnreadable && len(r.Findings) == 0 && len(r.Requests) == 0
}

// Says returns the result of the report for people: the effective verdict, "unreadable" or "no verdict".
func (r Report) Says() string {
	if r.Unreadable() {
		return FormatUnreadable
	}
	return cmp.Or(string(r.Effective), "no verdict")
}

// ExecutorStatus is how an implementer says that its work ended.
type ExecutorStatus string

const (
	ExecutorComplete   ExecutorStatus = "complete"
	ExecutorFailed     ExecutorStatus = "failed"
	ExecutorCheckpoint ExecutorStatus = "checkpoint" // it waits for a person
	ExecutorUnknown    ExecutorStatus = "unknown"
)

// ExecutorReport is an implementer's parsed answer. Files is its claim; what it changed is
// always taken from trees.
type ExecutorReport struct {
	Status       ExecutorStatus `json:"status"`
	Files        []string       `json:"files"`
	Verification string         `json:"verification"` // the "### Verification Results" section
	// why it did not finish, what it waits for, or what it refutes and why
	Reason   string   `json:"reason,omitempty"`
	Warnings []string `json:"parse_warnings"`
}

// EffectiveVerdict returns the verdict that counts. A critical finding makes CRITICAL
// whatever was stated; a failing check makes at least NEEDS_FIX; a PASS with findings is
// PASS_WITH_NOTES; an unknown word is NEEDS_FIX.
func EffectiveVerdict(stated Verdict, findings []Finding, checksFailed bool) Verdict {
	switch {
	case stated == CriticalFail || HasSeverity(findings, Critical):
		return CriticalFail
	case checksFailed || !stated.Passed():
		return NeedsFix
	case len(findings) > 0:
		return PassWithNotes
	}
	return stated
}

// VerdictRank ranks verdicts: the higher, the worse. An unknown one ranks as NEEDS_FIX.
func VerdictRank(v Verdict) int {
	ranked := []Verdict{Checked, Pass, PassWithNotes, NeedsFix, CriticalFail}
	if !slices.Contains(ranked, v) {
		v = NeedsFix
	}
	return slices.Index(ranked, v) - 1
}

// HasSeverity reports whether one of findings has exactly that severity.
func HasSeverity(findings []Finding, severity Severity) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Severity == severity })
}

// CountSeverities counts findings: "1 critical, 2 warnings", "" for none. An unknown severity counts as a note.
func CountSeverities(findings []Finding) string {
	counts := map[Severity]int{}
	for _, f := range findings {
		counts[f.Severity]++
	}
	var parts []string
	if n := counts[Critical]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d critical", n))
	}
	if n := counts[Warning]; n > 0 {
		parts = append(parts, prose.Count(n, "warning"))
	}
	if n := len(findings) - counts[Critical] - counts[Warning]; n > 0 {
		parts = append(parts, prose.Count(n, "note"))
	}
	return strings.Join(parts, ", ")
}

// SeverityRank ranks severities: 0 is the worst.
func SeverityRank(s Severity) int {
	return slices.Index([]Severity{Critical, Warning, Note}, s)
}

// MaxText limits the text of an answer that is kept in its report, in bytes.
const MaxText = 32 << 10

// Gist returns a summary of the report in one line, besides its verdict: the number of
// findings, and without findings the first request.
func (r Report) Gist() string {
	count := prose.Count(len(r.Findings), "finding")
	if len(r.Findings) == 0 && len(r.Requests) > 0 {
		return count + ": " + r.Requests[0]
	}
	return count
}
