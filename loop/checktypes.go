package loop

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
