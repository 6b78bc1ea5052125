package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-runr/git-runr/diagnose"
)

// Results of runs and reviews are shown as pictures that are made here and contain no script.
func TestMetricsPage(t *testing.T) {
	s := newSite(t)
	shows(t, s.page("/metrics"), "No run and no review in this time", "git runr metrics")
	s.stopped()
	s.submitted()
	page := s.page("/metrics?days=7")
	checkHTML(t, page)
	shows(t, page, "Stops by reason", "Findings by severity", "Findings by rule and week", "2 in the week of ", `<rect class="bad"`, `aria-current="page">7 days`)
	shows(t, s.page("/metrics?days=x"), `aria-current="page">30 days`)
	shows(t, s.ask("GET", "/runs", "", s.asPerson()+"; runr-tint=blind; runr-rows=dense; runr-wrap=off").want(200).text, `data-tint="blind" data-rows="dense" data-wrap="off"`)
}

// The rounds to a pass are a histogram that keeps empty bars; larger values are counted in the last bar.
func TestPassedIn(t *testing.T) {
	if c := passedIn(diagnose.RunMetrics{}); len(c.Bars) != 0 {
		t.Errorf("of no run: %+v", c)
	}
	m := diagnose.RunMetrics{PassedIn: []int{4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1}}
	m.Rounds.Count = 7
	c := passedIn(m)
	if len(c.Bars) != barsShown || c.Bars[0] != (bar{"1 round", "good", 4, 100}) || c.Bars[1] != (bar{"2 rounds", "good", 0, 0}) || c.Bars[2].Width != 50 || c.Bars[9] != (bar{"10 rounds or more", "good", 1, 25}) {
		t.Errorf("%+v", c)
	}
}

// Weeks without findings are shown, and the height of each column grows with its count.
func TestWeekChart(t *testing.T) {
	monday := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	m := diagnose.Metrics{}
	if c := newWeekChart(m, monday, monday); c.Rows != nil {
		t.Errorf("of nothing: %+v", c)
	}
	m.Findings.Weeks = []diagnose.Week{{Begins: monday, Findings: 100, Rules: map[string]int{"todo": 1}}, {Begins: monday.AddDate(0, 0, 14), Findings: 50, Rules: map[string]int{"todo": 50}}}
	m.Findings.Rules = []diagnose.Tally{{Name: "todo", Count: 51}}
	c := newWeekChart(m, monday.AddDate(0, 0, -1), monday.AddDate(0, 0, 20))
	got := ""
	for _, r := range c.Rows {
		got += fmt.Sprint(r.Name, " ", r.Total, ":")
		for _, column := range r.Columns {
			got += fmt.Sprint(" ", column.Count, "/", column.Height)
		}
		got += "; "
	}
	if want := "all findings 150: 0/0 100/32 0/0 50/16; todo 51: 0/0 1/2 0/0 50/16; "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
