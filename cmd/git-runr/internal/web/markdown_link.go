package web

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

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
