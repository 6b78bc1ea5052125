package screen

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// Meaning is the meaning that a text's colour expresses.
type Meaning int

const (
	Plain    Meaning = iota
	Strong           // the subject
	Faint            // secondary
	Good             // passed, done
	Notice           // worth a look: a note, something running
	Warning          // needs somebody
	Critical         // does not pass, is broken
	Name             // of a commit, a run, a review
)

// sgr are the SGR parameters of the meanings, in the terminal's own colours.
var sgr = map[Meaning]string{Strong: "1", Faint: "2", Good: "32", Notice: "36", Warning: "33", Name: "33",
	Critical: "1;31"}

// Text is a text with a meaning.
type Text struct {
	Meaning
	Text string
}

func (t Text) String() string { return t.Text }

// Of returns text with the meaning m.
func (m Meaning) Of(text string) Text { return Text{m, text} }

// meanings are those of severities, verdicts, decisions and states.
var meanings = map[any]Meaning{
	reply.Critical: Critical, reply.Warning: Warning, reply.Note: Notice,
	reply.Pass: Good, reply.PassWithNotes: Good, reply.NeedsFix: Warning, reply.CriticalFail: Critical,
	record.Approve: Good, record.RequestChanges: Warning,
	record.RunRunning: Notice, record.RunReviewing: Warning, record.RunStopped: Critical, record.RunCompleted: Good,
	record.RunSkipped: Faint, record.RunAborted: Faint, record.RunDied: Critical,
	record.ReviewOpen: Notice, record.ReviewSubmitted: Warning, record.ReviewClaimed: Notice,
	record.ReviewResolved: Good, record.ReviewCancelled: Faint,
}

// MeaningOf returns the meaning of a severity, a verdict or a state, and Plain for any other value.
func MeaningOf(v any) Meaning {
	switch v := v.(type) {
	case Text:
		return v.Meaning
	case reply.Severity, reply.Verdict, record.Decision, record.RunStatus, record.ReviewStatus:
		return meanings[v]
	}
	return Plain
}

// Paint returns the sequences around an argument of safetext.Fprintf: colours for its meaning, a link for a Place, the
// age of a Time.
func (w *Writer) Paint(arg any) (before, after string) {
	if place, ok := arg.(Place); ok && w.Address != nil {
		if to := w.Address(place); to != "" {
			before, after = "\x1b]8;;"+to+"\x1b\\", "\x1b]8;;\x1b\\"
		}
	}
	if at, ok := arg.(Time); ok && !w.Now.IsZero() {
		after = " (" + duration.Age(w.Now.Sub(time.Time(at))) + " ago)"
	}
	if set := sgr[MeaningOf(arg)]; set != "" && w.Colours {
		before, after = before+"\x1b["+set+"m", "\x1b[m"+after
	}
	return before, after
}

// Wish holds the user's settings for colours, the strongest first.
type Wish struct {
	Flag   string // --color: always, never or auto; "" if not given
	Getenv func(string) string
	Config func(key string) string // of git
}

// Colours reports whether to use colours. terminal says whether a person reads at a terminal, or at a pager.
func (w Wish) Colours(terminal bool) bool {
	said := w.Flag
	switch {
	case said != "":
	case w.Getenv("NO_COLOR") != "":
		said = "never"
	case w.Getenv("CLICOLOR_FORCE") != "" && w.Getenv("CLICOLOR_FORCE") != "0":
		said = "always"
	default:
		said = cmp.Or(w.Config("color.runr"), w.Config("color.ui"))
	}
	always, never, _ := colourWord(said)
	return always || !never && terminal && w.Getenv("TERM") != "dumb"
}

// colourWord parses a colour setting as git does: everything other than always and never is auto, even a word that git
// does not know.
func colourWord(said string) (always, never, known bool) {
	switch said = strings.ToLower(said); said {
	case "always":
		return true, false, true
	case "never", "false", "no", "off":
		return false, true, true
	case "", "auto", "true", "yes", "on":
		return false, false, true
	}
	n, err := strconv.Atoi(said)
	return false, err == nil && n == 0, err == nil
}

// BadColour returns the colour setting whose value git does not know, or "".
func BadColour(config func(key string) string) (key, value string) {
	for _, key := range []string{"color.runr", "color.ui"} {
		if _, _, known := colourWord(config(key)); !known {
			return key, config(key)
		}
	}
	return "", ""
}
