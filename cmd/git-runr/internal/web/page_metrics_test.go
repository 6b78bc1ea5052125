package web

import "testing"

// The page of metrics is a table with a bar for each count, without a script.
func TestMetricsPage(t *testing.T) {
	s := newSite(t)
	shows(t, s.page("/metrics"), "No runs and no reviews in this period", "git runr metrics")
	s.stopped()
	s.submitted()
	page := s.page("/metrics")
	checkHTML(t, page)
	shows(t, page, "<caption>Stops", "<caption>Findings", `<rect class="work" width="100%"`)
	shows(t, s.ask("GET", "/runs", "", s.asPerson()+"; runr-tint=blind; runr-rows=dense; runr-wrap=off").want(200).text,
		`data-tint="blind" data-rows="dense" data-wrap="off"`)
}
