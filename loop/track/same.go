package track

import (
	"slices"

	"git-runr/loop/reply"
)

// At is one finding of several lists.
type At struct{ List, Index int }

// Same puts together the findings that mean the same, of lists that were made
// independently of one version: each list is one reviewer's. They say the same as
// requests of two rounds do, and of lines that are near one another. Groups are in the
// order in which they were first said, members in the order of their lists; each finding
// is in one group, and of a list at most one is in it.
func Same(lists [][]reply.Finding) [][]At {
	var threads []*thread
	groups := map[*thread][]At{}
	for i, findings := range lists {
		asks := make([]ask, len(findings))
		for j, f := range findings {
			asks[j] = findingAsk(f)
			asks[j].at = j
		}
		link := linkAsks(threads, asks, near)
		for j, a := range asks {
			t := link[j]
			if t == nil {
				t = &thread{}
				threads = append(threads, t)
			}
			if t.newestAsk, t.seen = a, append(t.seen, i); !slices.Contains(t.ids, a.id) {
				t.ids = append(t.ids, a.id)
			}
			groups[t] = append(groups[t], At{i, j})
		}
	}
	same := make([][]At, len(threads))
	for i, t := range threads {
		same[i] = groups[t]
	}
	return same
}

// nearLines is how far apart two reviewers may see one fault: one names the call, the other
// the line below it that fails.
const nearLines = 5

// near reports whether two findings of one version may be of the same place: of the same
// file, or of none, and where both name lines within nearLines of one another.
func near(a, b ask) bool {
	switch {
	case (a.file == "") != (b.file == "") || a.file != "" && !endsAlike(a.file, b.file, "/"):
		return false
	case a.line == 0 || b.line == 0:
		return true
	}
	return a.line <= max(b.end, b.line)+nearLines && b.line <= max(a.end, a.line)+nearLines
}
