package diagnose

import (
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Limits of a suggested note: number of requests, and length in bytes.
const (
	requestsInNote = 2
	noteWidth      = 72
)

// intervention returns the command with which a person tells the loop what they did, in parts to show one below the
// other. It returns nil if a word of it must not be shown, or if there is no note.
func intervention(id, reason, note string, commands []Suggestion) []string {
	first, ok := safetext.CommandLine("git", "runr", "intervene", id, "--reason", reason)
	word, noteOK := safetext.ShellWord(note)
	if !ok || !noteOK || note == "" {
		return nil
	}
	lines := []string{first, "--note " + word}
	var last []string
	for _, c := range commands {
		if cmd, ok := safetext.ShellWord(c.Command); ok {
			last = append(last, "--cmd "+cmd)
		}
	}
	if len(last) > 0 {
		lines = append(lines, strings.Join(last, " "))
	}
	return lines
}

// note returns, in the past tense, what the requests ask for, or else which checks the intervention runs, or returns
// "". It copies only plain words from a reviewer's text.
func (d Diagnosis) note(checks matcher) string {
	if note := d.requestsMet(checks); note != "" {
		return note
	}
	names := each.Of(d.SuggestedCommands, func(c Suggestion) string { return c.Check })
	if len(names) == 0 {
		return ""
	}
	if note := plainNote("Ran " + joined(names)); note != "" && len(note) <= noteWidth {
		return note
	}
	return "Ran the checks"
}

// joined formats a list for a sentence.
func joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// requestsMet says that what the requests ask for was done; it prefers requests that have a command. It returns "" if
// it cannot say that shortly and safely.
func (d Diagnosis) requestsMet(checks matcher) string {
	var asked []string
	for _, r := range d.LastReviewRequests {
		if len(asked) < requestsInNote && len(checks.commands(r)) > 0 {
			asked = append(asked, r)
		}
	}
	if len(asked) == 0 {
		asked = d.LastReviewRequests[:min(len(d.LastReviewRequests), requestsInNote)]
	}
	var done []string
	for _, r := range asked {
		text := noteOf(checks, r)
		if text == "" {
			return ""
		}
		done = each.Once(done, text)
	}
	note := strings.Join(done, " and ")
	if note == "" || len(note) > noteWidth {
		return ""
	}
	return strings.ToUpper(note[:1]) + note[1:]
}

// noteOf rewrites one request as something that was done, in lower case, or returns "" if it cannot.
func noteOf(checks matcher, request string) string {
	if commands := checks.mentions(request); asksForEvidence(request) && len(commands) > 0 && commands[0].check != nil {
		return plainNote("ran " + commands[0].check.Name + " manually")
	}
	text := strings.NewReplacer("`", "", "*", "", "\"", "").Replace(oneLine(withoutPlace(request)))
	text = strings.TrimRight(text, ".!;: ")
	if strings.Contains(text, ". ") || strings.Contains(text, "; ") {
		text, _, _ = strings.Cut(text, ". ")
		text, _, _ = strings.Cut(text, "; ")
	}
	words := strings.Fields(text)
	if len(words) > 1 && strings.EqualFold(strings.TrimRight(words[0], ","), "please") {
		words = words[1:]
	}
	if len(words) < 2 {
		return ""
	}
	past, ok := pastOf(words[0])
	if !ok || isStatement(words[1:]) {
		return ""
	}
	words[0] = past
	for i := 1; i < len(words)-1; i++ {
		if also, ok := pastOf(words[i+1]); ok && words[i] == "and" {
			words[i+1] = also
		}
	}
	return plainNote(strings.Join(words, " "))
}

// finite are verbs with which reviewers state something instead of asking for it: "Lint fails in 2 files" begins with a
// noun. Forms that are also nouns are missing.
var finite = prose.WordSet(
	`is are was were be been has have had does do did don't doesn't isn't aren't wasn't can cannot can't could should must will would won't may might
	needs fails fail failed breaks broke crashes crashed panics hangs throws returns leaks reports complains shows says finds found exits misses lacks remains
	passes works differs ignores uses seems looks gives takes makes goes stops blocks causes violates depends`)

// opening are words that begin a clause with verbs of its own: "Fix the test that fails".
var opening = prose.WordSet(
	`that which who what how why so when if because to whether where while until unless after before since as it`)

// isStatement reports whether the words after the first one make the sentence a statement.
func isStatement(words []string) bool {
	for _, w := range words {
		w = strings.ToLower(strings.Trim(w, ",;:.!?()"))
		switch {
		case opening.Has(w):
			return false
		case finite.Has(w):
			return true
		}
	}
	return false
}

// plainNote returns text if it can be put between double quotes unchanged, else "".
func plainNote(text string) string {
	if word, ok := safetext.ShellWord(text); !ok || word != `"`+text+`"` {
		return ""
	}
	return text
}

// irregular are the past forms of verbs that do not just add -ed.
var irregular = map[string]string{
	"run": "ran", "rerun": "reran", "write": "wrote", "rewrite": "rewrote", "make": "made", "split": "split",
	"drop": "dropped",
	"wrap": "wrapped", "set": "set", "put": "put", "missing": "added", "get": "got", "keep": "kept", "stop": "stopped",
	"log": "logged", "trim": "trimmed",
}

// regular are the other verbs with which requests begin.
var regular = prose.WordSet(
	`add address adjust apply avoid bump change check clarify clean complete correct cover create delete document ensure escape
	explain export extend extract fix format guard handle implement import improve include increase inline lint mark migrate mock move provide
	quote raise reduce refactor remove rename repair replace report resolve restore revert review sanitise sanitize simplify sort test tighten
	update use validate verify`)

// pastOf returns the past tense of an imperative.
func pastOf(verb string) (string, bool) {
	verb = strings.ToLower(verb)
	if past := irregular[verb]; past != "" {
		return past, true
	}
	if !regular.Has(verb) {
		return "", false
	}
	stem, found := strings.CutSuffix(verb, "e")
	if found {
		return stem + "ed", true
	}
	if stem, found := strings.CutSuffix(verb, "y"); found {
		return stem + "ied", true
	}
	return verb + "ed", true
}
