package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/prose"
)

// metricsView is the page with statistics of runs and reviews.
type metricsView struct {
	page
	Days    int
	Choices []int
	Empty   bool
	Charts  []chart
	Weeks   weekChart
}

// chart is a table whose counts are also shown as bars.
type chart struct {
	Title, Note string
	Bars        []bar
}

type bar struct {
	Name, Class string
	Count       int
	Width       float64 // in percent of the longest
}

const (
	barsShown  = 10 // per chart
	weekHeight = 32 // of the columns in a week chart's row, in pixels
	weekTop    = 14 // space above the columns for the numbers, in pixels
	weekNumber = 14 // up to how many weeks have numbers above their columns
)

// newChart makes a chart of tallies, omitting those that are 0.
func newChart(title, class string, tallies []diagnose.Tally) chart {
	return chart{Title: title, Bars: bars(class, slices.DeleteFunc(slices.Clone(tallies), func(t diagnose.Tally) bool { return t.Count == 0 }))}
}

func bars(class string, tallies []diagnose.Tally) (bars []bar) {
	most := 1
	for _, t := range tallies {
		most = max(most, t.Count)
	}
	for _, t := range tallies[:min(len(tallies), barsShown)] {
		bars = append(bars, bar{strings.ReplaceAll(t.Name, "_", " "), class, t.Count, float64(t.Count) * 100 / float64(most)})
	}
	return bars
}

// passedIn returns the histogram of the rounds that runs needed to pass. The last bar includes all higher numbers.
func passedIn(m diagnose.RunMetrics) chart {
	if m.Rounds.Count == 0 {
		return chart{}
	}
	var tallies []diagnose.Tally
	for i, n := range m.PassedIn {
		if i < barsShown {
			tallies = append(tallies, diagnose.Tally{Name: prose.Count(i+1, "round"), Count: n})
			continue
		}
		tallies[barsShown-1].Name = fmt.Sprintf("%d rounds or more", barsShown)
		tallies[barsShown-1].Count += n
	}
	note := fmt.Sprintf("Half of the runs pass in %d or fewer, nine of ten in %d, the longest took %d.", m.Rounds.P50, m.Rounds.P90, m.Rounds.Max)
	return chart{"Rounds to pass", note, bars("good", tallies)}
}

// weekChart is a table of findings with one column per week, drawn inside a single cell.
type weekChart struct {
	First, Last time.Time // the first and last week
	Rows        []weekRow
}

type weekRow struct {
	Name    string
	Total   int
	Columns []weekColumn
}

// weekColumn is one week. X and Width are in percent of the cell, Y and Height in pixels.
type weekColumn struct {
	Week     time.Time
	Count    int
	X, Width float64
	Y        int
	Height   int
	Numbered bool
}

// LabelX returns the middle of the column.
func (c weekColumn) LabelX() float64 { return c.X + c.Width/2 }

// newWeekChart draws the findings from the week of since to the week of until: all of them, and those of the most
// frequent rules.
func newWeekChart(m diagnose.Metrics, since, until time.Time) weekChart {
	if len(m.Findings.Weeks) == 0 {
		return weekChart{}
	}
	c := weekChart{First: diagnose.WeekOf(since), Last: diagnose.WeekOf(until)}
	weeks, most := map[time.Time]diagnose.Week{}, 1
	for _, w := range m.Findings.Weeks {
		weeks[w.Begins], most = w, max(most, w.Findings)
	}
	row := func(name string, count func(diagnose.Week) int) {
		r := weekRow{Name: name}
		n := int(c.Last.Sub(c.First)/(7*24*time.Hour)) + 1
		for i := range n {
			begins := c.First.AddDate(0, 0, 7*i)
			column := weekColumn{Week: begins, Count: count(weeks[begins]), X: float64(100*i) / float64(n), Width: 84 / float64(n), Numbered: n <= weekNumber}
			if column.Height = column.Count * weekHeight / most; column.Count > 0 {
				column.Height = max(2, column.Height)
			}
			column.Y = weekTop + weekHeight - column.Height
			r.Total += column.Count
			r.Columns = append(r.Columns, column)
		}
		c.Rows = append(c.Rows, r)
	}
	row("all findings", func(w diagnose.Week) int { return w.Findings })
	for _, rule := range m.Findings.Rules {
		row(rule.Name, func(w diagnose.Week) int { return w.Rules[rule.Name] })
	}
	return c
}

func charts(m diagnose.Metrics) []chart {
	tally := func(name string, n int) diagnose.Tally { return diagnose.Tally{Name: name, Count: n} }
	all := []chart{
		newChart("Runs by what became of them", "work", []diagnose.Tally{tally("completed", m.Runs.Completed), tally("landed", m.Runs.Landed), tally("running", m.Runs.Running),
			tally("reviewing", m.Runs.Reviewing), tally("stopped", m.Runs.Stopped), tally("skipped", m.Runs.Skipped), tally("aborted", m.Runs.Aborted)}),
		passedIn(m.Runs),
		newChart("Stops by reason", "bad", m.Stops),
		newChart("Reviews", "work", []diagnose.Tally{tally("asked for", m.Reviews.Requested), tally("passed", m.Reviews.Passed), tally("not passed", m.Reviews.NotPassed), tally("resolved", m.Reviews.Resolved)}),
		newChart("Findings by severity", "bad", []diagnose.Tally{tally("critical", m.Findings.Critical), tally("warning", m.Findings.Warning), tally("note", m.Findings.Note)}),
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
	since := now.AddDate(0, 0, -v.Days)
	m, err := p.Measure(r.Context(), since, now.Add(time.Millisecond))
	if err != nil {
		return err
	}
	v.Empty, v.Charts, v.Weeks = m.Empty(), charts(m), newWeekChart(m, since, now)
	return p.show(w, http.StatusOK, "metrics.html", v)
}
