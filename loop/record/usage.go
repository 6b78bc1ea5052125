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

func (a Attempt) took(Event) (string, spend.Spent)      { return a.Agent, a.Spent }
func (r RoundPayload) took(Event) (string, spend.Spent) { return r.Reviewer, r.Spent }
func (s Submission) took(Event) (string, spend.Spent)   { return s.Reviewer, s.Spent }
func (j Judgement) took(Event) (string, spend.Spent)    { return j.By, j.Spent }
func (f Failure) took(e Event) (string, spend.Spent)    { return e.Source, f.Spent }

// SpentOn is what e says that calls took, and who was asked.
func SpentOn(e Event) (agent string, spent spend.Spent) {
	if of := eventSpent[e.Type]; of != nil {
		return of(e)
	}
	return "", spend.Spent{}
}
