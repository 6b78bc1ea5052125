package record

import (
	"fmt"
	"slices"
)

// inboxStatus reports whether a review with status waits to be addressed.
func inboxStatus(status string) bool {
	return status == string(ReviewSubmitted) || status == string(ReviewClaimed)
}

// WaitingStatus reports whether a review with status waits for somebody, to be reviewed or addressed.
func WaitingStatus(status string) bool { return status == string(ReviewOpen) || inboxStatus(status) }

// StatusWaiting is the --status value for all reviews that wait for somebody, the default for people.
const StatusWaiting = "waiting"

// StatusFilter parses a --status value: inbox or "" (submitted and claimed, the default for agents), StatusWaiting
// (open ones too), all, or a single status.
func StatusFilter(name string) (func(string) bool, error) {
	switch name {
	case "", "inbox":
		return inboxStatus, nil
	case StatusWaiting:
		return WaitingStatus, nil
	case "all":
		return func(string) bool { return true }, nil
	}
	if slices.Contains(always, ReviewStatus(name)) {
		return func(status string) bool { return status == name }, nil
	}
	return nil, fmt.Errorf("unknown status %q: use waiting, inbox, all, open, submitted, claimed, resolved or cancelled",
		name)
}

// ReviewStatus is the status of a review; see the state machine in the package comment.
type ReviewStatus string

const (
	ReviewOpen      ReviewStatus = "open"
	ReviewSubmitted ReviewStatus = "submitted"
	ReviewClaimed   ReviewStatus = "claimed"
	ReviewResolved  ReviewStatus = "resolved"
	ReviewCancelled ReviewStatus = "cancelled"
)

// RunStatus is the status of a run; see the state machine in the comment of package loop.
type RunStatus string

const (
	RunRunning   RunStatus = "running"
	RunReviewing RunStatus = "reviewing" // the review did not pass and a person must decide
	RunStopped   RunStatus = "stopped"
	RunCompleted RunStatus = "completed"
	RunSkipped   RunStatus = "skipped"
	RunAborted   RunStatus = "aborted"
	RunDied      RunStatus = "died" // never recorded: the state of a running run whose process has ended
)

// Over reports whether a run with the status can never go on.
func (s RunStatus) Over() bool { return s == RunCompleted || s == RunSkipped || s == RunAborted }
