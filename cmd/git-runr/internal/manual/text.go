// Package manual contains the program's documentation: the topics of git runr help, kept as text files, and the manual
// page, which is made from the topics and the commands.
//
// A text consists of four kinds of blocks, separated by empty lines:
//
//	## a heading
//	a paragraph, filled to the reader's width
//	    indented lines, which stay as they are
//	a term
//	    its meaning: blocks again, indented by four spaces
package manual

import (
	"bytes"
	"embed"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

//go:embed topics/*.md
var files embed.FS

// Topic is a text that is not about one command.
type Topic struct {
	Name  string
	Usage string // one line for lists of topics
	Title string // of its section of the manual page; "" for its name in capitals
	Text  func() string
}

// Written returns the topics that are kept as files.
func Written() []Topic {
	topics := []Topic{
		{Name: "concepts", Usage: "reviews, runs, findings and events, and where they are kept"},
		{Name: "agents", Usage: "reviewers and implementers, their prompts, panels, limits"},
		{Name: "ci", Usage: "teams, pipelines, hooks and the gate before a push", Title: "TEAMS AND PIPELINES"},
		{Name: "troubleshooting", Usage: "what a problem means, and what to type"},
		{Name: "security", Usage: "trust, what agents may do, how your files are protected"},
		{Name: "files", Usage: "every ref, file and directory that git-runr writes"},
		{Name: "environment", Usage: "the environment variables that git-runr reads"},
		{Name: "examples", Usage: "a first review, a first run, a team, a pipeline"},
	}
	for i := range topics {
		topics[i].Text = func() string {
			text, _ := files.ReadFile("topics/" + topics[i].Name + ".md") // a test reads them all
			return string(text)
		}
	}
	return topics
}

type kind int

const (
	paragraph kind = iota
	heading
	literal
	definition
)

// block is a part of a text; only a definition has term and body.
type block struct {
	kind  kind
	lines []string
	term  string
	body  []block
}

// parse parses a text. It accepts any text: a block of no other kind is a paragraph.
func parse(text string) []block {
	var blocks []block
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for len(lines) > 0 {
		var b block
		if b, lines = nextBlock(lines); b.kind == literal && len(b.lines) == 0 {
			continue
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func nextBlock(lines []string) (block, []string) {
	first := lines[0]
	title, isHeading := strings.CutPrefix(first, "## ")
	switch {
	case first == "":
		return block{kind: literal}, lines[1:]
	case isHeading:
		return block{kind: heading, lines: []string{title}}, lines[1:]
	case indented(first):
		n := indentedLines(lines)
		return block{kind: literal, lines: lines[:n]}, lines[n:]
	case len(lines) > 1 && indented(lines[1]):
		n := 1 + indentedLines(lines[1:])
		body := each.Of(lines[1:n], func(line string) string { return strings.TrimPrefix(line, "    ") })
		return block{kind: definition, term: first, body: parse(strings.Join(body, "\n"))}, lines[n:]
	}
	n := 1
	for n < len(lines) && lines[n] != "" && !indented(lines[n]) {
		n++
	}
	if n < len(lines) && n > 1 && indented(lines[n]) { // the last line is a term
		n--
	}
	return block{kind: paragraph, lines: lines[:n]}, lines[n:]
}

func indented(line string) bool { return strings.HasPrefix(line, " ") }

// indentedLines returns the number of lines that are indented, and of empty lines between them.
func indentedLines(lines []string) int {
	end := 0
	for i, line := range lines {
		if indented(line) {
			end = i + 1
		} else if line != "" {
			break
		}
	}
	return end
}

// Fprint writes a text for a terminal of the given width.
func Fprint(w io.Writer, text string, width int) error {
	var lines []string
	for i, b := range parse(text) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, b.shown(width)...)
	}
	_, err := safetext.Fprintf(w, "%s\n", safetext.Block(strings.Join(lines, "\n")))
	return err
}

// shown returns a block as lines of at most width columns, unless a word is longer.
func (b block) shown(width int) []string {
	switch b.kind {
	case heading:
		return []string{strings.ToUpper(b.lines[0])}
	case literal:
		return b.lines
	case paragraph:
		return wrap(strings.Join(b.lines, " "), width)
	}
	lines := []string{b.term}
	for _, inner := range b.body {
		for _, line := range inner.shown(max(width-4, 1)) {
			lines = append(lines, strings.TrimRight("    "+line, " "))
		}
	}
	return lines
}

// wrap breaks text between words; text between backquotes is one word.
func wrap(text string, width int) []string {
	var lines []string
	line, code := "", false
	words := strings.FieldsFunc(text, func(c rune) bool {
		code = code != (c == '`')
		return c == ' ' && !code
	})
	for _, word := range words {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return slices.Clip(append(lines, line))
}

// More is the group of commands that All lists and Help does not.
const More = "more"

// Help writes the text of -h for a command, or for the program. It fits a terminal of the given width; w breaks longer
// lines. The text for the program fits a screen of 80 by 24.
func Help(w io.Writer, of *cli.Command, columns int) {
	if of == of.Root() {
		helpProgram(w, of)
		return
	}
	usage := of.FullName() + " [command options] " + of.ArgsUsage
	helpOn(w, of.FullName()+" - "+of.Usage, usage, of.Description+idsHelp(of), columns)
	List(w, "COMMANDS", usages(visible(of)), columns)
	helpOptions(w, "OPTIONS", of.VisibleFlags(), columns)
}

func helpProgram(w io.Writer, of *cli.Command) {
	safetext.Fprintf(w, "%s - %s\nusage: %s\n\n", of.Name, of.Usage, of.UsageText)
	before := ""
	for _, c := range visible(of) {
		if c.Category == More {
			continue
		}
		group := c.Category
		if group == before {
			group = ""
		}
		before = c.Category
		safetext.Fprintf(w, "%-7s %-10s %s\n", group, c.Name, c.Usage)
	}
	safetext.Fprintf(w, "\nThe rest: git runr help --all. One: git runr COMMAND -h, git runr help TOPIC.\n")
}

// All writes all commands by group, the program's options and the topics of help.
func All(w io.Writer, app *cli.Command, topics []Topic, columns int) {
	helpOn(w, app.Name+" - "+app.Usage, app.UsageText, "", columns)
	commands := visible(app)
	for len(commands) > 0 {
		group := commands[0].Category
		n := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Category != group })
		if n < 0 {
			n = len(commands)
		}
		List(w, strings.ToUpper(group), usages(commands[:n]), columns)
		commands = commands[n:]
	}
	helpOptions(w, "GLOBAL OPTIONS", app.VisibleFlags(), columns)
	rows := each.Of(topics, func(t Topic) [2]string { return [2]string{t.Name, t.Usage} })
	List(w, "TOPICS, of git runr help TOPIC", rows, columns)
}

// visible returns the commands of a command that are not hidden. cli's VisibleCommands leaves out "help".
func visible(of *cli.Command) []*cli.Command {
	return slices.DeleteFunc(slices.Clone(of.Commands), func(c *cli.Command) bool { return c.Hidden })
}

func usages(commands []*cli.Command) [][2]string {
	return each.Of(commands, func(c *cli.Command) [2]string { return [2]string{c.Name, c.Usage} })
}

func helpOn(w io.Writer, summary, usage, description string, columns int) {
	summary = strings.Join(wrap(summary, columns-3), "\n   ")
	safetext.Fprintf(w, "NAME:\n   %s\n\nUSAGE:\n   %s\n", safetext.Block(summary), strings.TrimRight(usage, " "))
	if description == "" {
		return
	}
	var text bytes.Buffer
	_ = Fprint(&text, paragraphs(description), columns-3) // into memory
	safetext.Fprintf(w, "\nDESCRIPTION:\n")
	for line := range strings.Lines(text.String()) {
		safetext.Fprintf(w, "%s\n", strings.TrimRight("   "+line, " \n"))
	}
}

func helpOptions(w io.Writer, title string, flags []cli.Flag, columns int) {
	rows := make([][2]string, len(flags))
	for i, f := range flags {
		rows[i][0], rows[i][1], _ = strings.Cut(f.String(), "\t")
	}
	List(w, title, rows, columns)
}

// List writes names, each with its meaning beside it, or below it if the name is too wide. It writes nothing if rows is
// empty.
func List(w io.Writer, title string, rows [][2]string, columns int) {
	if len(rows) == 0 {
		return
	}
	most, widest := columns*2/5, 0
	for _, row := range rows {
		if n := prose.Columns(row[0]); n <= most {
			widest = max(widest, n)
		}
	}
	safetext.Fprintf(w, "\n%s:\n", title)
	for _, row := range rows {
		gap := strings.Repeat(" ", max(widest-prose.Columns(row[0]), 0)+2)
		if prose.Columns(row[0]) > most {
			gap = "\n" + strings.Repeat(" ", widest+5)
		}
		safetext.Fprintf(w, "   %s%s%s\n", row[0], safetext.Block(gap), strings.TrimSpace(row[1]))
	}
}

// idsHelp returns how to type an id, for a command that has one as an argument.
func idsHelp(c *cli.Command) string {
	words := strings.FieldsFunc(c.ArgsUsage, func(r rune) bool { return r < 'A' || r > 'Z' })
	if !slices.ContainsFunc(words, func(word string) bool { return word == "RUN" || word == "REVIEW" || word == "ID" }) {
		return ""
	}
	return "\n\nFor an id, type its beginning, its letters, their first or last four, latest, or a commit, branch or " +
		"HEAD that it\n" +
		"belongs to."
}
