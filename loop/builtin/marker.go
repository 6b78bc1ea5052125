package builtin

import (
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
)

// conflictMark matches the line that begins or ends a conflict.
var conflictMark = lazy(`^(?:<{7}|>{7}) .*\S`)

const markerFix = "resolve the conflict and remove the marker lines"

// conflictMarkers finds conflict markers in the added lines: one finding for each whole
// conflict, and one for each single begin or end line. A row of equals signs alone is
// ignored, because many documents underline headings with it.
func conflictMarkers(f File, k kind, lines []codeLine) []reply.Finding {
	var found []reply.Finding
	begin := 0 // index + 1 of the line that opened the conflict
	for i, l := range lines {
		if !l.added {
			continue
		}
		switch mark := conflictMark().FindString(l.Text); {
		case strings.HasPrefix(mark, "<"):
			if begin > 0 {
				found = append(found, markerFinding(f, k, lines[begin-1], 0))
			}
			begin = i + 1
		case mark != "":
			if begin > 0 {
				found = append(found, markerFinding(f, k, lines[begin-1], l.Number))
			} else if !k.docs {
				found = append(found, markerFinding(f, k, l, 0))
			}
			begin = 0
		}
	}
	if begin > 0 {
		found = append(found, markerFinding(f, k, lines[begin-1], 0))
	}
	return found
}

func markerFinding(f File, k kind, l codeLine, end int) reply.Finding {
	severity := reply.Critical
	switch {
	case k.patch, k.fixture && l.inString, k.docs && l.inString:
		severity = reply.Note
	}
	issue := "an unresolved merge conflict"
	if end == 0 {
		issue = "a marker line of an unresolved merge conflict"
	}
	return reply.Finding{
		Severity: severity, File: f.Path, Line: l.Number, EndLine: end,
		Issue: issue, Fix: markerFix, Rule: "conflict-marker",
	}
}
