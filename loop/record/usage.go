package record

// Usage is what calls of agents took, as their tools counted it. What a tool does not
// tell is 0, and Calls says of how many calls it is the sum.
type Usage struct {
	Calls  int     `json:"calls,omitempty"`         // of agents
	Input  int64   `json:"input_tokens,omitempty"`  // with those that a cache had
	Cached int64   `json:"cached_tokens,omitempty"` // of Input, those that a cache had
	Output int64   `json:"output_tokens,omitempty"` // with those of reasoning
	Cost   float64 `json:"cost_usd,omitempty"`      // US dollars, where the tool tells it
}

// Session is what a tool keeps of a call, so that a later one can go on with it.
type Session struct {
	ID    string `json:"id"`
	Taken Usage  `json:"taken,omitzero"` // as the tool counted it at the end of the call
}

// Tokens are those of input and output.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Add is the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{Calls: u.Calls + v.Calls, Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Output: u.Output + v.Output, Cost: u.Cost + v.Cost}
}
