package manual

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// More is the group of the commands that All lists and Help does not.
const More = "more"

// Help writes what -h says of the program, a *cli.App, or of a *cli.Command, for a terminal of so
// many columns: w breaks the lines that are longer. Of the program it fits a screen of 80 by 24.
func Help(w io.Writer, of any, columns int) {
	switch of := of.(type) {
	case *cli.App:
		safetext.Fprintf(w, "%s - %s\nusage: %s\n\n", of.HelpName, of.Usage, of.UsageText)
		before := ""
		for _, c := range of.VisibleCommands() {
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
	case *cli.Command:
		usage := of.HelpName + " [command options] " + of.ArgsUsage
		helpOn(w, of.HelpName+" - "+of.Usage, usage, of.Description+idsHelp(of), columns)
		List(w, "COMMANDS", usages(of.VisibleCommands()), columns)
		helpOptions(w, "OPTIONS", of.VisibleFlags(), columns)
	}
}

// All writes all commands by their groups, the program's options and the topics of help.
func All(w io.Writer, app *cli.App, topics []Topic, columns int) {
	helpOn(w, app.HelpName+" - "+app.Usage, app.UsageText, "", columns)
	commands := app.VisibleCommands()
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
	rows := make([][2]string, len(topics))
	for i, topic := range topics {
		rows[i] = [2]string{topic.Name, topic.Usage}
	}
	List(w, "TOPICS, of git runr help TOPIC", rows, columns)
}

func usages(commands []*cli.Command) [][2]string {
	rows := make([][2]string, len(commands))
	for i, c := range commands {
		rows[i] = [2]string{c.Name, c.Usage}
	}
	return rows
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
