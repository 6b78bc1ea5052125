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

// withTrailers returns the commits of a run's work, oldest first, and adds the run's trailers to commits that an
// attempt's agent made without them. It does not change the messages of commits by people.
func withTrailers(run record.Run, work []gitstore.Commit) []gitstore.Commit {
	work = slices.Clone(work)
	attempts := map[gitstore.ID]record.Attempt{}
	for _, a := range run.GoodAttempts() {
		attempts[a.Commit] = a
	}
	var of record.Attempt // the attempt of the commit; its Number is 0 for none
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

// withTrailer adds lines to message: to its last paragraph if that consists of trailers, else as a new paragraph. It
// leaves an empty message empty, because the lines would become its subject.
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
