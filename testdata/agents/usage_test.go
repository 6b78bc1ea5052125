package agents

import (
	"github.com/git-runr/git-runr/testdata/agents/model"
)

// usage is what a run records about its calls.
type usage struct {
	Calls  int
	Input  int     `json:"input_tokens"`
	Cached int     `json:"cached_tokens"`
	Output int     `json:"output_tokens"`
	Cost   float64 `json:"cost_usd"`
}

// countedBy checks that the recorded usage of a run equals the model's own counts.
func (w *world) countedBy(calls int) {
	w.t.Helper()
	var run struct{ Usage *usage }
	w.shown(&run, "show", "latest", "--json")
	if run.Usage == nil {
		w.t.Log("SKIP tokens and cost: runs do not record them")
		return
	}
	if w.tool.name == "copilot" {
		w.t.Log("SKIP tokens: copilot tells none of a provider that is not its own")
		return
	}
	counted, u := w.Counted(func(r model.Request) bool { return len(r.Tools) > 0 }), *run.Usage
	w.t.Logf("%-9s recorded %+v, counted %+v", w.tool.name, u, counted)
	if u.Calls != calls {
		w.t.Errorf("%d calls are recorded, want %d", u.Calls, calls)
	}
	if w.tool.byACP { // which reports less: gemini no cached tokens, opencode only the last message, qwen nothing
		if u.Input > counted.Input || u.Cached > counted.Cached || u.Output > counted.Output {
			w.t.Errorf("recorded %+v, and the model counted %+v", u, counted)
		}
		return
	}
	if got := (model.Usage{Input: u.Input, Cached: u.Cached, Output: u.Output}); got != counted {
		w.t.Errorf("recorded %+v, and the model counted %+v", got, counted)
	}
	if tells := w.tool.name == "claude"; tells != (u.Cost > 0) {
		w.t.Errorf("a cost of %v is recorded", u.Cost)
	}
}
