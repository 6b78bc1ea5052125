package diagnose

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// part is a titled list of a diagnosis or a report, for a terminal and for Markdown. Its lines may be foreign text. A
// tab begins a line that belongs to the one above it; other white space around a line is for a terminal.
type part struct {
	title string
	lines []string
	form  form
}

// form says what stands before the lines of a part.
type form int

const (
	plain form = iota // nothing on a terminal; in Markdown as listed
	listed
	numbered
	quoted
	typed // nothing: lines of a shell
)

// mark returns the text before line i, from 0.
func (f form) mark(i int) string {
	switch f {
	case listed:
		return "- "
	case numbered:
		return fmt.Sprintf("%d. ", i+1)
	case quoted:
		return "> "
	}
	return ""
}

// writeText writes parts for a terminal, each after an empty line. It leaves out those without lines.
func writeText(b *strings.Builder, indent string, parts ...part) {
	for _, p := range parts {
		if len(p.lines) == 0 {
			continue
		}
		safetext.Fprintf(b, "\n%s%s:\n", indent, p.title)
		for i, line := range p.lines {
			if below, ok := strings.CutPrefix(line, "\t"); ok {
				safetext.Fprintf(b, "%s    %s\n", indent, below)
				continue
			}
			safetext.Fprintf(b, "%s  %s%s\n", indent, p.form.mark(i), line)
		}
	}
}

// writeMarkdown writes parts as sections, with the marks of a heading. Shell lines are in a fence longer than any fence
// in them.
func writeMarkdown(b *strings.Builder, heading string, parts ...part) {
	for _, p := range parts {
		if len(p.lines) == 0 {
			continue
		}
		safetext.Fprintf(b, "\n%s %s\n\n", heading, markdown(p.title))
		if p.form == typed {
			text, fence := strings.Join(p.lines, "\n"), "```"
			for strings.Contains(text, fence) {
				fence += "`"
			}
			safetext.Fprintf(b, "%ssh\n%s\n%s\n", fence, safetext.Block(text), fence)
			continue
		}
		for i, line := range p.lines {
			mark := cmp.Or(p.form.mark(i), "- ")
			if strings.HasPrefix(line, "\t") {
				mark = "  - "
			}
			safetext.Fprintf(b, "%s%s\n", mark, markdown(line))
		}
	}
}

// said quotes the words of the agent that caused the stop, in rows of at most width columns.
func (d Diagnosis) said(width int) part {
	p := part{title: cmp.Or(d.SaidBy, "the agent") + " said", form: quoted}
	for line := range strings.Lines(d.Said) {
		line = safetext.Line(strings.TrimRight(line, " \t\r\n"))
		if prose.Columns(line) > max(width, 16) {
			line = strings.TrimSuffix(wrap(line, max(width, 16)), "\n")
		}
		p.lines = append(p.lines, strings.Split(line, "\n")...)
	}
	return p
}

// failed lists the failing checks, and for each what failed and where. If a reviewer asked for something, the codes of
// what is unmet already say which checks fail.
func (d Diagnosis) failed() part {
	p := part{title: "Checks that fail"}
	for _, c := range d.FailingChecks {
		what := c.Failures
		if len(what) == 0 && (d.plain() || c.Log != "") {
			what = []string{c.State}
		}
		p.lines = append(p.lines, prefixed(c.Check+": ", what)...)
		if c.More > 0 {
			p.lines = append(p.lines, fmt.Sprintf("%s: … and %d more", c.Check, c.More))
		}
		if c.Log != "" {
			p.lines = append(p.lines, "\t"+c.Log)
		}
	}
	return p
}

// requested lists the requests, then earlier ones that are not among them, each with what happened to it and cut to
// width columns.
func (d Diagnosis) requested(width int) part {
	p := part{title: "Reviewer requested", form: numbered}
	for _, r := range d.LastReviewRequests {
		p.lines = append(p.lines, prose.CutColumns(oneLine(r), width)+d.fate(r))
	}
	for _, t := range d.Requests {
		if !slices.Contains(d.LastReviewRequests, t.Text) {
			p.lines = append(p.lines, prose.CutColumns(oneLine(t.Text), width)+" ("+fateOf(t)+")")
		}
	}
	return p
}

// commandLines returns the suggested commands with their last results, aligned.
func (d Diagnosis) commandLines() part {
	widest := 0
	for _, s := range d.SuggestedCommands {
		widest = max(widest, prose.Columns(s.line))
	}
	return part{title: "Commands to satisfy", form: typed, lines: each.Of(d.SuggestedCommands, func(s Suggestion) string {
		return s.line + strings.Repeat(" ", widest-prose.Columns(s.line)) + "  # was: " + s.Was
	})}
}

// putBack has the commands that show, undo or accept changes outside an agent's work.
func (d Diagnosis) putBack() part {
	return part{title: "To see what changed, put it back, or accept it", form: typed, lines: d.PutBack}
}

// intervene has the suggested intervention. A backslash at the end of a line joins it with the next one in sh, bash,
// zsh and fish.
func (d Diagnosis) intervene() part {
	return part{title: "Suggested intervention", form: typed,
		lines: strings.Split(strings.Join(d.intervention, " \\\n  "), "\n")[:len(d.intervention)]}
}

// endLines returns, as far as they are known, what the agents used, when to resume and where their words are.
func (d Diagnosis) endLines(place Place) []string {
	var lines []string
	if took := d.Spending.String(); took != "" {
		lines = append(lines, "The agents used "+oneLine(took))
	}
	if !d.ResumeAfter.IsZero() {
		lines = append(lines, fmt.Sprintf("Resume it after %s: git runr resume %s",
			d.ResumeAfter.UTC().Format(time.DateTime+"Z"), d.RunID))
	}
	if d.Transcript != "" && place.Files != "" {
		if name, ok := safetext.ShellWord(path.Join(place.Files, d.Transcript)); ok {
			lines = append(lines, "What it wrote: "+name)
		}
	}
	return lines
}
