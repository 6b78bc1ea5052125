package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// template is the text of a real event, split where events of its kind differ: text, the name of a field, text, and
// so on.
type template []string

// fields are the values of an event. An empty one keeps the template's value.
type fields struct {
	id, commit, base, change, title, writer string
	attempt, clock                          int
	at                                      time.Time
}

// values returns the values by the names in a template.
func (f *fields) values() map[string]string {
	return map[string]string{
		"id": f.id, "commit": f.commit, "base": f.base, "change": f.change, "title": f.title, "writer": f.writer,
		"clock": fmt.Sprint(f.clock), "attempt": fmt.Sprint(f.attempt), "at": f.at.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
}

var (
	clockField   = regexp.MustCompile(`"clock":\d+`)
	writerField  = regexp.MustCompile(`"writer":"[0-9a-f]+"`)
	timeField    = regexp.MustCompile(`"timestamp":"[^"]+"`)
	changeField  = regexp.MustCompile(`"change":"[0-9a-f]{40}"`)
	attemptField = regexp.MustCompile(`"(attempt|round)":\d+`)
)

func cut(text string, values map[string]string) template {
	for name, value := range values {
		text = strings.ReplaceAll(text, value, "\x00"+name+"\x00")
	}
	text = clockField.ReplaceAllString(text, "\"clock\":\x00clock\x00")
	text = writerField.ReplaceAllString(text, "\"writer\":\"\x00writer\x00\"")
	text = timeField.ReplaceAllString(text, "\"timestamp\":\"\x00at\x00\"")
	text = changeField.ReplaceAllString(text, "\"change\":\"\x00change\x00\"")
	text = attemptField.ReplaceAllString(text, "\"$1\":\x00attempt\x00")
	return strings.Split(text, "\x00")
}

// event writes an event for git fast-import.
func (t template) event(w *bufio.Writer, buf *bytes.Buffer, f *fields) {
	buf.Reset()
	values := f.values()
	for i, part := range t {
		if i%2 == 1 {
			part = values[part]
		}
		buf.WriteString(part)
	}
	fmt.Fprintf(w, "commit refs/runr/log/%s\ncommitter Bench <bench@example.com> %d +0000\ndata %d\n", f.writer,
		f.at.Unix(), buf.Len())
	w.Write(buf.Bytes())
	w.WriteByte('\n')
}

// templates are the events of real reviews and of a real run.
type templates struct {
	passed   []template // requested, passed
	resolved []template // requested, not passed, claimed, resolved
	waiting  []template // requested, not passed
	held     []template // the same, claimed and released
	run      []template // started, an attempt, its checks, its review, stopped
}

// templates returns the templates, which the program itself makes once.
func (b *bench) templates() *templates {
	if b.templatesOf == nil {
		submit := []string{"submit", "latest", "--request-changes"}
		comment := []string{"comment", "latest", "-m", "what the reviewer says"}
		claim, release := []string{"claim", "latest", "--as", "chat"},
			[]string{"release", "latest", "--as", "chat", "--force"}
		b.templatesOf = &templates{
			passed:   b.reviewed([]string{"submit", "latest", "--approve"}),
			resolved: b.reviewed(comment, submit, claim, []string{"resolve", "latest", "--as", "chat", "--force"}),
			waiting:  b.reviewed(comment, submit),
			held:     b.reviewed(comment, submit, claim, release),
			run:      b.stopped(),
		}
	}
	return b.templatesOf
}

// reviewed requests a review and runs the steps on it.
func (b *bench) reviewed(steps ...[]string) []template {
	dir := b.repo("template")
	b.must(dir, b.bin, "review", "--reviewer", "human", "--no-serve")
	for _, step := range steps {
		b.must(dir, append([]string{b.bin, "inbox"}, step...)...)
	}
	return b.cutLog(dir, "Runr-Review", b.head(dir))
}

// stopConfig is a loop that gives up after its first round.
const stopConfig = `[loop]
implementer = "impl"
reviewer = "rev"
max_retries = 0

[agents.impl]
command = ["sh", "-c", "echo work >work.txt; echo done"]

[agents.rev]
command = ["sh", "-c", "printf '### Verdict: NEEDS_FIX\\n- Fix type errors\\n- Add test coverage for new function\\n'"]

[checks.typecheck]
command = "echo Found 3 errors in 1 file.; exit 1"
`

func (b *bench) stopped() []template {
	dir := b.repo("template")
	write(filepath.Join(dir, ".runr.toml"), stopConfig, 0o644)
	write(filepath.Join(dir, "TASK.md"), "# A task\n", 0o644)
	b.must(dir, b.bin, "trust", "--yes")
	_ = b.command(dir, b.bin, "run", "TASK.md").Run() // it stops, with a status other than 0
	made := b.refs(dir, "refs/heads/runr")
	if len(made) != 1 {
		log.Fatalf("the run made %q", made)
	}
	return b.cutLog(dir, "Runr-Run", b.must(dir, "git", "rev-parse", made[0]))
}

// cutLog makes templates from the only log of a repository, for one commit.
func (b *bench) cutLog(dir, trailer, commit string) (all []template) {
	defer b.remove(dir)
	ref := b.refs(dir, "refs/runr/log")[0]
	values := map[string]string{
		"id":     b.must(dir, "git", "log", "-1", "--format=%(trailers:key="+trailer+",valueonly)", ref),
		"commit": commit, "base": b.must(dir, "git", "rev-parse", commit+"~1"),
	}
	if trailer == "Runr-Review" {
		values["title"] = b.must(dir, "git", "log", "-1", "--format=%s", commit)
	}
	for _, id := range strings.Fields(b.must(dir, "git", "rev-list", "--reverse", ref)) {
		all = append(all, cut(b.must(dir, "git", "log", "-1", "--format=%B", id), values))
	}
	if len(all) < 2 {
		log.Fatalf("%s has %d events", trailer, len(all))
	}
	return all
}
