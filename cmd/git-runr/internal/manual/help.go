package manual

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/loop/prose"
	"git-runr/loop/safetext"
)

// Help writes what -h says of the program, a *cli.App, or of a *cli.Command, for a terminal of so
// many columns: w breaks the lines that are longer.
func Help(w io.Writer, of any, columns int) {
	switch of := of.(type) {
	case *cli.App:
		helpOn(w, of.HelpName, of.Usage, of.UsageText, "", of.VisibleCommands(), columns)
		helpOptions(w, "GLOBAL OPTIONS", of.VisibleFlags(), columns)
	case *cli.Command:
		usage := of.HelpName + " [command options] " + of.ArgsUsage
		helpOn(w, of.HelpName, of.Usage, usage, of.Description+idsHelp(of), of.VisibleCommands(), columns)
		helpOptions(w, "OPTIONS", of.VisibleFlags(), columns)
	}
}

func helpOn(w io.Writer, name, what, usage, description string, commands []*cli.Command, columns int) {
	summary := strings.Join(wrap(name+" - "+what, columns-3), "\n   ")
	safetext.Fprintf(w, "NAME:\n   %s\n\nUSAGE:\n   %s\n", safetext.Block(summary), strings.TrimRight(usage, " "))
	if description != "" {
		var text bytes.Buffer
		_ = Fprint(&text, paragraphs(description), columns-3) // into memory
		safetext.Fprintf(w, "\nDESCRIPTION:\n")
		for line := range strings.Lines(text.String()) {
			safetext.Fprintf(w, "%s\n", strings.TrimRight("   "+line, " \n"))
		}
	}
	rows := make([][2]string, len(commands))
	for i, c := range commands {
		rows[i] = [2]string{c.Name, c.Usage}
	}
	List(w, "COMMANDS", rows, columns)
}

func helpOptions(w io.Writer, title string, flags []cli.Flag, columns int) {
	rows := make([][2]string, len(flags))
	for i, f := range flags {
		rows[i][0], rows[i][1], _ = strings.Cut(f.String(), "\t")
	}
	List(w, title, rows, columns)
}

// List writes what there is of something, each with what it means beside it, or below it where its
// name takes up more than its part of the columns; nothing of none.
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

// idsHelp says how ids are typed, of a command that wants one.
func idsHelp(c *cli.Command) string {
	words := strings.FieldsFunc(c.ArgsUsage, func(r rune) bool { return r < 'A' || r > 'Z' })
	if !slices.ContainsFunc(words, func(word string) bool { return word == "RUN" || word == "REVIEW" || word == "ID" }) {
		return ""
	}
	return "\n\nAn id may be typed as its beginning, its letters or the first or last four of them, latest, or a commit, HEAD or a branch that it is of."
}
