package landing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

func rewordOf(run record.Run) func([]gitstore.Commit) []gitstore.Commit {
	return func(work []gitstore.Commit) []gitstore.Commit { return withTrailers(run, work) }
}

// withTrailers returns the commits of a run's work, oldest first, with the run's trailers where an attempt's
// agent committed without them. What people committed between attempts keeps its message.
func withTrailers(run record.Run, work []gitstore.Commit) []gitstore.Commit {
	work = slices.Clone(work)
	attempts := map[gitstore.ID]record.Attempt{}
	for _, a := range run.GoodAttempts() {
		attempts[a.Commit] = a
	}
	var of record.Attempt // that the commit belongs to; without a number for none
	for i, c := range slices.Backward(work) {
		if a, ends := attempts[c.ID]; ends {
			of = a
		} else if c.ID == of.From {
			of = record.Attempt{}
		}
		ours := fmt.Sprintf("Runr-Run: %s\n", run.ID)
		if of.Number > 0 && !strings.Contains(c.Message+"\n", "\n"+ours) {
			work[i].Message = withTrailer(c.Message, fmt.Sprintf("%sRunr-Attempt: %d\n", ours, of.Number))
		}
	}
	return work
}

// withTrailer ends message with lines: in its last paragraph where that is of trailers, else below it. A commit
// without a message stays without one, for the lines would be its subject.
func withTrailer(message, lines string) string {
	text := strings.TrimRight(message, " \t\r\n")
	if text == "" {
		return message
	}
	if at := strings.LastIndex(text, "\n\n"); at >= 0 && !slices.ContainsFunc(strings.Split(text[at+2:], "\n"), isProse) {
		return text + "\n" + lines
	}
	return text + "\n\n" + lines
}

// isProse reports whether line is not a trailer.
func isProse(line string) bool {
	name, _, found := strings.Cut(line, ": ")
	return !found || name == "" || strings.ContainsAny(name, " \t")
}
