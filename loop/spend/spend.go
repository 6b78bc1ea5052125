// Package spend is what calls of agents took, and how that is added up and told.
package spend

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/duration"
)

// Usage is what calls of agents took, as their tools counted it. What a tool does not
// tell is 0, and Calls says of how many calls it is the sum.
type Usage struct {
	Calls  int     `json:"calls,omitempty"`         // of agents
	Input  int64   `json:"input_tokens,omitempty"`  // with those that a cache had
	Cached int64   `json:"cached_tokens,omitempty"` // of Input, those that a cache had
	Output int64   `json:"output_tokens,omitempty"` // with those of reasoning
	Cost   float64 `json:"cost_usd,omitempty"`      // US dollars, where the tool tells it
	// Time is how long the calls took, one after the other, by the clock of who made them.
	Time duration.Duration `json:"time_ms,omitzero"`
}

// Session is what a tool keeps of a call, so that a later one can go on with it.
type Session struct {
	ID    string `json:"id"`
	Taken Usage  `json:"taken,omitzero"` // as the tool counted it at the end of the call
}

// Tokens are those of input and output.
func (u Usage) Tokens() int64 { return addCounts(u.Input, u.Output) }

// Add is the sum of both. A cost is exact to a millionth of a cent.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: int(addCounts(int64(u.Calls), int64(v.Calls))), Input: addCounts(u.Input, v.Input), Cached: addCounts(u.Cached, v.Cached), Output: addCounts(u.Output, v.Output),
		Cost: math.Round((u.Cost+v.Cost)*1e8) / 1e8, Time: duration.Duration(addCounts(int64(u.Time), int64(v.Time))),
	}
}

// addCounts is a + b, where what a log claims must not overflow.
func addCounts(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// maxCost is more than anybody pays: what a log claims must stay a number in JSON.
const maxCost = 1e12

// sane is u as a log may have it.
func (u Usage) sane() Usage {
	return Usage{max(0, u.Calls), max(0, u.Input), max(0, u.Cached), max(0, u.Output), min(max(0, u.Cost), maxCost), max(0, u.Time)}
}

// String is "12,345 tokens, $0.42", without what no tool told; "" where none told anything.
func (u Usage) String() string {
	var parts []string
	if n := u.Tokens(); n == 1 {
		parts = append(parts, "1 token")
	} else if n > 0 {
		parts = append(parts, Thousands(n)+" tokens")
	}
	if u.Cost > 0 {
		parts = append(parts, Dollars(u.Cost))
	}
	return strings.Join(parts, ", ")
}

// Thousands is n with a comma before every three digits.
func Thousands(n int64) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Dollars is an amount of US dollars: cents, and what is less than a cent as it is.
func Dollars(amount float64) string {
	switch {
	case amount >= 0.01 || amount == 0:
		return fmt.Sprintf("$%.2f", amount)
	case amount >= 0.0001:
		return fmt.Sprintf("$%.4f", amount)
	}
	return "less than $0.0001"
}

// Spent is what the calls took that an answer, or the want of one, is the end of.
type Spent struct {
	Usage Usage `json:"usage,omitzero"`
	// Calls are those that were made, in order, where there is more to tell of them than
	// that the agent that was asked answered, or did not.
	Calls []Call `json:"calls,omitempty"`
}

// Call is one call of an agent.
type Call struct {
	Agent  string            `json:"agent"`
	Reason string            `json:"reason,omitempty"` // why it gave no answer: a stop reason
	Detail string            `json:"detail,omitempty"`
	Usage  Usage             `json:"usage,omitzero"`
	Waited duration.Duration `json:"waited_ms,omitzero"` // after it, for its quota to come back
}

// NewSpent sums up the calls that were made where agent was asked.
func NewSpent(agent string, calls []Call) Spent {
	spent := Spent{Calls: calls}
	plain := true
	for _, c := range calls {
		spent.Usage = spent.Usage.Add(c.Usage)
		plain = plain && c.Agent == agent && (c.Reason == "" || len(calls) == 1)
	}
	if plain {
		spent.Calls = nil
	}
	return spent
}

// Answered are those who gave an answer where agent was asked, each once.
func (s Spent) Answered(agent string) []string {
	if len(s.Calls) == 0 {
		return []string{agent}
	}
	var names []string
	for _, c := range s.Calls {
		if c.Reason == "" && !slices.Contains(names, c.Agent) {
			names = append(names, c.Agent)
		}
	}
	return names
}

// By says who answered where agent was asked: "codex in place of claude". Where nobody
// did it is agent.
func (s Spent) By(agent string) string {
	names := s.Answered(agent)
	switch {
	case len(names) == 0:
		return agent
	case slices.Contains(names, agent):
		return strings.Join(names, " and ")
	}
	return strings.Join(names, " and ") + " in place of " + agent
}

// PassedOver says why those gave no answer who were asked before somebody did, a line each.
func (s Spent) PassedOver() []string {
	var lines []string
	for i, c := range s.Calls {
		if c.Reason == "" || i == len(s.Calls)-1 {
			continue // the last one is told of as the failure of all
		}
		line := fmt.Sprintf("%s gave no answer: %s", c.Agent, c.Reason)
		if c.Detail != "" {
			line += ": " + c.Detail
		}
		if c.Waited > 0 {
			line += fmt.Sprintf("; waited %s", c.Waited)
		}
		lines = append(lines, line)
	}
	return lines
}

// Spending is what agents took, by their names.
type Spending map[string]Usage

// Add counts what was spent where agent was asked, and gives its sum.
func (s *Spending) Add(agent string, spent Spent) Usage {
	calls := spent.Calls
	if len(calls) == 0 {
		calls = []Call{{Agent: agent, Usage: spent.Usage}}
	}
	sum := Usage{}
	for _, c := range calls {
		if c.Usage = c.Usage.sane(); c.Usage == (Usage{}) {
			continue
		}
		if *s == nil {
			*s = Spending{}
		}
		(*s)[c.Agent], sum = (*s)[c.Agent].Add(c.Usage), sum.Add(c.Usage)
	}
	return sum
}

// Join adds what t has.
func (s *Spending) Join(t Spending) {
	for agent, u := range t {
		s.Add(agent, Spent{Usage: u})
	}
}

// Total is the sum over all agents.
func (s Spending) Total() Usage {
	sum := Usage{}
	for _, agent := range s.Agents() {
		sum = sum.Add(s[agent])
	}
	return sum
}

// Agents are the names, sorted.
func (s Spending) Agents() []string { return slices.Sorted(maps.Keys(s)) }

// String is the sum, and where there are several agents what each took: "12,345 tokens,
// $0.42: claude 12,000 tokens, $0.42; codex 345 tokens"; "" where no tool told anything.
func (s Spending) String() string {
	text := s.Total().String()
	if len(s) < 2 || text == "" {
		return text
	}
	var each []string
	for _, agent := range s.Agents() {
		told := s[agent].String()
		if told == "" {
			told = "does not tell"
		}
		each = append(each, agent+" "+told)
	}
	return text + ": " + strings.Join(each, "; ")
}
