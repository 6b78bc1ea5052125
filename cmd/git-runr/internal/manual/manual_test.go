package manual

import (
	"io"
	"strings"
	"testing"
)

func TestWrittenTopics(t *testing.T) {
	for _, topic := range Written() {
		for _, b := range parse(topic.Text()) {
			for _, line := range append(b.lines, b.term) {
				if len(line) > 100 {
					t.Errorf("%s: a line of %d bytes: %s", topic.Name, len(line), line)
				}
			}
			if b.kind == paragraph && strings.HasPrefix(b.lines[0], "#") {
				t.Errorf("%s: no heading: %s", topic.Name, b.lines[0])
			}
			if b.kind == paragraph && strings.HasPrefix(b.lines[0], "|") {
				t.Errorf("%s: no table, which would be filled as a paragraph: %s", topic.Name, b.lines[0])
			}
		}
		if topic.Text() == "" || topic.Usage == "" {
			t.Errorf("%s is empty", topic.Name)
		}
	}
}

func TestFprint(t *testing.T) {
	var b strings.Builder
	text := "## Title\n\none two `git runr log` four\nfive\nterm\n    what it\n    means\n\n      as it is  here\n" +
		"other\n    x\n\n    code\n"
	want := "TITLE\n\none two\n`git runr log`\nfour five\n\nterm\n    what it\n    means\n      as it is  here\n\n" +
		"other\n    x\n    code\n"
	if err := Fprint(&b, text, 13); err != nil || b.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestRoff(t *testing.T) {
	r := &roff{}
	r.text("a\\b `-x` ~^\n\n.TH 'no'\n\n    'kept  as it is\n    " + strings.Repeat("word ", 30))
	want := ".PP\n\\&.TH 'no'\n.PP\n.EX\n"
	if got := r.String(); !strings.HasPrefix(got, "a\\eb \\fB\\-x\\fR \\(ti\\(ha\n") || !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
}

// Whatever a text contains, no line of it becomes a roff request, and no line is lost.
func FuzzRoff(f *testing.F) {
	f.Add(".TH x\n    .EE\nterm\n    .so /etc/passwd\n## 'x\n\\")
	f.Fuzz(func(t *testing.T, text string) {
		r := &roff{}
		r.text(text)
		for line := range strings.Lines(r.String()) {
			macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") &&
				!strings.Contains(".PP .TP .IP .EX .EE .SS .RS .RE", macro) {
				t.Errorf("a request: %q of %q", line, text)
			}
		}
		if err := Fprint(io.Discard, text, 40); err != nil {
			t.Error(err)
		}
	})
}
