package diagnose

import (
	"slices"
	"strings"

	"git-runr/loop/safetext"
)

// A suggested note tells of so many requests and is so long at most, in bytes.
const (
	requestsInNote = 2
	noteWidth      = 72
)

// byHand is the note for what cannot be said shortly or safely.
const byHand = "Fixed by hand"

// intervention is the line by which a person tells the loop what they did, in three
// lines that end in a backslash but for the last (seed 000, section 2). nil when one
// of its words must not be shown.
func intervention(id, reason, note string, commands []Suggestion) []string {
	first, ok := safetext.CommandLine("git", "runr", "intervene", id, "--reason", reason)
	word, noteOK := safetext.ShellWord(note)
	if !ok || !noteOK {
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

// note says in the past tense what the requests ask for: those that have a command
// where any do. Nothing but plain words comes out of a reviewer's text.
func (d Diagnosis) note(checks matcher) string {
	var asked []string
	for _, r := range d.LastReviewRequests {
		if len(asked) < requestsInNote && len(checks.commands([]string{r})) > 0 {
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
			return byHand
		}
		if !slices.Contains(done, text) {
			done = append(done, text)
		}
	}
	note := strings.Join(done, " and ")
	if note == "" || len(note) > noteWidth {
		return byHand
	}
	return strings.ToUpper(note[:1]) + note[1:]
}

// noteOf is one request as something that was done, in lower case; "" when it
// cannot be said so.
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
	if !ok {
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

// plainNote is text if it can stand between double quotes as it is.
func plainNote(text string) string {
	if word, ok := safetext.ShellWord(text); !ok || word != `"`+text+`"` {
		return ""
	}
	return text
}

// irregular are the past forms of verbs that do not just take -ed.
var irregular = map[string]string{
	"run": "ran", "rerun": "reran", "write": "wrote", "rewrite": "rewrote", "make": "made", "split": "split", "drop": "dropped",
	"wrap": "wrapped", "set": "set", "put": "put", "missing": "added", "get": "got", "keep": "kept", "stop": "stopped", "log": "logged", "trim": "trimmed",
}

// regular are the other verbs by which requests begin.
const regular = " add address adjust apply avoid bump change check clarify clean complete correct cover create delete document ensure escape" +
	" explain export extend extract fix format guard handle implement import improve include increase inline lint mark migrate mock move provide" +
	" quote raise reduce refactor remove rename repair replace report resolve restore revert review sanitise sanitize simplify sort test tighten" +
	" update use validate verify "

// pastOf is the past of an imperative.
func pastOf(verb string) (string, bool) {
	verb = strings.ToLower(verb)
	if past := irregular[verb]; past != "" {
		return past, true
	}
	if !strings.Contains(regular, " "+verb+" ") {
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
