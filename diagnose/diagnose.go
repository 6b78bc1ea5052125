package diagnose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"git-runr/loop"
	"git-runr/loop/safetext"
)

// Action is one thing to type or to do next (seed 001).
type Action struct {
	Command     string `json:"command,omitempty"`
	Edit        string `json:"edit,omitempty"`
	Description string `json:"description"`
}

// Diagnosis is why a run stopped, in the fields of seed 001's StopDiagnostics.
type Diagnosis struct {
	StopReason           string   `json:"stop_reason"`
	Explanation          string   `json:"explanation"`
	Detail               string   `json:"detail,omitempty"`
	LoopCount            int      `json:"loop_count,omitempty"`
	LastReviewRequests   []string `json:"last_review_requests,omitempty"`
	LastEvidenceProvided []string `json:"last_evidence_provided,omitempty"`
	UnmetChecks          []string `json:"unmet_checks,omitempty"`
	SuggestedActions     []Action `json:"suggested_actions"`

	commands []suggestion
}

// suggestion is a configured check that would satisfy a request, and what it said last.
type suggestion struct{ command, was string }

// Of diagnoses run, which stopped, or is about to stop, for stop.
func Of(run loop.Run, stop loop.Stop) Diagnosis {
	reason := loop.ReasonOf(stop.Reason)
	d := Diagnosis{
		StopReason: stop.Reason, Explanation: reason.Explanation, Detail: stop.Detail, LoopCount: stop.Round,
		LastReviewRequests: requests(run, stop),
	}
	for _, c := range evidence(run) {
		d.LastEvidenceProvided = append(d.LastEvidenceProvided, c.Name+": "+was(c))
		if !c.OK() {
			d.UnmetChecks = append(d.UnmetChecks, c.Name+"_failing")
		}
	}
	d.commands = suggestions(run, d.LastReviewRequests)
	for _, s := range d.commands {
		d.SuggestedActions = append(d.SuggestedActions, Action{Command: s.command, Description: "run the check; it said: " + s.was})
	}
	for _, command := range nextSteps(run, reason) {
		d.SuggestedActions = append(d.SuggestedActions, Action{Command: command.line, Description: command.what})
	}
	return d
}

func requests(run loop.Run, stop loop.Stop) []string {
	if len(stop.Unmet) > 0 {
		return stop.Unmet
	}
	_, asked := run.Open()
	return asked
}

func evidence(run loop.Run) []loop.CheckResult {
	if last := run.LastChecks(); last != nil {
		return last.Results
	}
	return nil
}

// suggestions are the checks that requests speak of, and those that failed: a
// command always comes from the configuration, never from a reviewer's text.
func suggestions(run loop.Run, asked []string) []suggestion {
	results := map[string]loop.CheckResult{}
	for _, c := range evidence(run) {
		results[c.Name] = c
	}
	var found []suggestion
	for _, check := range run.Plan.Checks {
		result, ran := results[check.Name]
		wanted := ran && !result.OK() || slices.ContainsFunc(asked, func(r string) bool { return means(check, r) })
		if !wanted || !printable(check.Command) {
			continue
		}
		s := suggestion{command: check.Command, was: "never run"}
		if ran {
			s.was = was(result)
		}
		found = append(found, s)
	}
	return found
}

// means reports whether a request speaks of check: by its name or its match words, as whole words.
func means(check loop.Check, request string) bool {
	text := words(request)
	for _, name := range append([]string{check.Name}, check.Match...) {
		if name = words(name); name != " " && strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// words is s in lower case with single spaces between and around its words.
func words(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(fields, " ") + " "
}

func was(c loop.CheckResult) string {
	switch {
	case c.OK():
		return "ok"
	case c.Reason != "":
		return oneLine(c.Reason) // of a log that anybody may have written
	}
	return fmt.Sprintf("exit %d", c.ExitCode)
}

// printable reports whether a command may be offered: what is pasted is what was seen.
func printable(s string) bool { return s != "" && safetext.Line(s) == s }

type command struct{ line, what string }

// nextSteps are at most three commands that work in the run's state.
func nextSteps(run loop.Run, reason loop.Reason) []command {
	id := run.ID
	switch {
	case reason.Code == loop.ReasonUntrusted:
		return []command{{"git runr trust", "approve the commands of .runr.toml"}, {"git runr resume " + id, "take the run up again"}}
	case reason.Judge:
		return []command{
			{"git runr show " + id, "read the findings"},
			{"git runr answer " + id + " commit", "accept what there is, with its open findings"},
			{"git runr resume " + id, "let the loop go on"},
		}
	case reason.Resumable:
		return []command{
			{"git runr log " + id, "see what happened"},
			{"git runr resume " + id, "take the run up again"},
			{"git runr abort " + id, "give it up"},
		}
	}
	return []command{{"git runr show " + id, "see what happened"}, {"git runr abort " + id, "give it up"}}
}

// Explain fills in stop's suggested commands and gives the files that a stop
// leaves behind: stop_diagnostics.json and review_digest.md.
func Explain(run loop.Run, stop loop.Stop) (loop.Stop, map[string][]byte) {
	d := Of(run, stop)
	for _, s := range d.commands {
		stop.Commands = append(stop.Commands, s.command)
	}
	body, err := json.MarshalIndent(d, "", "  ")
	if err != nil { // unreachable: a Diagnosis holds only strings and numbers
		body = []byte("{}")
	}
	return stop, map[string][]byte{
		"stop_diagnostics.json": append(body, '\n'),
		"review_digest.md":      []byte(Digest(run, stop)),
	}
}
