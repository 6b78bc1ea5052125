package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/internal/markdown"
	"git-runr/loop/prose"
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

// askedText is a request in a text.
type askedText struct {
	text  string
	weak  bool // counts only where nothing else asks
	prose bool // and only where the prose refuses
}

// requestReader reads requests block by block.
type requestReader struct {
	reading
	approval
	section sectionKind // of the nearest heading
	muted   int         // level of the heading that mutes what stands below it; 0: none
	lead    sectionKind // of the line that introduces what comes next
	above   block       // the item that asks and that items below it explain
	wishes  []askedText

	listAsks bool // an item of the list that is read asks
}

// readRequests reads what md asks for and whether it refuses.
func readRequests(md markdown.Text, how reading) *requestReader {
	r := &requestReader{reading: how}
	blocks := readBlocks(md)
	r.listAsks = slices.ContainsFunc(blocks[:listEnd(blocks)], func(b block) bool { return weigh(b.text) >= weightObliged })
	for i, b := range blocks {
		r.block(b, blocks[i+1:])
	}
	return r
}

// asked are the wishes in the order in which they stand; the weak ones only where
// there is no other.
func (r *requestReader) asked() []string {
	strong := slices.ContainsFunc(r.wishes, func(w askedText) bool { return !w.weak })
	var asked []string
	for _, w := range r.wishes {
		if !w.weak || !strong && (!w.prose || r.taken) {
			asked = append(asked, w.text)
		}
	}
	return asked
}

func (r *requestReader) block(b block, below []block) {
	if b.kind != blockItem {
		r.above = block{}
	}
	switch {
	case b.kind == blockHeading:
		r.heading(b)
	case r.section == sectionMuted:
	case b.kind == blockRow:
		text, w := weighRow(b.cells)
		if floor := max(r.itemFloor(), weightFailing); w >= floor {
			r.take(text, w, floor)
		}
	case b.kind == blockItem:
		r.item(b)
	case b.kind == blockLines:
		r.lines(b.lines, len(below) > 0 && below[0].kind == blockItem)
	}
	if len(below) == 0 || below[0].kind != blockItem {
		r.lead, r.listAsks = sectionPlain, false
	} else if b.kind != blockItem {
		r.listAsks = slices.ContainsFunc(below[:listEnd(below)], func(b block) bool { return weigh(b.text) >= weightObliged })
	}
}

// listEnd is how many items blocks begin with.
func listEnd(blocks []block) int {
	if end := slices.IndexFunc(blocks, func(b block) bool { return b.kind != blockItem }); end >= 0 {
		return end
	}
	return len(blocks)
}

// lines reads a paragraph. A line that ends with a colon introduces those below it.
func (r *requestReader) lines(lines []string, listed bool) {
	r.lead = sectionPlain
	end := 1 + slices.IndexFunc(lines, endsInColon)
	if end == 0 {
		end = len(lines)
	}
	r.paragraph(sentencesOf(strings.Join(joinWrapped(lines[:end]), "\n")), listed || end < len(lines))
	for _, text := range joinWrapped(lines[end:]) {
		if r.lead != sectionMuted {
			r.hear(text)
			r.take(text, weigh(text), r.itemFloor())
		}
	}
}

// heading opens a section. What is muted stays so below smaller headings.
func (r *requestReader) heading(b block) {
	if r.muted > 0 && b.level > r.muted {
		return
	}
	r.section, r.muted = kindOfTitle(b.text), 0
	if r.section == sectionMuted {
		r.muted = b.level
		return
	}
	r.refused = r.refused || refusesMerge(wordsOf(b.text))
}

// take keeps a text that weighs at least floor.
func (r *requestReader) take(text string, w, floor weight) {
	weak := w < floor
	if w == weightNothing || weak && (!r.refusing || r.beside || floor > weightAsked) {
		return
	}
	if text = plainItem(text); text != "" {
		r.wishes = append(r.wishes, askedText{text: text, weak: weak})
	}
}

// itemFloor is what an item must weigh to count.
func (r *requestReader) itemFloor() weight {
	switch kind := max(r.lead, r.section); {
	case kind == sectionCriteria:
		return weightMarked
	case !r.refusing || r.beside:
		return weightObliged
	case kind == sectionAsking:
		return weightNeutral
	case r.listAsks:
		return weightFault
	}
	return weightFailing
}

// item reads an item. Items below one that asks explain it, unless they ask themselves.
func (r *requestReader) item(b block) {
	if r.lead == sectionMuted {
		return
	}
	r.hear(b.text)
	w, floor, isLead := weigh(b.text), r.itemFloor(), endsInColon(b.text)
	if explains := r.above.kind == blockItem && b.indent > r.above.indent; !explains {
		r.above = block{}
	} else if !endsInColon(r.above.text) {
		floor = max(floor, weightObliged)
		if w < floor {
			return
		}
	} else {
		floor = weightNeutral
	}
	if w >= weightObliged || !isLead { // else it is a title
		r.take(b.text, w, floor)
	}
	if w >= weightObliged && r.above.kind != blockItem {
		r.above = b
	}
}

// paragraph reads sentences, of which the last may introduce what follows. One that points back ("Add one.") says
// nothing without the sentence before it.
func (r *requestReader) paragraph(sentences []string, more bool) {
	for i, s := range sentences {
		if i == len(sentences)-1 && endsInColon(s) && more {
			r.openLead(s)
			return
		}
		r.hear(s)
		w := weigh(s)
		if i > 0 && pointsBack(wordsOf(s)) && weigh(sentences[i-1]) < weightObliged {
			s, w = sentences[i-1]+" "+s, weightAsked
			r.wishes = slices.DeleteFunc(r.wishes, func(w askedText) bool { return strings.HasPrefix(s, w.text) })
		}
		r.sentence(s, w)
	}
}

// openLead takes a sentence that introduces what follows.
func (r *requestReader) openLead(text string) {
	r.lead = kindOfLead(text)
	if r.lead == sectionMuted {
		return
	}
	r.hear(text)
	if weigh(strings.TrimRight(text, ":* ")) >= weightObliged || saysRefused(wordsOf(text)) {
		r.lead = sectionAsking
	}
}

// sentence takes a sentence that asks, and in a review that refuses one that speaks of a fault.
func (r *requestReader) sentence(text string, w weight) {
	if r.beside || r.section == sectionCriteria {
		return
	}
	floor := weightAsked
	if r.refusing {
		floor = weightFailing
	}
	text = strings.TrimRight(text, ".!?;:。！？； ")
	if w >= floor {
		r.take(text, w, floor)
	} else if w == weightFault && r.refusing && !saysRefused(wordsOf(text)) {
		r.wishes = append(r.wishes, askedText{text: plainItem(text), weak: true, prose: true})
	}
}

// maxFirstWords is how much of a text stands for a request, in bytes.
const maxFirstWords = 300

// FirstWords is the first statement in one of texts, for a review that refuses and
// asks for nothing; none when they state nothing. A single word is one where nothing
// else is: "Flaky.", or a sentence of a language that writes no spaces.
func FirstWords(texts ...markdown.Text) []string {
	var alone []string
	for _, md := range texts {
		for _, b := range readBlocks(md) {
			text := prose.OneRow(strings.Join(b.lines, " "))
			words := len(wordsOf(text))
			if b.kind != blockItem && b.kind != blockLines || endsInColon(text) || words == 0 || strings.HasPrefix(text, "{") || isNone(text) {
				continue
			}
			first := []string{strings.TrimRight(plainItem(ShortRow(text)), ".")}
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
