package reviewing

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"text/template"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// ReviewPrompt is everything that a prompt for an agent reviewer can contain: the task of a strict reviewer and the
// change itself. Nothing in the change can end its fence or pose as an answer, because both carry the nonce.
type ReviewPrompt struct {
	Entity        runplan.Entity
	DoneCriteria  string
	References    string
	Message       string        // of the person who requested the review
	Commits       []reply.Words // messages of the commits under review
	Files         []string
	Verification  string // the implementer's own words about its verification
	Round         int
	Previous      []reply.Finding
	Said          []reply.Words   // the previous review in full
	Known         []reply.Finding // open findings of other reviews in these files
	Fixes         []reply.Finding // findings that the change was made to fix
	Refuted       []reply.Words   // reasons of an implementer that changed nothing
	People        []string        // what people said and did meanwhile, one line each
	Scope         string          // what the implementer may change; "" means everything
	DoneChecks    []string        // the task's own checks and what was run for them, one line each
	Checks        []record.CheckResult
	NotChecked    []string
	Panel         record.Panel
	Told          ToldText
	Earlier       []reply.Words // what was said about earlier parts
	Census        record.Census // of the whole change
	Part                        // of the change
	Number, Parts int           // of the part, from 1, and of all parts
	Nonce         string
}

// Text returns the prompt.
func (p ReviewPrompt) Text() string { return FillPrompt(prompts, "review.md", p) }

//go:embed prompts
var promptFiles embed.FS

var prompts = Prompts(promptFiles)

// Prompts returns the templates in the directory prompts of files, which are parsed at the first call.
func Prompts(files fs.FS) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{
			"answer_form": reply.ReviewOutputInstructions, "checks": formatChecks, "count": prose.Count,
			"findings": FormatFindings, "hanging": prose.Hanging, "indent": prose.Indent, "join": strings.Join,
			"kind": kindText, "line": safetext.Line, "lines_of": oneEach, "names": prose.Names, "quote": safetext.Quote,
			"next":     func(i int) int { return i + 1 },
			"patch":    func(patch []byte) string { return strings.TrimRight(string(patch), "\n") },
			"severity": SeverityTitle, "steps": func() string { return reply.ReviewSteps }, "tagged": tagged, "words": words,
		}).ParseFS(files, "prompts/*.md"))
	})
}

// FillPrompt returns a prompt with data filled in.
func FillPrompt(prompts func() *template.Template, name string, data any) string {
	var b strings.Builder
	if err := prompts().ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // a part of this program is wrong
	}
	return b.String()
}

// FormatFindings formats findings for a prompt, one block each.
func FormatFindings(findings []reply.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		fmt.Fprintf(&b, "Finding %d:\n- Severity: %s\n- File:Line: %s\n- Issue: %s\n- Fix: %s\n\n", i+1,
			SeverityTitle(f.Severity), safetext.Line(f.Place()), prose.Hanging(f.Issue), prose.Hanging(f.Fix))
	}
	return strings.TrimRight(b.String(), "\n")
}

func formatChecks(results []record.CheckResult, notRun []string) string {
	var lines []string
	for _, c := range results {
		state := c.State()
		if c.OK() {
			state = "exit 0"
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", safetext.Line(c.Name), safetext.Line(c.Command), state))
		if !c.OK() && c.NotRun == "" {
			lines = append(lines, prose.Indent(c.Shown(40)))
		}
	}
	for _, why := range notRun {
		lines = append(lines, "not run: "+why)
	}
	return strings.Join(lines, "\n")
}

// SeverityTitle returns a severity as prompts write it.
func SeverityTitle(s reply.Severity) string {
	return cmp.Or(map[reply.Severity]string{reply.Critical: "Critical", reply.Note: "Note"}[s], "Warning")
}

// WriteBlock writes text between tags, or nothing if it is empty.
func WriteBlock(b *strings.Builder, tag, text string) { b.WriteString(tagged(tag, text)) }

func tagged(tag string, texts ...string) string {
	text := strings.TrimSpace(strings.Join(texts, ""))
	if text == "" {
		return ""
	}
	return fmt.Sprintf("<%s>\n%s\n</%s>\n", tag, text, tag)
}

// oneEach formats untrusted names, one on each line.
func oneEach(names []string) string { return strings.Join(each.Of(names, safetext.Line), "\n") }

// words returns a block with texts of others, each with its author, or nothing if all are empty. lead says how to use
// them.
func words(tag string, said []reply.Words, lead ...string) string {
	var parts []string
	for _, w := range said {
		if strings.TrimSpace(w.Text) != "" {
			parts = append(parts, safetext.Line(w.By)+":\n"+safetext.Quote(w.Text))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return tagged(tag, strings.Join(lead, ""), "\nIt is quoted: each of its lines begins with \"> \".\n\n",
		strings.Join(parts, "\n\n"))
}
