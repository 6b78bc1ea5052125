package web

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	mdhtml "github.com/yuin/goldmark/renderer/html"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/syntax"
)

// Limits for rendering Markdown. Text beyond them is shown as written: a table of a few KiB
// can have millions of cells.
const (
	maxMarkdown   = 64 << 10 // bytes
	maxTableCells = 20_000   // lines times the most bars in one of them
	maxNesting    = 50       // quotes and lists that one line begins
	maxDelimiters = 3000     // marks of emphasis and links: the cost is quadratic
)

// quotedLines are the lines that a comment is about, which a suggestion replaces.
type quotedLines struct {
	file  string
	lines []string
	// commit returns the target of a link for a commit's id, or "" if it is not a commit; nil: no links for commits.
	commit func(id string) string
}

// attrQuoted holds the quotedLines of a suggestion's block.
const attrQuoted = "quoted"

// markdownParser is made on first use. It has no parsers for HTML, so that foreign tags are plain text and the output
// has no tags but ours.
var markdownParser = sync.OnceValue(func() goldmark.Markdown {
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100), util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500), util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700), util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	inlines := []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewEmphasisParser(), 500),
	}
	p := parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables{}, 200))...),
		parser.WithASTTransformers(util.Prioritized(bareLinks{}, 100)))
	r := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(mdhtml.NewRenderer(), 1000), util.Prioritized(ownNodes{}, 100)))
	return goldmark.New(goldmark.WithParser(p), goldmark.WithRenderer(r))
})

// markdownHTML renders foreign Markdown as HTML. Suggestions are shown as changes of quoted.
func markdownHTML(source string, quoted quotedLines) template.HTML {
	source = safetext.Text(source)
	if tooMuchMarkdown(source) {
		return template.HTML(`<pre class="plain">` + template.HTMLEscapeString(source) + "</pre>")
	}
	md, src := markdownParser(), []byte(source)
	pc := parser.NewContext()
	pc.Set(linksKey, quoted.commit)
	doc := md.Parser().Parse(mdtext.NewReader(src), parser.WithContext(pc))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if block, ok := n.(*ast.FencedCodeBlock); ok && string(block.Language(src)) == "suggestion" {
			block.SetAttributeString(attrQuoted, quoted)
		}
		return ast.WalkContinue, nil
	})
	var out bytes.Buffer
	_ = md.Renderer().Render(&out, src, doc) // into memory
	return template.HTML(out.String())
}

func tooMuchMarkdown(source string) bool {
	lines, bars, delimiters := 0, 0, 0
	for line := range strings.Lines(source) {
		lines++
		bars = max(bars, strings.Count(line, "|"))
		if nesting(line) > maxNesting {
			return true
		}
	}
	for _, mark := range []string{"*", "_", "~", "[", "]"} {
		delimiters += strings.Count(source, mark)
	}
	return len(source) > maxMarkdown || lines*bars > maxTableCells || delimiters > maxDelimiters
}

// nesting returns how many quotes and lists a line begins.
func nesting(line string) int {
	for depth := 0; ; depth++ {
		line = strings.TrimLeft(line, " \t")
		mark := line[:len(line)-len(strings.TrimLeft(line, "0123456789"))]
		rest := line[len(mark):]
		switch {
		case mark == "" && strings.HasPrefix(rest, ">"):
		case mark == "" && len(rest) > 1 && strings.IndexByte("-+*", rest[0]) >= 0 && strings.IndexByte(" 	", rest[1]) >= 0:
		case mark != "" && len(rest) > 1 && strings.IndexByte(".)", rest[0]) >= 0 && strings.IndexByte(" 	", rest[1]) >= 0:
		default:
			return depth
		}
		line = rest[1:]
	}
}

// ownNodes renders the nodes for which the page differs from goldmark.
type ownNodes struct{}

func (ownNodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, renderHeading)
	reg.Register(ast.KindLink, renderLink)
	reg.Register(ast.KindAutoLink, renderAutoLink)
	reg.Register(ast.KindImage, renderLink)
	reg.Register(ast.KindFencedCodeBlock, renderFenced)
	for _, kind := range []ast.NodeKind{east.KindTable, east.KindTableHeader, east.KindTableRow, east.KindTableCell} {
		reg.Register(kind, renderTable)
	}
}

// renderHeading renders headings at a level below those of the page.
func renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "<h" + string(rune('0'+min(node.(*ast.Heading).Level+3, 6))) + ">"
	if !entering {
		tag = "</" + tag[1:]
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

// safeURL returns the target of a link if a comment may link there. A target without a scheme may not, because it
// would lead to this server.
func safeURL(dest string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(dest))
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.String(), u.Host != ""
	case "mailto":
		return u.String(), u.Opaque != ""
	}
	return "", false
}

// linkStart opens a link that sends no referrer.
func linkStart(dest string) string {
	escaped := template.HTMLEscapeString(dest)
	return `<a href="` + escaped + `" title="` + escaped + `" rel="nofollow noopener noreferrer" target="_blank">`
}

// renderLink renders a link, and an image as a link, so that nothing is loaded from elsewhere.
func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	raw, label := "", ""
	switch n := node.(type) {
	case *ast.Link:
		raw = string(n.Destination)
	case *ast.Image:
		raw, label = string(n.Destination), "image: "
	}
	dest, ok := safeURL(raw)
	written := ""
	_, own := node.AttributeString(attrOwn)
	switch {
	case own && entering:
		written = `<a href="` + template.HTMLEscapeString(raw) + `">`
	case ok && entering:
		written = linkStart(dest) + label
	case entering:
		written = label
	case ok, own:
		written = "</a>"
	default:
		written = ` <span class="nolink">(` + template.HTMLEscapeString(raw) + `)</span>`
	}
	_, err := w.WriteString(written)
	return ast.WalkContinue, err
}

func renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	raw := string(n.URL(source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(raw), "mailto:") {
		raw = "mailto:" + raw
	}
	label := template.HTMLEscapeString(string(n.Label(source)))
	if dest, ok := safeURL(raw); ok {
		label = linkStart(dest) + label + "</a>"
	}
	_, err := w.WriteString(label)
	return ast.WalkContinue, err
}

func renderFenced(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	lines := blockLines(block, source)
	written := ""
	if quoted, ok := block.AttributeString(attrQuoted); ok {
		q, _ := quoted.(quotedLines)
		written = suggestionHTML(q, lines)
	} else {
		scan := syntax.NewScanner(syntax.Named(string(block.Language(source))))
		for _, line := range lines {
			written += string(codeHTML(line, scan.Line(line), nil)) + "\n"
		}
		written = `<pre class="code"><code>` + written + "</code></pre>\n"
	}
	_, err := w.WriteString(written)
	return ast.WalkSkipChildren, err
}

func blockLines(block *ast.FencedCodeBlock, source []byte) []string {
	var lines []string
	for i := range block.Lines().Len() {
		segment := block.Lines().At(i)
		lines = append(lines, strings.TrimSuffix(string(segment.Value(source)), "\n"))
	}
	return lines
}

// suggestionHTML shows the change that a suggestion makes to the quoted lines.
func suggestionHTML(q quotedLines, lines []string) string {
	head, tail := 0, 0
	for head < len(q.lines) && head < len(lines) && q.lines[head] == lines[head] {
		head++
	}
	for tail < len(q.lines)-head && tail < len(lines)-head && q.lines[len(q.lines)-1-tail] == lines[len(lines)-1-tail] {
		tail++
	}
	lang := syntax.Coloured(q.file)
	var b strings.Builder
	b.WriteString(`<div class="suggestion"><p class="cap">Suggested change</p><table class="diff"><tbody>`)
	row := func(class, mark, label, line string) {
		b.WriteString(`<tr class="` + class + `"><td class="mk"><span class="vh">` + label + `</span>` + mark +
			`</td><td class="code">`)
		b.WriteString(string(codeHTML(line, syntax.NewScanner(lang).Line(line), nil)))
		b.WriteString("</td></tr>")
	}
	for _, line := range q.lines[:head] {
		row("x", " ", "", line)
	}
	for _, line := range q.lines[head : len(q.lines)-tail] {
		row("d", "−", "removed: ", line)
	}
	for _, line := range lines[head : len(lines)-tail] {
		row("a", "+", "added: ", line)
	}
	for _, line := range q.lines[len(q.lines)-tail:] {
		row("x", " ", "", line)
	}
	b.WriteString("</tbody></table></div>\n")
	return b.String()
}

// bareLinks turns addresses and commit ids in the text into links.
type bareLinks struct{}

// attrOwn marks a link to one of our own pages. Markdown text cannot set it.
const attrOwn = "own"

// linksKey is the key of quotedLines.commit in a parser's context.
var linksKey = parser.NewContextKey()

// commitID returns a pattern for commit ids, which people abbreviate.
var commitID = lazyre.Compile(`\b[0-9a-f]{7,64}\b`)

// maxCommits is the maximum number of ids to look up in one text; further ids remain text.
const maxCommits = 50

// Transform inserts the links. It is called once per document.
func (bareLinks) Transform(doc *ast.Document, reader mdtext.Reader, pc parser.Context) {
	commit, _ := pc.Get(linksKey).(func(string) string)
	asked := 0
	find := func(s string) (from, to int, url string) {
		from, to = findAddress(s)
		before := s
		if from >= 0 {
			before, url = s[:from], html.UnescapeString(s[from:to])
		}
		for _, at := range commitID().FindAllStringIndex(before, -1) {
			if asked++; commit == nil || asked > maxCommits {
				break
			}
			if to := commit(s[at[0]:at[1]]); to != "" {
				return at[0], at[1], to
			}
		}
		return from, to, url
	}
	var texts []*ast.Text
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindLink, ast.KindImage, ast.KindCodeSpan, ast.KindAutoLink:
			return ast.WalkSkipChildren, nil
		case ast.KindText:
			text := n.(*ast.Text)
			before, ok := text.PreviousSibling().(*ast.Text)
			if entering && (!ok || !goesOn(before, text)) {
				joinTexts(text)
				texts = append(texts, text)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, text := range texts {
		for text != nil {
			text = linkFirst(text, reader.Source(), find)
		}
	}
}

// goesOn reports whether b directly continues a.
func goesOn(a, b *ast.Text) bool {
	return a.Segment.Stop == b.Segment.Start && !a.SoftLineBreak() && !a.HardLineBreak() && a.Segment.Padding == 0 &&
		b.Segment.Padding == 0
}

// joinTexts merges the nodes that continue text into it. The parser splits text at marks that turn out not to be
// emphasis.
func joinTexts(text *ast.Text) {
	for {
		next, ok := text.NextSibling().(*ast.Text)
		if !ok || !goesOn(text, next) {
			return
		}
		text.Segment.Stop = next.Segment.Stop
		text.SetSoftLineBreak(next.SoftLineBreak())
		text.SetHardLineBreak(next.HardLineBreak())
		text.Parent().RemoveChild(text.Parent(), next)
	}
}

// linkFirst turns the first match of find in text into a link. It returns the text after it, or nil without a match.
func linkFirst(text *ast.Text, source []byte, find func(string) (from, to int, url string)) *ast.Text {
	value := string(text.Segment.Value(source))
	from, to, url := find(value)
	if from < 0 {
		return nil
	}
	parent, start := text.Parent(), text.Segment.Start
	link := ast.NewLink()
	link.Destination = []byte(url)
	if strings.HasPrefix(url, "/") {
		link.SetAttributeString(attrOwn, true)
	}
	link.AppendChild(link, ast.NewTextSegment(mdtext.NewSegment(start+from, start+to)))
	rest := ast.NewTextSegment(mdtext.NewSegment(start+to, text.Segment.Stop))
	rest.SetSoftLineBreak(text.SoftLineBreak())
	rest.SetHardLineBreak(text.HardLineBreak())
	text.Segment.Stop = start + from
	text.SetSoftLineBreak(false)
	text.SetHardLineBreak(false)
	parent.InsertAfter(parent, text, link)
	parent.InsertAfter(parent, link, rest)
	return rest
}

// address matches an http or https address without the punctuation after it.
var address = lazyre.Compile("\\bhttps?://[^ \t\n<>\"`{}|\\\\^]*[^ \t\n<>\"`{}|\\\\^.,:;!?'*_~)\\]]")

// findAddress returns the position of the first address in s, with the brackets that close those in it, or -1.
func findAddress(s string) (from, to int) {
	at := address().FindStringIndex(s)
	if at == nil {
		return -1, -1
	}
	from, to = at[0], at[1]
	for to < len(s) && s[to] == ')' && strings.Count(s[from:to], "(") > strings.Count(s[from:to], ")") {
		to++
	}
	return from, to
}

// Tables and bare links are parsed here, because goldmark's extensions compile patterns when
// the program starts, which would delay git's hooks.

// tables makes tables of the lines of a paragraph that form one.
type tables struct{}

// Transform is called for every paragraph. Text before the table stays in it.
func (tables) Transform(node *ast.Paragraph, reader mdtext.Reader, _ parser.Context) {
	source, lines := reader.Source(), node.Lines()
	for i := 0; i+1 < lines.Len(); i++ {
		header := rowCells(source, lines.At(i))
		below := lines.At(i + 1)
		alignments := alignmentsOf(string(below.Value(source)))
		if len(alignments) == 0 || len(header) != len(alignments) {
			continue
		}
		table := newTable(source, lines, i, alignments)
		node.Parent().InsertAfter(node.Parent(), node, table)
		lines.SetSliced(0, i)
		if i == 0 {
			node.Parent().RemoveChild(node.Parent(), node)
		}
		return
	}
}

// newTable makes a table of the lines from index at on: header, delimiters and rows.
func newTable(source []byte, lines *mdtext.Segments, at int, alignments []east.Alignment) *east.Table {
	table := east.NewTable()
	table.Alignments = alignments
	table.AppendChild(table, east.NewTableHeader(newRow(source, lines.At(at), alignments)))
	for i := at + 2; i < lines.Len(); i++ {
		table.AppendChild(table, newRow(source, lines.At(i), alignments))
	}
	return table
}

// newRow makes a row with a cell for each column; the last cell holds the rest of the line.
func newRow(source []byte, line mdtext.Segment, alignments []east.Alignment) *east.TableRow {
	row, cells := east.NewTableRow(alignments), rowCells(source, line)
	if last := len(alignments) - 1; len(cells) > len(alignments) {
		cells[last].Stop = cells[len(cells)-1].Stop
	}
	for i, alignment := range alignments {
		cell := east.NewTableCell()
		cell.Alignment = alignment
		if i < len(cells) {
			cell.Lines().Append(cells[i])
		}
		row.AppendChild(row, cell)
	}
	return row
}

// rowCells splits a line at its bars. A bar after a backslash is text.
func rowCells(source []byte, line mdtext.Segment) []mdtext.Segment {
	line = trimmed(source, line)
	text := line.Value(source)
	var cells []mdtext.Segment
	begin := 0
	add := func(end int) {
		cells = append(cells, trimmed(source, mdtext.NewSegment(line.Start+begin, line.Start+end)))
		begin = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '|' && i == 0:
			begin = 1
		case text[i] == '|':
			add(i)
		}
	}
	if begin < len(text) {
		add(len(text))
	}
	return cells
}

func trimmed(source []byte, segment mdtext.Segment) mdtext.Segment {
	segment = segment.TrimLeftSpace(source)
	return segment.TrimRightSpace(source)
}

// alignmentsOf parses the line of dashes under a header; it returns nil for any other line.
func alignmentsOf(line string) []east.Alignment {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "|") || strings.Trim(line, "|:- \t") != "" {
		return nil
	}
	var found []east.Alignment
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
		part = strings.TrimSpace(part)
		left, right := strings.HasPrefix(part, ":"), strings.HasSuffix(part, ":")
		if dashes := strings.Trim(part, ":"); dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			found = append(found, east.AlignCenter)
		case left:
			found = append(found, east.AlignLeft)
		case right:
			found = append(found, east.AlignRight)
		default:
			found = append(found, east.AlignNone)
		}
	}
	return found
}

func renderTable(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := map[ast.NodeKind]string{east.KindTable: "table", east.KindTableHeader: "tr", east.KindTableRow: "tr",
		east.KindTableCell: "td"}[node.Kind()]
	attribute, end := "", ""
	if cell, ok := node.(*east.TableCell); ok {
		if cell.Parent().Kind() == east.KindTableHeader {
			tag = "th"
		}
		if cell.Alignment != east.AlignNone { // the content policy forbids a style
			attribute = ` align="` + cell.Alignment.String() + `"`
		}
	} else {
		end = "\n"
	}
	written := "<" + tag + attribute + ">" + end
	if !entering {
		written = "</" + tag + ">\n"
	}
	_, err := w.WriteString(written)
	return ast.WalkContinue, err
}
