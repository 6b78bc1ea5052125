package web

import (
	"bytes"
	"context"
	"html/template"
	"path"
	"slices"
	"strconv"
	"strings"

	mdtext "github.com/yuin/goldmark/text"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/loop/safetext"
)

// blockRow is a block of a document before and after the change, "" on a side that does not have it. Class is x if
// both are the same, else a, d or c.
type blockRow struct {
	Class    string
	Old, New template.HTML
}

// blockRun is consecutive rows of a document. The rows of a Folded one are unchanged and far from any change.
type blockRun struct {
	Folded bool
	Rows   []blockRow
}

// blocksAround is how many unchanged blocks are shown around a change.
const blocksAround = 2

// isDrawing reports by its name whether the text of the file describes a drawing.
func (f changedFile) isDrawing() bool {
	return !f.Binary && f.Status != "T" && isSVG(f.Path)
}

// stands reports by its name whether the text of the file can be rendered.
func (f changedFile) stands() bool {
	markdown := []string{".md", ".markdown", ".mdown"}
	return f.isDrawing() || !f.Binary && f.Status != "T" && slices.Contains(markdown, strings.ToLower(path.Ext(f.Path)))
}

// render shows the file rendered. It reports whether the file is small enough for that.
func (p *pages) render(ctx context.Context, c comparison, v *fileView, sizes fileSizes) (done bool, err error) {
	if v.isDrawing() {
		v.Images, err = p.images(ctx, c, v.changedFile, sizes)
		return true, err
	}
	var texts [2]string
	for i, side := range sidesOf(c, v.changedFile) {
		size, there := sizes[side.side][side.path]
		if size > maxMarkdown {
			return false, nil
		}
		if !there {
			continue
		}
		data, err := p.repo.Blob(ctx, side.tree, side.path)
		if err != nil {
			return false, err
		}
		texts[i] = safetext.Text(string(data))
	}
	if tooMuchMarkdown(texts[0]) || tooMuchMarkdown(texts[1]) {
		return false, nil
	}
	rows := blockRows(markdownBlocks(texts[0]), markdownBlocks(texts[1]))
	orderHeadings(rows)
	v.Rendered = foldBlocks(rows)
	return true, nil
}

// markdownBlocks returns the blocks of a document as HTML.
func markdownBlocks(source string) (blocks []string) {
	md, src := markdownParser(), []byte(source)
	doc := md.Parser().Parse(mdtext.NewReader(src))
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		var out bytes.Buffer
		_ = md.Renderer().Render(&out, src, block)                 // into memory
		if shown := out.String(); strings.TrimSpace(shown) != "" { // a link definition renders as nothing
			blocks = append(blocks, shown)
		}
	}
	return blocks
}

// blockRows pairs the blocks of both sides and marks the changed words.
func blockRows(before, after []string) (rows []blockRow) {
	gone, come := worddiff.Sides(before, after)
	for i, j := 0, 0; i < len(before) || j < len(after); {
		removed, added := 0, 0
		for i+removed < len(before) && gone[i+removed] {
			removed++
		}
		for j+added < len(after) && come[j+added] {
			added++
		}
		if removed+added == 0 {
			rows = append(rows, blockRow{"x", template.HTML(before[i]), template.HTML(after[j])})
			i, j = i+1, j+1
			continue
		}
		for k := range max(removed, added) {
			switch {
			case k >= removed:
				rows = append(rows, blockRow{Class: "a", New: template.HTML(after[j+k])})
			case k >= added:
				rows = append(rows, blockRow{Class: "d", Old: template.HTML(before[i+k])})
			default:
				old, new := markWords(before[i+k], after[j+k])
				rows = append(rows, blockRow{"c", template.HTML(old), template.HTML(new)})
			}
		}
		i, j = i+removed, j+added
	}
	return rows
}

// orderHeadings sets aria-level on headings that skip a level, so that they are one step below the heading before
// them: a document may begin at any level. Their look does not change.
func orderHeadings(rows []blockRow) {
	level := 3 // of the file's own
	order := func(block template.HTML) template.HTML {
		var out strings.Builder
		for _, token := range htmlTokens(string(block)) {
			if len(token) == len("<h4>") && token[:2] == "<h" && token[2] >= '4' && token[2] <= '6' {
				if deep := int(token[2] - '0'); deep <= level+1 {
					level = deep
				} else {
					level++
					token = token[:3] + ` aria-level="` + strconv.Itoa(level) + `">`
				}
			}
			out.WriteString(token)
		}
		return template.HTML(out.String())
	}
	for i := range rows {
		if rows[i].Class == "x" {
			rows[i].New = order(rows[i].New)
			rows[i].Old = rows[i].New
			continue
		}
		rows[i].Old, rows[i].New = order(rows[i].Old), order(rows[i].New)
	}
}

// foldBlocks folds unchanged blocks far from a change.
func foldBlocks(rows []blockRow) (runs []blockRun) {
	near := make([]bool, len(rows))
	for i, row := range rows {
		if row.Class != "x" {
			for k := max(0, i-blocksAround); k <= min(len(rows)-1, i+blocksAround); k++ {
				near[k] = true
			}
		}
	}
	for i, row := range rows {
		if i == 0 || near[i] != near[i-1] {
			runs = append(runs, blockRun{Folded: !near[i]})
		}
		last := &runs[len(runs)-1]
		last.Rows = append(last.Rows, row)
	}
	for i := range runs {
		runs[i].Folded = runs[i].Folded && len(runs[i].Rows) > blocksAround
	}
	return runs
}

// markWords marks in each of two HTML blocks the words that the other does not have. It marks nothing if they have
// little in common.
func markWords(before, after string) (old, new string) {
	a, b := htmlTokens(before), htmlTokens(after)
	gone, come, alike := worddiff.Compare(a, b, func(token string) int {
		if isWord(token) {
			return 1
		}
		return 0
	})
	if !alike {
		return before, after
	}
	return marked(before, a, gone), marked(after, b, come)
}

// htmlTokens splits HTML made by the page into tags, words, other characters and white space.
func htmlTokens(s string) (tokens []string) {
	for len(s) > 0 {
		end := 0
		switch s[0] {
		case '<':
			end = strings.IndexByte(s, '>') + 1
		case '&':
			end = strings.IndexByte(s, ';') + 1
		default:
			end = worddiff.Next(s)
		}
		if end == 0 {
			end = len(s)
		}
		tokens, s = append(tokens, s[:end]), s[end:]
	}
	return tokens
}

// isWord reports whether a token can be marked: it is not a tag or white space.
func isWord(token string) bool { return token[0] != '<' && strings.TrimSpace(token) != "" }

// marked puts marks around the changed words of a block.
func marked(block string, tokens []string, changed []bool) string {
	for i, token := range tokens {
		changed[i] = changed[i] && isWord(token)
	}
	var out strings.Builder
	at := 0
	for _, mark := range worddiff.Spans(block, tokens, changed) {
		out.WriteString(block[at:mark[0]] + "<mark>" + block[mark[0]:mark[1]] + "</mark>")
		at = mark[1]
	}
	return out.String() + block[at:]
}
