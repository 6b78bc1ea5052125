package manual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// Page is the input of the manual page.
type Page struct {
	App           *cli.Command
	Version, Date string // of the program; the date as 2026-01-02
	Topics        []Topic
}

// Roff returns the page in roff's man macros, with no line longer than 80 bytes.
func (p Page) Roff() string {
	r := &roff{}
	r.line(`.TH "` + escape(strings.ToUpper(p.name())) + `" 1 ` + p.Date + ` "` + escape("git-runr "+p.Version) +
		`" "Git Manual"`)
	r.section("NAME")
	r.fill(p.name() + " - " + p.App.Usage)
	r.section("SYNOPSIS")
	r.fill("`" + p.App.UsageText + "`")
	r.section("DESCRIPTION")
	r.text(p.Topics[slices.IndexFunc(p.Topics, func(t Topic) bool { return t.Name == "concepts" })].Text())
	r.section("OPTIONS")
	r.fill("Options go before or after the command. Each command has `-h`.")
	r.options(p.App.Flags)
	r.section("COMMANDS")
	for _, c := range p.App.Commands {
		r.command(p.App.Name, c, true)
	}
	for _, t := range p.Topics {
		if t.Name != "concepts" { // the description
			r.section(cmp.Or(t.Title, strings.ToUpper(strings.ReplaceAll(t.Name, "-", " "))))
			r.text(t.Text())
		}
	}
	r.section("SEE ALSO")
	r.line(`\fBgit\fR(1), \fBgit\-notes\fR(1), \fBgithooks\fR(5)`)
	return r.String()
}

// name returns the name of the program, with which man(1) finds the page.
func (p Page) name() string { return strings.ReplaceAll(p.App.Name, " ", "-") }

// roff is a page under construction.
type roff struct{ strings.Builder }

// line writes a line that is in roff already.
func (r *roff) line(s string) {
	r.WriteString(s)
	r.WriteByte('\n')
}

// request writes a macro with its arguments.
func (r *roff) request(macro string, args ...string) {
	for _, arg := range args {
		macro += ` "` + strings.ReplaceAll(escape(strings.TrimSpace(arg)), `"`, `\(dq`) + `"`
	}
	r.line("." + macro)
}

func (r *roff) section(title string) { r.request("SH", title) }

// fill writes text that the reader's program wraps. Text between backquotes becomes bold.
func (r *roff) fill(text string) {
	for _, line := range wrap(text, 60) { // escapes and marks make it longer
		r.line(guard(bold(escape(line))))
	}
}

// verbatim writes lines as they are, indented by two spaces.
func (r *roff) verbatim(lines []string) {
	r.line(".EX")
	in := len(lines[0])
	for _, line := range lines {
		if body := strings.TrimLeft(line, " "); body != "" {
			in = min(in, len(line)-len(body))
		}
	}
	for _, line := range lines {
		line = guard(escape("  " + line[min(in, len(line)):]))
		for len(line) > 78 { // a continued line: some readers would treat \c as an escape
			at := cut(line)
			r.line(line[:at] + `\`)
			line = guard(line[at:])
		}
		r.line(line)
	}
	r.line(".EE")
}

// cut returns where to cut a long line, never inside an escape.
func cut(line string) int {
	if at := strings.LastIndexByte(line[:76], ' '); at > 0 {
		return at
	}
	if at := strings.LastIndexByte(line[2:70], '\\'); at >= 60 { // \[u10FFFF] is the longest
		return at + 2
	}
	return 70
}

// text writes a topic's blocks.
func (r *roff) text(text string) {
	blocks := parse(text)
	for i, b := range blocks {
		if i > 0 && blocks[i-1].kind != heading && (b.kind == paragraph || b.kind == literal) {
			r.line(".PP")
		}
		switch b.kind {
		case heading:
			r.request("SS", b.lines[0])
		case paragraph:
			r.fill(strings.Join(b.lines, " "))
		case literal:
			r.verbatim(b.lines)
		case definition:
			r.definition(b.term, b.body)
		}
	}
}

func (r *roff) definition(term string, body []block) {
	r.line(".TP")
	r.line(guard(`\fB` + escape(term) + `\fR`))
	for i, b := range body {
		switch {
		case b.kind == literal:
			r.verbatim(b.lines)
			continue
		case b.kind == definition:
			r.line(".RS")
			r.definition(b.term, b.body)
			r.line(".RE")
			continue
		case i > 0:
			r.line(".IP")
		}
		r.fill(strings.Join(b.lines, " "))
	}
}

// command writes a command and its subcommands.
func (r *roff) command(before string, c *cli.Command, top bool) {
	if c.Hidden {
		return
	}
	name := before + " " + c.Name
	if top {
		r.request("SS", name+" "+c.ArgsUsage)
	} else {
		r.line(".PP")
		r.line(strings.TrimRight(`\fB`+escape(name)+`\fR `+escape(c.ArgsUsage), " "))
		r.line(".br")
	}
	r.fill(strings.ToUpper(c.Usage[:1]) + c.Usage[1:] + ".")
	if c.Description != "" {
		r.line(".PP")
		r.text(paragraphs(c.Description))
	}
	r.options(c.Flags)
	for _, sub := range c.Commands {
		r.command(name, sub, false)
	}
}

// options writes flags as in the output of -h.
func (r *roff) options(flags []cli.Flag) {
	for _, f := range flags {
		if hidden, ok := f.(cli.VisibleFlag); ok && !hidden.IsVisible() {
			continue
		}
		names, usage, _ := strings.Cut(f.String(), "\t")
		r.definition(names, []block{{lines: []string{usage}}})
	}
}

// paragraphs separates indented lines and exit statuses in a command's description from the lines before them.
func paragraphs(description string) string {
	var b strings.Builder
	before := ""
	for line := range strings.Lines(description) {
		if before != "" && (indented(line) && !indented(before) || strings.HasPrefix(line, "Exit status")) {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}

// escape returns text in roff. It names characters beyond ASCII, because the reader may not know the encoding.
func escape(text string) string {
	signs := map[rune]string{'…': "...", '✗': "x", '●': "*"} // printer fonts lack them
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '~':
			b.WriteString(`\(ti`)
		case signs[c] != "":
			b.WriteString(signs[c])
		case c < ' ':
			b.WriteByte(' ')
		case c < 0x7f:
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		}
	}
	return b.String()
}

// bold makes text between backquotes bold.
func bold(text string) string {
	for strings.Count(text, "`") > 1 {
		text = strings.Replace(strings.Replace(text, "`", `\fB`, 1), "`", `\fR`, 1)
	}
	return text
}

// guard keeps a line from being read as a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
