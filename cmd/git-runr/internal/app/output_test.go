package app

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
)

// If the reader of the output goes away, no error is printed, neither for text nor for JSON.
func TestReaderWentAway(t *testing.T) {
	w := newPasteWorld(t)
	writeFileAt(t, w.dir, "file", "text\n")
	w.git("add", "file")
	w.git("commit", "-q", "-m", "second")
	if said, status := outputOf(t, "-C", w.dir, "review", "--reviewer", "human", "--no-serve"); status != 0 {
		t.Fatal(said)
	}
	for _, args := range [][]string{{"inbox"}, {"--json", "inbox"}, {"log"}, {"--json", "inbox", "get", "nosuch"}} {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var said strings.Builder
		p := &program{in: strings.NewReader(""), out: out, err: &said, getenv: os.Getenv, now: time.Now}
		status := p.run(t.Context(), append([]string{"git-runr", "-C", w.dir}, args...))
		out.Close()
		want := 0
		if strings.Contains(strings.Join(args, " "), "nosuch") {
			want = int(exit.NotFound)
		}
		if status != want || said.Len() > 0 {
			t.Errorf("%q: status %d, want %d, said %q", args, status, want, said.String())
		}
	}
}
