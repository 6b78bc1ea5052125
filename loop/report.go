package loop

// Severity says how much a finding matters. The order is critical, warning, note.
type Severity string

const (
	Critical Severity = "critical" // the change is fundamentally wrong: revert and re-execute
	Warning  Severity = "warning"  // a targeted fix is wanted
	Note     Severity = "note"     // worth saying, never a reason to go round again
)

// Verdict is what a reviewer concluded, in the words of seed 004.
type Verdict string

const (
	Pass          Verdict = "PASS"
	PassWithNotes Verdict = "PASS_WITH_NOTES"
	NeedsFix      Verdict = "NEEDS_FIX"
	CriticalFail  Verdict = "CRITICAL"
)

// Passed reports whether v lets the change through. The zero Verdict does not.
func (v Verdict) Passed() bool { return v == Pass || v == PassWithNotes }

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

// Report is one reviewer's answer, parsed.
type Report struct {
	Verdict   Verdict   `json:"verdict"`           // as stated; NEEDS_FIX when none could be read
	Effective Verdict   `json:"effective_verdict"` // what counts: see Effective
	Format    string    `json:"format"`            // tagged, markdown, review_json, verdict_json, codex_json, changes_json, builtin, unreadable
	Summary   string    `json:"summary,omitempty"`
	Text      string    `json:"text,omitempty"` // the reviewer's own words, at most maxText bytes: see ownWords
	Findings  []Finding `json:"findings"`
	Requests  []string  `json:"requests"` // what was asked for, findings first
	Approved  bool      `json:"approved"`
	Warnings  []string  `json:"parse_warnings"`
}

// Formats of reports that nobody parsed.
const (
	formatNone  = "none" // the reviewer said nothing
	formatHuman = "human"
)

// unreadable reports whether the answer held nothing that anybody could act on.
func (r Report) unreadable() bool {
	return r.Format == formatUnreadable && len(r.Findings) == 0 && len(r.Requests) == 0
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
	Reason       string         `json:"reason,omitempty"` // why it did not finish, or what it waits for, in its words
	Warnings     []string       `json:"parse_warnings"`
}

// Check is a configured verification command with a name.
type Check struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`             // run by sh -c at the top of the tree
	Match   []string `json:"match,omitempty"`     // more words by which a request means this check
	Timeout Duration `json:"timeout_ms,omitzero"` // 0: the default, 10 minutes
}

// CheckResult is the evidence that one check left behind. The fields from NotRun on
// are the judgement of it: see Checker.
type CheckResult struct {
	Name     string   `json:"name"`
	Command  string   `json:"command"`
	ExitCode int      `json:"exit_code"`            // -1 when it did not end by itself
	Reason   string   `json:"reason,omitempty"`     // why it did not end by itself or could not run: timeout, not_found, not_installed, signal:NAME, untrusted_config
	Output   string   `json:"output,omitempty"`     // head and tail of both streams, capped
	Tree     string   `json:"tree,omitempty"`       // the tree it ran on
	Said     string   `json:"said,omitempty"`       // what the output says in a few words: see Said
	Duration Duration `json:"duration_ms,omitzero"` // wall time

	NotRun         string         `json:"not_run,omitempty"`          // why it says nothing about the change: "eslint is not installed"
	FailsOnBase    bool           `json:"fails_on_base,omitempty"`    // it fails in the same way without the change
	Failures       []CheckFailure `json:"failures,omitempty"`         // that the base does not have, the first few that the output names
	FailuresMore   int            `json:"failures_more,omitempty"`    // how many more there are
	FailuresOnBase int            `json:"failures_on_base,omitempty"` // how many the base has as well
	Excerpt        string         `json:"excerpt,omitempty"`          // lines of the output from the first failure on, capped
}

// CheckFailure is one thing that a check's output says is wrong, on one line.
type CheckFailure struct {
	Test    string `json:"test,omitempty"`
	File    string `json:"file,omitempty"` // relative to the top of the tree; "" when it is not known
	Line    int    `json:"line,omitempty"` // from 1
	Message string `json:"message,omitempty"`
}
