package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// Requests are what a reviewer asked for: the findings, then what it asked for
// beside them, each once, each on one line.
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

// RequestOf is a finding as a request: its place, and its issue without the code
// and the explanations below it.
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

// issueLine is the first paragraph of an issue that is no code, on one line; of
// one that begins with a title, the title.
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

// isTitleOf reports whether line, above next, is a title and not the start of a sentence.
func isTitleOf(line, next string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(next))
	return len(line) < 72 && unicode.IsUpper(first) && !goesOn(line) && !strings.ContainsRune(".!?:;", lastRune(line))
}

// sameRequest is equal for two requests that differ only in what means nothing:
// case, emphasis, punctuation and politeness. "--all" and "-all", "C" and "C++" differ.
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

// reading is how a text is read for requests.
type reading struct {
	refusing bool // the review does not pass: what is at fault is to be put right
	beside   bool // findings stand beside the text: its prose only explains them
}

// wish is a request, and how plainly it asks.
type wish struct {
	text string
	weight
}

// requestReader reads requests block by block.
type requestReader struct {
	reading
	refused bool   // it is said in so many words: the change must not go in, or nobody read it
	muted   int    // level of the heading below which only what is marked open is asked for; 0: none
	past    bool   // that heading tells of another time: what refuses there is not said of this change
	asking  bool   // the heading above names what is to be done: every item below it counts
	above   block  // the item that asks and that items below it explain
	wishes  []wish // in the order in which they stand
	lead    mark   // of the list below: open where the line above asks for its items, done where it tells of the past
}

// readRequests reads what md asks for and whether it refuses.
func readRequests(md markdown.Text, how reading) *requestReader {
	r := &requestReader{reading: how}
	blocks := readBlocks(md)
	for i, b := range blocks {
		if b.kind != blockItem {
			r.above, r.lead = block{}, noMark
		}
		switch b.kind {
		case blockHeading:
			r.heading(b)
		case blockRow:
			r.row(b)
		case blockItem:
			r.item(b)
		default:
			r.paragraph(sentencesOf(b.text), i+1 < len(blocks) && blocks[i+1].kind == blockItem)
		}
	}
	return r
}

// asked returns what was asked for. Faults count beside an order or a failing check, and neutral items where there is
// neither.
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

// take keeps a text that weighs at least floor.
func (r *requestReader) take(text string, w, floor weight) {
	if text = plainItem(text); w >= floor && text != "" {
		r.wishes = append(r.wishes, wish{text, w})
	}
}

// heading opens a section. What is muted stays so below smaller headings.
func (r *requestReader) heading(b block) {
	if r.muted > 0 && b.level > r.muted {
		return
	}
	r.muted, r.past, r.asking = 0, false, false
	if asksNothing(b.text) {
		r.muted, r.past = b.level, !listsCriteria(wordsOf(b.text))
		return
	}
	words := wordsOf(b.text)
	r.asking = r.refusing && !r.beside && hasWord(words, askingWords)
	r.refused = r.refused || refusesMerge(words)
}

// row reads a row of a table: what is open by a sign or by its words is asked for.
func (r *requestReader) row(b block) {
	text, w := weighRow(tableCells(b.text))
	if w == weightOpen || r.muted == 0 {
		r.take(text, w, weightFailing)
	}
}

// item reads an item. Items below one that asks explain it, unless they ask themselves.
func (r *requestReader) item(b block) {
	w, floor := weigh(b.text), weightNeutral
	if b.indent <= r.above.indent {
		r.above = block{}
	}
	explains := r.above.text != "" && !endsInColon(r.above.text)
	if !r.refusing || r.beside || explains {
		floor = weightObliged
	}
	if r.muted > 0 || r.lead == doneMark {
		floor = weightOpen
	}
	r.hear(b.text)
	if isTitle := w < weightObliged && endsInColon(b.text); isTitle || w == weightNothing {
		return
	}
	if r.lead == openMark || r.asking || b.indent > r.above.indent && endsInColon(r.above.text) {
		w = max(w, weightObliged)
	}
	r.take(b.text, w, floor)
	if w >= weightObliged && r.above.text == "" {
		r.above = b
	}
}

// paragraph reads sentences. One that points back ("Add one.") says nothing without the sentence before it.
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
		r.hear(s)
		if i > 0 && pointsBack(wordsOf(s)) && weigh(sentences[i-1]) < weightObliged {
			s, w = sentences[i-1]+" "+s, weightAsked
			r.wishes = slices.DeleteFunc(r.wishes, func(w wish) bool { return strings.HasPrefix(s, w.text) })
		}
		low := floor
		if r.refusing && refused && w == weightFault && !saysRefused(wordsOf(s)) { // a reason for a refusal, where nothing else is asked for
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
		r.lead = doneMark
		return
	}
	r.hear(text)
	if words := wordsOf(text); w >= weightObliged || saysRefused(words) || r.refusing && !r.beside && hasWord(words, askingWords) {
		r.lead = openMark
	}
}

// maxFirstWords is how much of a text stands for a request, in bytes.
const maxFirstWords = 300

// FirstWords is the first statement in one of texts, for a review that refuses and asks for nothing; none when they
// state nothing. A single word is one where nothing else is: "Flaky.", or a sentence of a language that writes no
// spaces.
func FirstWords(texts ...markdown.Text) []string {
	var alone []string
	for _, md := range texts {
		for _, b := range readBlocks(md) {
			words := len(wordsOf(b.text))
			if b.kind == blockHeading || b.kind == blockRow || endsInColon(b.text) || words == 0 || strings.HasPrefix(b.text, "{") || isNone(b.text) {
				continue
			}
			first := []string{strings.TrimRight(plainItem(ShortRow(b.text)), ".")}
			if words > 1 {
				return first
			}
			if alone == nil {
				alone = first
			}
		}
	}
	return alone
}

// ShortRow is as much of text as stands for a request, in one line.
func ShortRow(text string) string {
	text = prose.OneRow(text)
	if short := prose.Cut(text, maxFirstWords); short != text {
		return short + " …"
	}
	return text
}

// RequestsBeside are the requests that none of findings says already.
func RequestsBeside(requests []string, findings []Finding) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return strings.Contains(r, f.Issue) || r == RequestOf(f) })
	})
}
