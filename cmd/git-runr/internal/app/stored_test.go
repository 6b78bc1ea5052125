package app

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the stored repositories are read as")

// TestStored reads repositories that earlier programs wrote, and continues their logs. The output that
// testdata/stored/N.txtar records for N.bundle must not change, but JSON may have new keys.
func TestStored(t *testing.T) {
	bundles, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "testdata", "stored", "*.bundle"))
	if err != nil || len(bundles) == 0 {
		t.Fatalf("no stored repositories: %v", err)
	}
	for _, bundle := range bundles {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) { readStored(t, bundle) })
	}
}

func readStored(t *testing.T, bundle string) {
	golden := strings.TrimSuffix(bundle, ".bundle") + ".txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	s := unpackStored(t, bundle)
	for i, file := range archive.Files {
		got := s.says(t, strings.Fields(file.Name)...)
		if *update {
			archive.Files[i].Data = got
		} else if missing := missingIn(got, file.Data); missing != "" {
			t.Errorf("git runr %s: %s", file.Name, missing)
		}
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.goOn(t)
}

// stored is a clone with all refs of a bundle and its writer's id.
type stored struct{ dir string }

func unpackStored(t *testing.T, bundle string) stored {
	t.Helper()
	bundle, err := filepath.Abs(bundle)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for key, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.com",
		"GIT_RUNR_CLOCK":      "2026-01-02T06:00:00Z", "NO_COLOR": "1",
	} {
		t.Setenv(key, value)
	}
	s := stored{t.TempDir()}
	s.git(t, "init", "-q", "-b", "unused")
	s.git(t, "config", "runr.writer", "aaaaaaaaaaaa") // as make.sh sets it
	s.git(t, "fetch", "-q", bundle, "+refs/*:refs/*")
	s.git(t, "checkout", "-q", "main")
	return s
}

func (s stored) git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", s.dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// says returns the standard output of a command that reads, with JSON indented.
func (s stored) says(t *testing.T, words ...string) []byte {
	t.Helper()
	var out, errOut bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &out, err: &errOut, getenv: os.Getenv, now: Clock(os.Getenv)}
	if status := p.run(t.Context(), append([]string{"git-runr", "-C", s.dir}, words...)); status != 0 {
		t.Errorf("git runr %q: %d\n%s%s", words, status, errOut.String(), out.String())
	}
	var indented bytes.Buffer
	if json.Indent(&indented, out.Bytes(), "", "\t") == nil {
		return append(bytes.TrimSpace(indented.Bytes()), '\n')
	}
	return out.Bytes()
}

// goOn appends to the existing log, and to a review in it.
func (s stored) goOn(t *testing.T) {
	var before, after fsckJSON
	read := func(v any) {
		if err := json.Unmarshal(s.says(t, "fsck", "--rebuild", "--json"), v); err != nil {
			t.Fatal(err)
		}
	}
	read(&before)
	s.says(t, "inbox", "submit", "latest", "--approve", "-m", "fine")
	s.says(t, "review", "HEAD", "--reviewer", "human", "--no-serve")
	read(&after)
	if after.Events != before.Events+2 || len(after.Unreadable) > 0 {
		t.Errorf("%d events before, after two more %d, unreadable %q", before.Events, after.Events, after.Unreadable)
	}
	s.git(t, "fsck", "--strict", "--no-dangling")
}

// missingIn returns what is missing in got. Text must be equal. In JSON every value of want must be in got; new keys
// are allowed.
func missingIn(got, want []byte) string {
	wanted, err := documents(want)
	if err != nil {
		if !bytes.Equal(got, want) {
			return fmt.Sprintf("said\n%swant\n%s", got, want)
		}
		return ""
	}
	said, err := documents(got)
	if err != nil {
		return fmt.Sprintf("no JSON: %s", got)
	}
	return missing("", said, wanted)
}

// documents decodes the JSON values of data.
func documents(data []byte) (all []any, err error) {
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var v any
		if err := dec.Decode(&v); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

func missing(at string, got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, v := range want {
			if _, ok := got[key]; !ok {
				return fmt.Sprintf("%s.%s is not there any more", at, key)
			}
			if why := missing(at+"."+key, got[key], v); why != "" {
				return why
			}
		}
		return ""
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			return fmt.Sprintf("%s has %d entries, want %d", at, len(got), len(want))
		}
		for i, v := range want {
			if why := missing(fmt.Sprintf("%s[%d]", at, i), got[i], v); why != "" {
				return why
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

func TestMissingIn(t *testing.T) {
	for _, c := range []struct{ got, want, missing string }{
		{`{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"c":2}]}`, ""},
		{`{"a":1}`, `{"a":2}`, ".a is 1, want 2"},
		{`{"a":1}`, `{"b":1}`, ".b is not there any more"},
		{`{"a":[1]}`, `{"a":[]}`, ".a has 1 entries, want 0"},
		{`{"a":[]}`, `{"a":null}`, ".a is [], want <nil>"},
		{"{}\n{}\n", "{}\n", " has 2 entries, want 1"},
		{"some text\n", "some text\n", ""},
		{"some text\n", "other text\n", "said\nsome text\nwant\nother text\n"},
	} {
		got := missingIn([]byte(c.got), []byte(c.want))
		if got = strings.TrimPrefix(got, "[0]"); got != c.missing {
			t.Errorf("%s in %s: %q, want %q", c.want, c.got, got, c.missing)
		}
	}
}
