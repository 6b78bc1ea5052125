package landing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/record"
)

// withTrailers returns a function that adds the run's trailers to those of its commits, oldest first, that an attempt's
// agent made without them. It does not change the messages of commits by people.
func withTrailers(run record.Run) func([]gitstore.Commit) []gitstore.Commit {
	ours := fmt.Sprintf("Runr-Run: %s\n", run.ID)
	return func(work []gitstore.Commit) []gitstore.Commit {
		work = slices.Clone(work)
		var of record.Attempt // the attempt of the commit; its Number is 0 for none
		for i, c := range slices.Backward(work) {
			a, ends := each.First(run.GoodAttempts(), func(a record.Attempt) bool { return a.Commit == c.ID })
			if ends || c.ID == of.From {
				of = a
			}
			if of.Number > 0 && !strings.Contains(c.Message+"\n", "\n"+ours) {
				work[i].Message = withTrailer(c.Message, fmt.Sprintf("%sRunr-Attempt: %d\n", ours, of.Number))
			}
		}
		return work
	}
}

// endsInTrailers matches a message whose last paragraph consists of trailers.
var endsInTrailers = lazyre.Compile(`\n\n(?:[^ \t\n]+: .*\n)*[^ \t\n]+: .*$`)

// withTrailer adds lines to message: to its last paragraph if that consists of trailers, else as a new paragraph. It
// leaves an empty message empty, because the lines would become its subject.
func withTrailer(message, lines string) string {
	text := strings.TrimRight(message, " \t\r\n")
	if text == "" {
		return message
	}
	if endsInTrailers().MatchString(text) {
		return text + "\n" + lines
	}
	return text + "\n\n" + lines
}
