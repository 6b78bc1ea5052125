package diagnose

import (
	"regexp"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// States of a criterion.
const (
	CriterionMet      = "met"
	CriterionNotMet   = "not_met"
	CriterionNotKnown = "not_known"
)

// Criterion is one of a task file's done criteria, and what a check shows about it.
type Criterion struct {
	Text  string `json:"text"`
	State string `json:"state"`           // met, not_met or not_known
	Check string `json:"check,omitempty"` // the check that shows it
}

// Criteria compares the done criteria of a completed run's task with the newest results of its checks on the run's
// head. It returns nil if the run is not completed or its task lists no criteria.
func Criteria(run record.Run) []Criterion {
	if run.Status != record.RunCompleted {
		return nil
	}
	var criteria []Criterion
	for _, text := range doneChecks(run.Plan) {
		criteria = append(criteria, criterion(run, text))
	}
	return criteria
}

func criterion(run record.Run, text string) Criterion {
	c := Criterion{Text: text, State: CriterionNotKnown}
	check, ok := checkAskedFor(run.Plan.Checks, text)
	if !ok {
		return c
	}
	for _, r := range results(run) {
		if r.Name != check.Name || r.left != nil || r.tree != run.Head() {
			continue
		}
		c.State, c.Check = CriterionMet, check.Name
		switch {
		case r.NotRun != "":
			c.State, c.Check = CriterionNotKnown, ""
		case !r.OK():
			c.State = CriterionNotMet
		}
	}
	return c
}

// asksOnlyFor reports whether a criterion requires no more than that a check passes. form is the name or the command of
// the check.
func asksOnlyFor(criterion, form string) bool {
	only := "(?i:^(?:the |check |the check |run )?[`\"']*)" + regexp.QuoteMeta(form) +
		"(?i:[`\"']*(?: check)?(?: passes| pass| succeeds| exits 0| is green| is clean)?\\.?$)"
	return form != "" && regexp.MustCompile(only).MatchString(criterion)
}

// checkAskedFor returns the check whose name or exact command is all that a criterion requires. A criterion that says
// more, such as what the tests cover, requires something that the check does not show.
func checkAskedFor(checks []runplan.Check, text string) (runplan.Check, bool) {
	text = prose.OneRow(text)
	for _, check := range checks {
		if asksOnlyFor(text, prose.OneRow(check.Command)) || asksOnlyFor(text, check.Name) {
			return check, true
		}
	}
	return runplan.Check{}, false
}

// says returns the state in words, with the check that shows it.
func (c Criterion) says() string {
	switch c.State {
	case CriterionMet:
		return "met (check " + c.Check + " passed)"
	case CriterionNotMet:
		return "not met (check " + c.Check + " failed)"
	}
	return "not known"
}

// String returns the criterion and its state on one line.
func (c Criterion) String() string { return oneLine(c.Text) + ": " + oneLine(c.says()) }
