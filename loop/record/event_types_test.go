package record_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop/record"
)

// The report shows every event type that changes a run, except the request of a review by a person.
func TestReportKnowsEveryEventOfARun(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	start := record.Event{ID: "0001", Type: record.EventRunStarted.Name, Run: "20260102030405-abcdef", Timestamp: at,
		Payload: json.RawMessage(`{"task":"x"}`)}
	run, bad := record.FoldRun([]record.Event{start})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	if !slices.Contains(record.RunEvents(), record.EventRunLanded.Name) {
		t.Fatalf("events of runs: %q", record.RunEvents())
	}
	for _, name := range record.RunEvents() {
		e := record.Event{ID: "0002", Type: name, Run: run.ID, Timestamp: at, Payload: json.RawMessage(`{}`)}
		report := diagnose.NewReport(diagnose.ReportInput{Run: run, Events: []record.Event{e}})
		known := len(report.Timeline) == 1 && report.Timeline[0].Kind != "other"
		if !known && name != record.EventReviewRequested.Name {
			t.Errorf("the report does not know %s: %+v", name, report.Timeline)
		}
	}
}
