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
	sections []section
	lead     sectionKind // of the line that introduces what comes next
	leadText string      // that line when it asks itself, until something below it does
	wishes   []askedText
	approval
}

// section is a heading that is open, and what stands below it.
type section struct {
	level int
	kind  sectionKind
}

// readRequests reads what md asks for and whether it approves.
func readRequests(md markdown.Text, how reading) *requestReader {
	r := &requestReader{reading: how}
	blocks := readBlocks(md)
	for i := 0; i < len(blocks); {
		b := blocks[i]
		if b.kind == blockItem {
			end := listEnd(blocks, i)
			r.list(blocks[i:end])
			r.endLead()
			i = end
			continue
		}
		r.block(b)
		i++
	}
	r.endLead()
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

func (r *requestReader) block(b block) {
	switch b.kind {
	case blockHeading:
		r.endLead()
		r.heading(b)
	case blockRow:
		r.row(b)
	case blockGap:
		r.endLead()
	case blockLines:
		r.endLead()
		r.paragraph(b.lines)
	}
}

// heading opens a section. What is muted stays so below smaller headings.
func (r *requestReader) heading(b block) {
	for len(r.sections) > 0 && r.sections[len(r.sections)-1].level >= b.level {
		r.sections = r.sections[:len(r.sections)-1]
	}
	kind, above := kindOfTitle(b.text), r.section()
	if kind == sectionPlain || above == sectionMuted {
		kind = above
	}
	r.sections = append(r.sections, section{level: b.level, kind: kind})
	if kind == sectionMuted {
		return
	}
	r.approval.hearTitle(b.text)
}

func (r *requestReader) section() sectionKind {
	if len(r.sections) == 0 {
		return sectionPlain
	}
	return r.sections[len(r.sections)-1].kind
}

// kind is what the next list or line stands under: its lead-in, or else its section.
func (r *requestReader) kind() sectionKind {
	if r.section() == sectionMuted || r.lead == sectionPlain {
		return r.section()
	}
	return r.lead
}

// endLead ends what a lead-in introduced. One that asks, with nothing below it
// that says more, is a request itself.
func (r *requestReader) endLead() {
	if r.leadText != "" {
		r.take(r.leadText, weightAsked, weightAsked)
	}
	r.lead, r.leadText = sectionPlain, ""
}

// take keeps a text that weighs at least floor.
func (r *requestReader) take(text string, w, floor weight) {
	weak := w < floor
	if w == weightNothing || weak && (!r.refusing || r.beside || floor > weightAsked) {
		return
	}
	r.leadText = ""
	if text = plainItem(text); text != "" {
		r.wishes = append(r.wishes, askedText{text: text, weak: weak})
	}
}

// itemFloor is what an item must weigh to count.
func (r *requestReader) itemFloor(listAsks bool) weight {
	switch kind := r.kind(); {
	case kind == sectionCriteria:
		return weightMarked
	case r.beside:
		return weightWished
	case kind == sectionAsking:
		return weightNeutral
	case !r.refusing:
		return weightWished
	case listAsks:
		return weightFault
	}
	return weightFailing
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

// list reads a list with the lists in it.
func (r *requestReader) list(blocks []block) {
	if r.kind() == sectionMuted {
		return
	}
	weights := make([]weight, len(blocks))
	asks := false
	for i, b := range blocks {
		if b.kind == blockItem {
			weights[i] = weigh(b.text)
			r.approval.hear(b.text)
		}
		asks = asks || weights[i] >= weightWished
	}
	floor := r.itemFloor(asks)
	for i := 0; i < len(blocks); {
		i += r.item(blocks[i:], weights[i:], floor)
	}
}

// item reads the first of blocks and gives how many it took. Items below one
// that asks explain it, unless they ask themselves.
func (r *requestReader) item(blocks []block, weights []weight, floor weight) int {
	b, w := blocks[0], weights[0]
	if b.kind != blockItem {
		if r.kind() != sectionCriteria {
			r.paragraph(b.lines)
		}
		return 1
	}
	below := itemsBelow(blocks)
	isLead := endsInColon(b.text)
	if w >= weightWished || !isLead { // else it is a title
		r.take(b.text, w, floor)
	}
	if len(below) == 0 || w < weightWished {
		return 1
	}
	if isLead {
		floor = weightNeutral
	} else {
		floor = max(floor, weightWished)
	}
	for i := 0; i < len(below); {
		i += r.item(blocks[1+i:1+len(below)], weights[1+i:1+len(below)], floor)
	}
	return 1 + len(below)
}

// itemsBelow are the blocks that are indented below the first.
func itemsBelow(blocks []block) []block {
	end := 1
	for end < len(blocks) && blocks[end].indent > blocks[0].indent {
		end++
	}
	return blocks[1:end]
}

// row reads a row of a table: by its status when it has one, else by its cells.
func (r *requestReader) row(b block) {
	text, w := weighRow(b.cells)
	if floor := max(r.itemFloor(false), weightFailing); w >= floor && r.kind() != sectionMuted {
		r.take(text, w, floor)
	}
}

// paragraph reads lines that are no list: the sentences in them, and lines that
// stand for items below one that ends with a colon.
func (r *requestReader) paragraph(lines []string) {
	for len(lines) > 0 && r.section() != sectionMuted {
		end := 1 + slices.IndexFunc(lines, endsInColon)
		if end == 0 {
			end = len(lines)
		}
		if r.lead != sectionPlain || r.leadText != "" {
			for _, text := range joinWrapped(lines[:end]) {
				r.plainLine(text)
			}
		} else {
			r.prose(strings.Join(joinWrapped(lines[:end]), "\n"))
		}
		lines = lines[end:]
	}
}

// prose reads statements, a line each, of which the last may introduce what follows.
func (r *requestReader) prose(text string) {
	sentences := sentencesOf(text)
	for i, s := range sentences {
		if i == len(sentences)-1 && endsInColon(s) {
			r.openLead(s)
		} else {
			r.sentence(s)
		}
	}
}

// openLead takes a sentence that introduces what follows.
func (r *requestReader) openLead(text string) {
	text = strings.TrimRight(text, ":* ")
	if r.lead = kindOfLead(text); r.lead == sectionMuted {
		return
	}
	r.approval.hear(text)
	w := weigh(text)
	if w >= weightObliged && !r.beside && (w >= weightAsked || r.refusing) {
		r.leadText = text
	}
	if w >= weightObliged || saysRefused(wordsOf(text)) {
		r.lead = sectionAsking
	}
}

// plainLine is a line without a mark below a lead-in.
func (r *requestReader) plainLine(text string) {
	if r.kind() == sectionMuted {
		return
	}
	r.approval.hear(text)
	r.take(text, weigh(text), r.itemFloor(true))
}

// sentence reads one sentence, and what it says after "but" or a semicolon.
func (r *requestReader) sentence(text string) {
	r.approval.hear(text)
	if r.beside || r.kind() == sectionCriteria {
		return
	}
	floor := weightAsked
	if r.refusing {
		floor = weightFailing
	}
	for _, part := range parts(text) {
		text := strings.TrimRight(part, ".!?;:。！？； ")
		if w := weigh(part); w >= floor {
			r.take(text, w, floor)
		} else if w == weightFault && r.refusing && !saysRefused(wordsOf(part)) {
			r.wishes = append(r.wishes, askedText{text: plainItem(text), weak: true, prose: true})
		}
	}
}

// RequestsBeside are the requests that none of findings says already.
func RequestsBeside(requests []string, findings []Finding) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return strings.Contains(r, f.Issue) || r == RequestOf(f) })
	})
}
