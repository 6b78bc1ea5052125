package record

import (
	"github.com/git-runr/git-runr/loop/spend"
)

// eventSpent maps the names of event types to functions that return the agent and the usage of its calls.
var eventSpent = map[string]func(Event) (agent string, spent spend.Spent){}

// spender is the payload of an event that records calls of an agent.
type spender interface {
	took(Event) (agent string, spent spend.Spent)
}

// SpentOn returns the agent that e records calls of, and their usage.
func SpentOn(e Event) (agent string, spent spend.Spent) {
	if of := eventSpent[e.Type]; of != nil {
		return of(e)
	}
	return "", spend.Spent{}
}
