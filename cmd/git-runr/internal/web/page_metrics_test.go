package web

import "testing"

// What runs and reviews came to is a picture each, made here, with nothing to run in it.
func TestMetricsPage(t *testing.T) {
	s := newSite(t)
	shows(t, s.page("/metrics"), "No run and no review in this time", "git runr metrics")
	s.stopped()
	s.submitted()
	page := s.page("/metrics?days=7")
	checkHTML(t, page)
	shows(t, page, "Stops by reason", "Findings by severity", `<rect class="bad"`, `aria-current="page">7 days`)
	shows(t, s.page("/metrics?days=x"), `aria-current="page">30 days`)
	shows(t, s.ask("GET", "/runs", "", s.asPerson()+"; runr-tint=blind; runr-rows=dense; runr-wrap=off").want(200).text, `data-tint="blind" data-rows="dense" data-wrap="off"`)
}
