package web

import (
	"net/http"

	"github.com/git-runr/git-runr/diagnose"
)

// metricsDays is how far back the page of metrics looks.
const metricsDays = 30

func (p *pages) metrics(w http.ResponseWriter, r *http.Request) error {
	m, err := p.Measure(r.Context(), p.Now().AddDate(0, 0, -metricsDays))
	if err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "metrics.html", struct {
		page
		Days int
		diagnose.Metrics
	}{p.page(r, "Metrics", "metrics"), metricsDays, m})
}

// share returns the count of a row in percent of the highest of its group, for the width of a bar.
func share(of diagnose.MetricGroup, row diagnose.MetricRow) int {
	most := 1
	for _, r := range of.Rows {
		most = max(most, r.Count)
	}
	return 100 * row.Count / most
}
