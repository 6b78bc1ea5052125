package runner

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TaskFile holds the settings of a task file: those in its front matter, or under the headings "Scope" and
// "Verification".
//
//	allowlist_add: [src/**]     or a list below; also allow, allowlist and owns
//	denylist: docs/**           also deny
//	tier: tier1
type TaskFile struct {
	Title      string
	Criteria   string   // done criteria: a section of the text, else all of it
	DoneChecks []string // commands that Criteria names, if it is a section of its own
	Scope      runplan.Scope
	Tier       string // of verification that the task requires
}

// ReadTask reads a task file. It ignores lines in an unknown form.
func ReadTask(text string) TaskFile {
	task := TaskFile{Title: TaskTitle(text), Criteria: DoneCriteria(text)}
	if strings.TrimSpace(task.Criteria) != strings.TrimSpace(text) {
		_, task.DoneChecks = criteriaParts(task.Criteria)
	}
	reader := taskReader{task: &task}
	for i, line := range markdown.Split(text).Lines {
		reader.line(i, line)
	}
	return task
}

// taskReader reads the settings of a task file line by line.
type taskReader struct {
	task    *TaskFile
	front   bool      // in the front matter
	section bool      // below a heading for settings
	list    *[]string // the list to which the items below belong
}

func (r *taskReader) line(i int, l markdown.Line) {
	text := strings.TrimSpace(l.Text)
	if text == "---" {
		r.front, r.list = i == 0, nil
		return
	}
	if level, title := markdown.HeadingOf(l.Text); level > 0 && l.Kind == markdown.LineText && !r.front {
		r.section, r.list = markdown.TitleIs(strings.ToLower(title), "scope", "verification"), nil
		return
	}
	if !r.front && (!r.section || l.Kind != markdown.LineText) || text == "" {
		return
	}
	if _, item, ok := markdown.CutBullet(l.Text); ok {
		r.add(item)
		return
	}
	r.list = nil
	if key, value, ok := strings.Cut(text, ":"); ok {
		r.setting(strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value))
	}
}

func (r *taskReader) setting(key, value string) {
	switch key {
	case "allowlist_add", "allowlist", "allow", "owns":
		r.list = &r.task.Scope.Allow
	case "denylist_add", "denylist", "deny":
		r.list = &r.task.Scope.Deny
	case "tier":
		r.task.Tier = taskValue(value)
	}
	for item := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
		r.add(item)
	}
}

// add adds a path or glob to the current list. A path includes everything below it.
func (r *taskReader) add(item string) {
	item = taskValue(item)
	if r.list == nil || item == "" {
		return
	}
	switch item = path.Clean(item); {
	case item == ".":
		item = "**"
	case !strings.ContainsAny(item, "*?[/"): // without a slash, a name would match in every directory
		item = "/" + item
	}
	*r.list = each.Once(*r.list, item)
}

// taskValue removes quotes and a trailing remark from a value.
func taskValue(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " #")
	return strings.Trim(strings.TrimSpace(s), "\"'`")
}

// DoneChecks returns what done criteria require one by one: their list items, and the commands in their code. They are
// compared with what was run, and never run themselves.
func DoneChecks(criteria string) []string {
	items, commands := criteriaParts(criteria)
	return append(items, commands...)
}

func criteriaParts(criteria string) (items, commands []string) {
	add := func(list *[]string, text string) {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, l := range markdown.Split(criteria).Lines {
		_, item, listed := markdown.CutBullet(l.Text)
		switch text := strings.TrimSpace(l.Text); {
		case l.Kind == markdown.LineCode && !strings.HasPrefix(text, "#"):
			add(&commands, strings.TrimPrefix(text, "$ "))
		case l.Kind == markdown.LineText && listed:
			add(&items, strings.TrimPrefix(strings.TrimPrefix(item, "[ ]"), "[x]"))
		case l.Kind == markdown.LineText && text != "" && len(items) > 0 && markdown.IndentOf(l.Text) > 0:
			items[len(items)-1] += " " + text
		}
	}
	return items, commands
}

// doneEvidence compares the task's own checks with what was run, one line each.
func doneEvidence(p runplan.Plan, results []record.CheckResult) []string {
	var lines []string
	for _, command := range p.DoneChecks {
		check, ok := p.CheckFor(command)
		if !ok {
			lines = append(lines, command+": nothing was run for it")
			continue
		}
		state := "was not run"
		if r, ran := each.First(results, func(r record.CheckResult) bool { return r.Name == check.Name }); ran {
			state = r.State()
		}
		lines = append(lines, fmt.Sprintf("%s: check %s: %s", command, check.Name, state))
	}
	return lines
}

// PlanTask fills in plan from a task file: the first heading is the title, and the section called done criteria or
// acceptance is what the reviewer checks. The task's scope, tier and checks limit the run; problems lists what the
// configuration lacks for them. name is the name of the file.
func PlanTask(plan *runplan.Plan, name, text string) (problems []string) {
	task := ReadTask(text)
	plan.Task, plan.DoneCriteria = text, task.Criteria
	plan.TaskScope, plan.Tier, plan.DoneChecks = task.Scope, task.Tier, task.DoneChecks
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	plan.Entity = runplan.Entity{Type: "task", Identifier: base, Title: task.Title}
	return TaskProblems(*plan)
}

// TaskProblems returns what a task requires and the configuration lacks, one line each.
func TaskProblems(p runplan.Plan) []string {
	var problems []string
	for _, command := range p.DoneChecks {
		if _, ok := p.CheckFor(command); !ok {
			problems = append(problems, fmt.Sprintf("the task is done when %q passes, but no configured check runs it", command))
		}
	}
	if p.Tier != "" && len(p.Checks) == 0 {
		problems = append(problems, fmt.Sprintf("the task asks for verification of %q, but no check is configured", p.Tier))
	}
	for _, glob := range p.TaskScope.Allow {
		name := strings.TrimPrefix(strings.TrimSuffix(glob, "/**"), "/")
		if !strings.ContainsAny(name, "*?[") && len(p.Scope.Outside([]string{name, name + "/x"})) == 2 {
			problems = append(problems, fmt.Sprintf("the task changes %q, which [scope] does not allow", name))
		}
	}
	return problems
}

// TaskTitle returns the title of a task file: its first heading, else the title in its front matter, else its first
// line with a letter or a digit. A line of code is never a heading.
func TaskTitle(text string) string {
	given, body := frontMatter(text)
	first := ""
	for _, l := range markdown.Split(body).Lines {
		line := strings.TrimSpace(l.Text)
		if hashes, title := markdown.HeadingOf(l.Text); hashes > 0 && l.Kind == markdown.LineText && title != "" {
			return strings.TrimSpace(title)
		}
		if first == "" && strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			first = line
		}
	}
	return cmp.Or(given, first)
}

// frontMatter returns the title from the front matter, between two lines of dashes at the top of a text, and the text
// after it. Without front matter, body is the whole text.
func frontMatter(text string) (title, body string) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF")
	head, body, closed := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !strings.HasPrefix(text, "---\n") || !closed {
		return "", text
	}
	for line := range strings.Lines(head) {
		if value, ok := strings.CutPrefix(line, "title:"); ok {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return title, body
}

// criteriaTitles are the headings of the done criteria in a task file.
var criteriaTitles = []string{"done criteria", "done when", "acceptance criteria", "acceptance checks", "acceptance",
	"definition of done"}

// DoneCriteria returns the section of a task file with its done criteria, or the whole text if there is none.
func DoneCriteria(text string) string {
	var section []string
	level := 0
	for _, l := range markdown.Split(text).Lines {
		hashes, title := markdown.HeadingOf(l.Text)
		if l.Kind != markdown.LineText { // a comment in shell code looks like a heading
			hashes = 0
		}
		if hashes > 0 && level > 0 && hashes <= level {
			break
		}
		if level > 0 {
			section = append(section, l.Text)
		} else if hashes > 0 && slices.ContainsFunc(criteriaTitles, func(t string) bool {
			return strings.HasPrefix(strings.ToLower(strings.Trim(title, " :")), t)
		}) {
			level = hashes
		}
	}
	return cmp.Or(strings.TrimSpace(strings.Join(section, "\n")), strings.TrimSpace(text))
}
