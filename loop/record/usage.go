package record

import (
	"github.com/git-runr/git-runr/loop/spend"
)

// eventSpent are what events say that calls took and who was asked, by the names of their types.
var eventSpent = map[string]func(Event) (agent string, spent spend.Spent){}

// spender is the payload of an event that ends calls of agents.
type spender interface {
	took(Event) (agent string, spent spend.Spent)
}

// SpentOn is what e says that calls took, and who was asked.
func SpentOn(e Event) (agent string, spent spend.Spent) {
	if of := eventSpent[e.Type]; of != nil {
		return of(e)
	}
	return "", spend.Spent{}
}
