package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// Requests returns a reviewer's requests: the findings, then the other requests, each once,
// each on one line.
func Requests(findings []Finding, asked []string) []string {
	list := []string{}
	seen := map[string]bool{}
	add := func(text string) {
		if key := sameRequest(text); key != "" && !seen[key] {
			seen[key] = true
			list = append(list, text)
		}
	}
	for _, f := range findings {
		add(RequestOf(f))
		seen[sameRequest(issueLine(f.Issue))] = true
	}
	for _, text := range asked {
		add(text)
	}
	return list
}

// RequestOf formats a finding as a request: its place, and its issue without code and
// explanations.
func RequestOf(f Finding) string {
	issue := issueLine(f.Issue)
	switch {
	case f.File == "":
		return issue
	case issue == "":
		return f.Place()
	}
	return prose.OneRow(f.Place()) + ": " + issue
}

// issueLine returns the first paragraph of an issue that is not code, on one line; if the
// issue begins with a title, the title.
func issueLine(issue string) string {
	var lines []string
	for _, l := range markdown.Split(issue).Lines {
		if l.Kind == markdown.LineText && !l.Blank() && !(len(lines) == 1 && isTitleOf(lines[0], l.Text)) {
			lines = append(lines, l.Text)
		} else if len(lines) > 0 {
			break
		}
	}
	return strings.TrimRight(prose.OneRow(strings.Join(lines, " ")), ": ")
}

// isTitleOf reports whether line is a title of next and not the start of a sentence.
func isTitleOf(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(next))
	return len(line) < 72 && unicode.IsUpper(first) && !goesOn(line) && !strings.ContainsRune(".!?:;", lastRune(line))
}

// sameRequest returns a key that is equal for two requests that differ only in case, emphasis,
// punctuation and politeness. "--all" and "-all", "C" and "C++" differ.
func sameRequest(text string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		code := strings.Contains(word, "`")
		word = strings.Trim(word, "\"'`*_~.,;:!?()[]{}“”‘’„«»…。，；：！？")
		if !code && !strings.ContainsFunc(word, unicode.IsDigit) {
			word = strings.ToLower(word)
		}
		switch word {
		case "", "please", "-", "–", "—", "/", "&":
			continue
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// reading says how a text is read for requests.
type reading struct {
	refusing bool // the review does not pass, so its faults are requests
	beside   bool // the review has findings, and the prose only explains them
}

// wish is a request and its weight.
type wish struct {
	text string
	weight
}

// requestReader reads requests block by block.
type requestReader struct {
	reading
	refused bool   // the text says that the change must not go in, or that nobody read it
	muted   int    // level of the heading below which only open items are requests; 0: none
	past    bool   // that heading is about the past: a refusal below it does not apply
	asking  bool   // the heading above announces requests: every item below it is one
	wishes  []wish // in the order in which they stand
	lead    tick   // of the list below: open if the line above requests its items, done if it is about the past

	owed, listOwed bool     // the heading above, or the line above the list, announces what must be done
	strange        bool     // nobody knows what the section is about
	unread         []string // texts that are neither requests nor harmless
}

// readRequests finds the requests in md and whether it refuses.
func readRequests(md markdown.Text, how reading) *requestReader {
	r := &requestReader{reading: how}
	blocks := readBlocks(md)
	for i, b := range blocks {
		if b.kind != blockItem && b.kind != blockQuoted {
			r.lead, r.listOwed = noTick, false
		}
		switch b.kind {
		case blockHeading:
			r.heading(b)
		case blockRow:
			r.row(b)
		case blockItem:
			r.item(b)
		case blockQuoted:
			r.quoted(b.text)
		default:
			r.paragraph(sentencesOf(b.text), beginsList(blocks[i+1:]))
		}
	}
	return r
}

// asked returns the requests. Beside a direct request or a failing check, faults count as requests too; otherwise
// neutral items count as well.
func (r *requestReader) asked() []string {
	floor := weightNeutral
	if slices.ContainsFunc(r.wishes, func(w wish) bool { return w.weight >= weightFailing }) {
		floor = weightFault
	}
	var asked []string
	for _, w := range r.wishes {
		if w.weight >= floor {
			asked = append(asked, w.text)
		}
	}
	return asked
}

// take keeps a text whose weight is at least floor.
func (r *requestReader) take(text string, w, floor weight) {
	if text = plainItem(text); w >= floor && text != "" {
		r.wishes = append(r.wishes, wish{text, w})
	}
}

// heading opens a section. Smaller headings inside a muted section stay muted.
func (r *requestReader) heading(b block) {
	if r.muted > 0 && b.level > r.muted {
		return
	}
	r.muted, r.past, r.asking, r.owed, r.strange = 0, false, false, false, false
	if asksNothing(b.text) {
		r.muted, r.past = b.level, !listsCriteria(wordsOf(b.text))
		return
	}
	words, w := wordsOf(b.text), weigh(b.text)
	_, isMark := readMark(b.text)
	r.owed, r.strange = owes(words), (w > weightNothing || isMark) && !announces(b.text)
	r.title(b.text, w)
	r.asking = r.refusing && !r.beside && asks(words)
	r.refused = r.refused || refusesMerge(words)
}

// row reads a row of a table. It is a request if its mark or its words say that it is open.
func (r *requestReader) row(b block) {
	text, w := weighRow(tableCells(b.text))
	if w == weightOpen || r.muted == 0 {
		r.take(text, w, weightFailing)
		if b.head {
			r.title(text, w)
			return
		}
		r.doubt(text, w)
	}
}

// item reads an item.
func (r *requestReader) item(b block) {
	w, floor := weigh(b.text), weightNeutral
	if !r.refusing || r.beside {
		floor = weightObliged
	}
	if r.muted > 0 || r.lead == doneTick {
		floor = weightOpen
	}
	r.hear(b.text)
	if isTitle := w < weightObliged && endsInColon(b.text); isTitle || w < floor && floor == weightOpen {
		return
	}
	r.refused = r.refused || (r.owed || r.listOwed) && w > weightNothing
	if r.doubt(b.text, w); w < weightNeutral {
		return
	}
	if r.lead == openTick || r.asking {
		w = max(w, weightObliged)
	}
	r.take(b.text, w, floor)
}

// quoted reads a quotation or code. Words of somebody else make no request, but nobody knows why they are there.
func (r *requestReader) quoted(text string) {
	if r.muted == 0 && strings.ContainsFunc(text, unicode.IsLetter) && !isNone(text) {
		r.doubt(text, weightMixed)
	}
}

// title keeps a heading that may be a remark itself, and not only the name of what is below: it says a fault.
func (r *requestReader) title(text string, w weight) {
	if w >= weightFault && strings.Contains(text, " ") {
		r.doubt(text, w)
	}
}

// doubt keeps a text that is not known to be harmless.
func (r *requestReader) doubt(text string, w weight) {
	if w > weightNothing {
		r.unread = append(r.unread, text)
	}
}

// paragraph reads sentences. One that refers back ("Add one.") is kept with the sentence before it.
func (r *requestReader) paragraph(sentences []string, listed bool) {
	floor := weightAsked
	switch {
	case r.muted > 0:
		floor = weightOpen
	case r.refusing:
		floor = weightFailing
	}
	for i, s := range sentences {
		w := weigh(strings.TrimRight(s, ":* "))
		if listed && i == len(sentences)-1 && endsInColon(s) {
			r.introduce(s, w)
			return
		}
		refused := r.refused
		faulty := w >= weightFault && namesPlace(s) && !hasWord(wordsOf(s), negators)
		if r.hear(s); r.strange || faulty {
			r.doubt(s, w)
		}
		if i > 0 && pointsBack(wordsOf(s)) && weigh(sentences[i-1]) < weightObliged {
			s, w = sentences[i-1]+" "+s, weightAsked
			if n := len(r.wishes) - 1; n >= 0 && strings.HasPrefix(s, r.wishes[n].text) { // it was taken by itself
				r.wishes = r.wishes[:n]
			}
		}
		low := floor
		// a reason for the refusal before it, kept in case there is no other request
		if r.refusing && refused && w == weightFault && !saysRefused(wordsOf(s)) {
			w, low = weightNeutral, weightNeutral
		}
		if !r.beside {
			r.take(strings.TrimRight(s, ".!?;:。！？； "), w, low)
		}
	}
}

// introduce reads a sentence above a list.
func (r *requestReader) introduce(text string, w weight) {
	if asksNothing(text) {
		r.lead = doneTick
		return
	}
	r.hear(text)
	words := wordsOf(text)
	if r.listOwed = owedWords.Has(wordAt(words, 0)); w >= weightObliged || saysRefused(words) ||
		r.refusing && !r.beside && asks(words) {
		r.lead = openTick
	}
}

// maxFirstWords limits the text that serves as a request, in bytes.
const maxFirstWords = 300

// FirstWords returns the first statement in texts, for a review that refuses without a request; none if there is no
// statement. A single word counts only if there is nothing else: "Flaky.", or a sentence in a language without
// spaces.
func FirstWords(texts ...markdown.Text) []string {
	var alone []string
	for _, md := range texts {
		for _, b := range readBlocks(md) {
			words := len(wordsOf(b.text))
			if b.kind == blockHeading || b.kind == blockRow || endsInColon(b.text) || words == 0 ||
				strings.HasPrefix(b.text, "{") || b.kind == blockQuoted || isNone(b.text) || words == 1 && alone != nil {
				continue
			}
			first := []string{strings.TrimRight(plainItem(ShortRow(b.text)), ".")}
			if words > 1 {
				return first
			}
			alone = first
		}
	}
	return alone
}

// ShortRow cuts text to the length of a request, on one line.
func ShortRow(text string) string {
	text = prose.OneRow(text)
	if short := prose.Cut(text, maxFirstWords); short != text {
		return short + " …"
	}
	return text
}

// RequestsBeside returns the requests that no finding contains.
func RequestsBeside(requests []string, findings []Finding) []string {
	if len(requests) == 0 {
		return nil
	}
	made := map[string]bool{}
	for _, f := range findings {
		made[RequestOf(f)] = true
	}
	return each.Where(requests, func(r string) bool {
		return !made[r] && !slices.ContainsFunc(findings, func(f Finding) bool { return strings.Contains(r, f.Issue) })
	})
}
