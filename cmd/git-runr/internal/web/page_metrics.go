package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-runr/diagnose"
)

// metricsView is the page of what runs and reviews came to.
type metricsView struct {
	page
	Days    int
	Choices []int
	Empty   bool
	Charts  []chart
}

// chart is bars of one kind, in units of its picture.
type chart struct {
	Title  string
	Height int
	Bars   []bar
}

type bar struct {
	Name, Class string
	Count       int
	Y, Width    int
}

const (
	barsLeft  = 230 // for the names
	barsWide  = 300
	barsStep  = 24
	barsShown = 10
)

// newChart draws tallies; those of nothing are left out.
func newChart(title, class string, tallies []diagnose.Tally) chart {
	c := chart{Title: title}
	most := 1
	for _, t := range tallies {
		most = max(most, t.Count)
	}
	for _, t := range tallies {
		if t.Count == 0 || len(c.Bars) == barsShown {
			continue
		}
		name := strings.ReplaceAll(t.Name, "_", " ")
		if runes := []rune(name); len(runes) > 34 {
			name = "…" + string(runes[len(runes)-33:])
		}
		c.Bars = append(c.Bars, bar{name, class, t.Count, len(c.Bars) * barsStep, max(3, t.Count*barsWide/most)})
	}
	c.Height = len(c.Bars) * barsStep
	return c
}

func charts(m diagnose.Metrics) []chart {
	tally := func(name string, n int) diagnose.Tally { return diagnose.Tally{Name: name, Count: n} }
	all := []chart{
		newChart("Runs by what became of them", "work", []diagnose.Tally{tally("completed", m.Runs.Completed), tally("landed", m.Runs.Landed), tally("running", m.Runs.Running),
			tally("reviewing", m.Runs.Reviewing), tally("stopped", m.Runs.Stopped), tally("skipped", m.Runs.Skipped), tally("aborted", m.Runs.Aborted)}),
		newChart("Rounds to pass", "good", []diagnose.Tally{tally("half of the runs, at most", m.Runs.Rounds.P50), tally("nine of ten, at most", m.Runs.Rounds.P90), tally("the longest", m.Runs.Rounds.Max)}),
		newChart("Stops by reason", "bad", m.Stops),
		newChart("Reviews", "work", []diagnose.Tally{tally("asked for", m.Reviews.Requested), tally("passed", m.Reviews.Passed), tally("not passed", m.Reviews.NotPassed), tally("resolved", m.Reviews.Resolved)}),
		newChart("Findings by severity", "bad", []diagnose.Tally{tally("critical", m.Findings.Critical), tally("warning", m.Findings.Warning), tally("note", m.Findings.Note)}),
		newChart("Findings by rule", "bad", m.Findings.Rules),
		newChart("Files with most findings", "bad", m.Findings.Files),
		newChart("Interventions by reason", "work", m.Interventions),
	}
	return slices.DeleteFunc(all, func(c chart) bool { return len(c.Bars) == 0 })
}

func (p *pages) metrics(w http.ResponseWriter, r *http.Request) error {
	v := metricsView{page: p.page(r, "Metrics", "metrics"), Days: 30, Choices: []int{7, 30, 90, 365}}
	if n, err := strconv.Atoi(r.FormValue("days")); err == nil && n > 0 && n <= 3650 {
		v.Days = n
	}
	now := p.Now()
	m, err := p.Measure(r.Context(), now.AddDate(0, 0, -v.Days), now.Add(time.Millisecond))
	if err != nil {
		return err
	}
	v.Empty, v.Charts = m.Empty(), charts(m)
	return p.show(w, http.StatusOK, "metrics.html", v)
}
