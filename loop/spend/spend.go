// Package spend records what calls of agents cost in tokens, money and time, sums it up and formats it.
package spend

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
)

// Usage is the usage of agent calls as their tools report it. A value that a tool does not report is 0; Calls is the
// number of calls in the sum.
type Usage struct {
	Calls  int     `json:"calls,omitempty"`         // of agents
	Input  int64   `json:"input_tokens,omitempty"`  // including cached ones
	Cached int64   `json:"cached_tokens,omitempty"` // those of Input that came from a cache
	Output int64   `json:"output_tokens,omitempty"` // including reasoning
	Cost   float64 `json:"cost_usd,omitempty"`      // US dollars, if the tool reports it
	// Time is the sum of the calls' durations, measured by the caller.
	Time duration.Duration `json:"time_ms,omitzero"`
}

// Session identifies what a tool keeps of a call, so that a later call can continue it.
type Session struct {
	ID    string `json:"id"`
	Taken Usage  `json:"taken,omitzero"` // the tool's own count at the end of the call
}

// Tokens returns the sum of input and output tokens.
func (u Usage) Tokens() int64 { return addCounts(u.Input, u.Output) }

// Add returns the sum of both. A cost is exact to a millionth of a cent.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls: int(addCounts(int64(u.Calls), int64(v.Calls))), Input: addCounts(u.Input, v.Input),
		Cached: addCounts(u.Cached, v.Cached), Output: addCounts(u.Output, v.Output),
		Cost: math.Round((u.Cost+v.Cost)*1e8) / 1e8, Time: duration.Duration(addCounts(int64(u.Time), int64(v.Time))),
	}
}

// addCounts returns a + b, or the maximum instead of an overflow: a log may claim any number.
func addCounts(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// maxCost is more than anybody pays: a sum of costs from logs must stay a number in JSON.
const maxCost = 1e12

// sane returns u within the limits for values from a log.
func (u Usage) sane() Usage {
	return Usage{max(0, u.Calls), max(0, u.Input), max(0, u.Cached), max(0, u.Output), min(max(0, u.Cost), maxCost),
		max(0, u.Time)}
}

// String formats u as "12,345 tokens, $0.42" without unreported values, or "" if nothing was reported.
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

// Thousands formats n with a comma before every three digits.
func Thousands(n int64) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Dollars formats an amount of US dollars in cents, with more digits below a cent.
func Dollars(amount float64) string {
	switch {
	case amount >= 0.01 || amount == 0:
		return fmt.Sprintf("$%.2f", amount)
	case amount >= 0.0001:
		return fmt.Sprintf("$%.4f", amount)
	}
	return "less than $0.0001"
}

// Spent is the usage of all calls that led to one answer or one failure.
type Spent struct {
	Usage Usage `json:"usage,omitzero"`
	// Calls lists the calls in order. It is empty if a single agent, the requested one, answered or failed.
	Calls []Call `json:"calls,omitempty"`
}

// Call is one call of an agent.
type Call struct {
	Agent  string            `json:"agent"`
	Reason string            `json:"reason,omitempty"` // why it gave no answer: a stop reason
	Detail string            `json:"detail,omitempty"`
	Usage  Usage             `json:"usage,omitzero"`
	Waited duration.Duration `json:"waited_ms,omitzero"` // afterwards, for its quota to be restored
}

// NewSpent sums up the calls made to get an answer from agent.
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

// Answered returns the agents that answered when agent was requested, each once.
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

// By returns who answered when agent was requested: "codex in place of claude". If nobody did, it returns agent.
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

// PassedOver returns why agents gave no answer before another one was asked, one line each.
func (s Spent) PassedOver() []string {
	var lines []string
	for i, c := range s.Calls {
		if c.Reason == "" || i == len(s.Calls)-1 {
			continue // the last one is reported as the failure of all
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

// Spending is usage by the names of agents.
type Spending map[string]Usage

// Add adds what was spent when agent was requested, and returns its sum.
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

// Join adds the usage in t.
func (s *Spending) Join(t Spending) {
	for agent, u := range t {
		s.Add(agent, Spent{Usage: u})
	}
}

// Total returns the sum over all agents.
func (s Spending) Total() Usage {
	sum := Usage{}
	for _, agent := range s.Agents() {
		sum = sum.Add(s[agent])
	}
	return sum
}

// Agents returns the names, sorted.
func (s Spending) Agents() []string { return slices.Sorted(maps.Keys(s)) }

// String formats the sum and, if there are several agents, the usage of each: "12,345 tokens, $0.42: claude 12,000
// tokens, $0.42; codex 345 tokens". It returns "" if no tool reported anything.
func (s Spending) String() string {
	text := s.Total().String()
	if len(s) < 2 || text == "" {
		return text
	}
	told := each.Of(s.Agents(), func(agent string) string {
		return agent + " " + cmp.Or(s[agent].String(), "does not tell")
	})
	return text + ": " + strings.Join(told, "; ")
}
