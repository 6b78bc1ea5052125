package web

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

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
	start int
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
		util.Prioritized(html.NewRenderer(), 1000), util.Prioritized(ownNodes{}, 100)))
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
		written = `<pre class="code"><code>` + codeLinesHTML(syntax.Named(string(block.Language(source))), lines) +
			"</code></pre>\n"
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

func codeLinesHTML(lang *syntax.Language, lines []string) string {
	var b strings.Builder
	scan := syntax.NewScanner(lang)
	for _, line := range lines {
		b.WriteString(string(codeHTML(line, scan.Line(line), nil)))
		b.WriteByte('\n')
	}
	return b.String()
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
