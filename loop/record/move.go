package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/notes"
)

// A commit that is amended, rebased, squashed or merged on a forge is another one than
// was reviewed. Where the code of a review went is an event of the review, with what was
// said of the commit before, so that every clone puts the same on the new commit.

// MoveState is what became of the code that a review saw.
type MoveState string

const (
	MoveCarried MoveState = "carried" // the same change of the same content is in another commit
	MoveStale   MoveState = "stale"   // what took its place has another content: it is to be reviewed again
	MoveGone    MoveState = "gone"    // no branch has it any more, nor anything in its place
)

// Move says where the code of a review went.
type Move struct {
	From  gitstore.ID `json:"from"`            // the commit that was reviewed
	To    gitstore.ID `json:"to,omitempty"`    // the commit that has it now; "" when it is gone
	Base  gitstore.ID `json:"base,omitempty"`  // what To is compared with
	State MoveState   `json:"state"`           //
	How   string      `json:"how,omitempty"`   // what git said: amend, rebase; "" where its content or author told
	Again string      `json:"again,omitempty"` // the review that looks at To, of what is stale
	When  time.Time   `json:"when"`            // of To's committer, the same in every clone; of the event when it is gone
	Said  []Saying    `json:"said,omitempty"`  // what notes said of From, of what is carried
	// Unseen are of a range that is carried the commits that whoever read it did not see.
	Unseen []gitstore.ID `json:"unseen_commits,omitempty"`
}

// same reports whether two moves come to the same.
func (m Move) same(o Move) bool { return m.To == o.To && m.State == o.State }

func (m Move) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

// moved files where the code went, once.
func (r *Review) moved(_ Event, m Move) {
	if !r.hasMoved(m) {
		r.Moves = append(slices.Clip(r.Moves), m)
	}
}

// hasMoved reports whether m is known. What is gone may come back, and go again.
func (r Review) hasMoved(m Move) bool {
	if n := len(r.Moves); m.State == MoveGone || n > 0 && r.Moves[n-1].State == MoveGone {
		return n > 0 && r.Moves[n-1].same(m)
	}
	return slices.ContainsFunc(r.Moves, m.same)
}

// Gone reports whether the code of the review is nowhere any more.
func (r Review) Gone() bool { return len(r.Moves) > 0 && r.Moves[len(r.Moves)-1].State == MoveGone }

// At is the commit that has the code of the review now: the newest that it was carried to,
// else the one that was reviewed.
func (r Review) At() gitstore.ID {
	for _, m := range slices.Backward(r.Moves) {
		if m.State == MoveCarried {
			return m.To
		}
	}
	return r.Request.Subject.Commit
}

// Whereabouts says in words, a line each, where the code went.
func (r Review) Whereabouts() []string {
	var lines []string
	for _, m := range r.Moves {
		switch {
		case m.State == MoveGone:
			lines = append(lines, "gone: no branch has "+m.From.Short()+" any more")
		case m.To == m.From:
			lines = append(lines, m.To.Short()+" is on a branch again")
		case m.State == MoveCarried:
			lines = append(lines, fmt.Sprintf("carried to %s, which makes the same change", m.To.Short()))
		case m.Again != "":
			lines = append(lines, fmt.Sprintf("stale: %s makes another change, asked again as %s", m.To.Short(), m.Again))
		default:
			lines = append(lines, fmt.Sprintf("stale: %s makes another change", m.To.Short()))
		}
	}
	return lines
}

func (m Move) Title() string {
	if m.To == "" {
		return fmt.Sprintf("%s is %s", m.From.Short(), m.State)
	}
	return fmt.Sprintf("%s to %s, %s", m.From.Short(), m.To.Short(), m.State)
}

// sayingsOf are the lines that an event has in notes that go along.
func sayingsOf(e Event) []Saying {
	commit, text := NoteOf(e)
	if commit == "" || !slices.Contains(carriedTypes, e.Type) {
		return nil
	}
	var said []Saying
	for line := range strings.Lines(text) {
		said = append(said, Saying{e.Timestamp, strings.TrimSuffix(line, "\n")})
	}
	return said
}

// movedNotes are the lines that a move puts on commits. They are dated by the code, so
// that clones that notice the same say it once.
func movedNotes(e Event, m Move) []notes.Line {
	line := func(on gitstore.ID, format string, args ...any) []notes.Line {
		return []notes.Line{{Commit: on, At: m.When, Text: "review " + e.Review + fmt.Sprintf(format, args...)}}
	}
	switch m.State {
	case MoveCarried:
		lines := line(m.To, " carried from %s: the same change", m.From.Short())
		for _, said := range m.Said[:min(len(m.Said), MaxSayings)] {
			lines = append(lines, notes.Line{Commit: m.To, At: said.At, Text: said.Text})
		}
		return lines
	case MoveStale:
		again := ""
		if m.Again != "" {
			again = ", asked again as " + m.Again
		}
		return line(m.To, " of %s is stale: this is another change%s", m.From.Short(), again)
	case MoveGone:
		return line(m.From, ": the code is gone, no branch has it")
	}
	return nil
}
