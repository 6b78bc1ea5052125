package record

import (
	"fmt"
	"slices"
)

// inboxStatus is what is there to be addressed.
func inboxStatus(status string) bool {
	return status == string(ReviewSubmitted) || status == string(ReviewClaimed)
}

// WaitingStatus is what waits for somebody: to be reviewed, or to be addressed.
func WaitingStatus(status string) bool { return status == string(ReviewOpen) || inboxStatus(status) }

// StatusWaiting is the --status of all that waits for somebody: what a person is shown.
const StatusWaiting = "waiting"

// StatusFilter reads a --status value: inbox (submitted and claimed: what an agent is
// shown, also for ""), StatusWaiting (open ones too), all, or one status.
func StatusFilter(name string) (func(string) bool, error) {
	switch name {
	case "", "inbox":
		return inboxStatus, nil
	case StatusWaiting:
		return WaitingStatus, nil
	case "all":
		return func(string) bool { return true }, nil
	}
	if slices.Contains([]ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed, ReviewResolved, ReviewCancelled}, ReviewStatus(name)) {
		return func(status string) bool { return status == name }, nil
	}
	return nil, fmt.Errorf("status %q is none of waiting, inbox, all, open, submitted, claimed, resolved, cancelled", name)
}

// ReviewStatus is where a review stands; see the state machine in the package comment.
type ReviewStatus string

const (
	ReviewOpen      ReviewStatus = "open"
	ReviewSubmitted ReviewStatus = "submitted"
	ReviewClaimed   ReviewStatus = "claimed"
	ReviewResolved  ReviewStatus = "resolved"
	ReviewCancelled ReviewStatus = "cancelled"
)

// RunStatus is where a run stands; see the state machine in the comment of package loop.
type RunStatus string

const (
	RunRunning   RunStatus = "running"
	RunReviewing RunStatus = "reviewing" // the review did not pass: a person must judge
	RunStopped   RunStatus = "stopped"
	RunCompleted RunStatus = "completed"
	RunSkipped   RunStatus = "skipped"
	RunAborted   RunStatus = "aborted"
)

// Over reports whether a run of that status never goes on again.
func (s RunStatus) Over() bool { return s == RunCompleted || s == RunSkipped || s == RunAborted }
