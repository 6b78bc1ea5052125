package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

const (
	ownWriter   = "aaaaaaaaaaaa"
	otherWriter = "bbbbbbbbbbbb"
	evilWriter  = "eeeeeeeeeeee"
)

// hostileWorld is a clone with honest events of its own and of a colleague, to which one of the cases then happens.
type hostileWorld struct {
	*testing.T
	dir    string // the clone
	remote string
	own    []string // its own events, oldest first
	others []string // the colleague's
	review string   // one of our own
}

func newHostileWorld(t *testing.T) *hostileWorld {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config,
		[]byte("[user]\n\tname = Ada\n\temail = ada@example.com\n[protocol \"file\"]\n\tallow = always\n[runr \"inbox\"]\n"+
			"\tautoResolve = never\n[advice]\n\tdetachedHead = false\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": config, "CI": "1"} {
		t.Setenv(name, value)
	}
	w := &hostileWorld{T: t}
	seed, remote := t.TempDir(), filepath.Join(t.TempDir(), "remote.git")
	w.git(seed, "init", "-q", "-b", "main")
	w.write(filepath.Join(seed, "a.txt"), "a\n")
	w.git(seed, "add", ".")
	w.git(seed, "commit", "-q", "-m", "first")
	w.git(seed, "clone", "-q", "--bare", seed, remote)
	clones := map[string]string{ownWriter: filepath.Join(t.TempDir(), "own"),
		otherWriter: filepath.Join(t.TempDir(), "other")}
	for _, writer := range []string{otherWriter, ownWriter} {
		w.dir = clones[writer]
		w.git(seed, "clone", "-q", remote, w.dir)
		w.git(w.dir, "config", "runr.writer", writer)
		for i := range 3 {
			w.must("review", "--reviewer", "human", "--no-serve", "-m", fmt.Sprintf("%s %d", writer, i))
		}
		w.must("inbox", "submit", "latest", "--approve", "-m", "honest")
		w.must("sync")
	}
	w.remote, w.review = remote, w.latest()
	w.own, w.others = w.log(ownWriter), w.log(otherWriter)
	if len(w.own) != 4 || len(w.others) != 4 {
		t.Fatalf("%d and %d events", len(w.own), len(w.others))
	}
	return w
}

func (w *hostileWorld) git(dir string, args ...string) string {
	w.Helper()
	return w.gitIn(dir, "", args...)
}

func (w *hostileWorld) gitIn(dir, stdin string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// runr runs a command in the clone.
func (w *hostileWorld) runr(args ...string) (status int, out, errOut string) {
	var stdout, stderr bytes.Buffer
	p := &program{in: strings.NewReader(""), out: &stdout, err: &stderr, getenv: os.Getenv, now: time.Now}
	status = p.run(w.Context(), append([]string{"git-runr", "-C", w.dir}, args...))
	return status, stdout.String(), stderr.String()
}

func (w *hostileWorld) must(args ...string) string {
	w.Helper()
	status, out, errOut := w.runr(args...)
	if status != 0 {
		w.Fatalf("%v ended with %d\n%s%s", args, status, out, errOut)
	}
	return out
}

func (w *hostileWorld) latest() string {
	w.Helper()
	var review struct {
		ID string `json:"review_id"`
	}
	if err := json.Unmarshal([]byte(w.must("inbox", "get", "latest", "--json")), &review); err != nil || review.ID == "" {
		w.Fatal(review, err)
	}
	return review.ID
}

// log returns the commits of a log, oldest first.
func (w *hostileWorld) log(writer string) []string {
	w.Helper()
	return strings.Fields(w.git(w.dir, "rev-list", "--reverse", "refs/runr/log/"+writer))
}

// foreign writes a log of these messages, as any program can.
func (w *hostileWorld) foreign(messages ...string) {
	w.Helper()
	tree, tip := w.gitIn(w.dir, "", "mktree"), ""
	for _, message := range messages {
		args := []string{"commit-tree", tree, "-F", "-"}
		if tip != "" {
			args = append(args, "-p", tip)
		}
		tip = w.gitIn(w.dir, message, args...)
	}
	w.git(w.dir, "update-ref", "refs/runr/log/"+evilWriter, tip)
}

// foreignEvent returns an event's message; fields are added to the usual fields of its JSON.
func foreignEvent(fields string) string {
	return "evil\n\n" + `{"v":1,"writer":"` + evilWriter +
		`","timestamp":"2026-01-02T03:04:05Z","source":"x","payload":{},` + fields + "}\n"
}

func (w *hostileWorld) object(id string) string {
	return filepath.Join(w.dir, ".git", "objects", id[:2], id[2:])
}

// lose removes objects, packed ones as well; spoil damages one.
func (w *hostileWorld) lose(ids ...string) {
	w.Helper()
	w.unpack()
	for _, id := range ids {
		if err := os.Remove(w.object(id)); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *hostileWorld) spoil(id string) {
	w.Helper()
	w.unpack()
	os.Remove(w.object(id))
	w.write(w.object(id), "no object")
}

// unpack stores every object in its own file.
func (w *hostileWorld) unpack() {
	w.Helper()
	packs, _ := filepath.Glob(filepath.Join(w.dir, ".git", "objects", "pack", "*.pack"))
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		if err != nil {
			w.Fatal(err)
		}
		for _, ext := range []string{".pack", ".idx", ".rev"} {
			os.Remove(strings.TrimSuffix(pack, ".pack") + ext)
		}
		w.gitIn(w.dir, string(data), "unpack-objects", "-q")
	}
}

func (w *hostileWorld) write(path, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// forget removes the program's own files outside of git.
func (w *hostileWorld) forget() { os.RemoveAll(filepath.Join(w.dir, ".git", "runr")) }

// unsynced records an event that only this clone has.
func (w *hostileWorld) unsynced() {
	w.must("review", "--reviewer", "human", "--no-serve", "-m", "unsynced")
	w.own = w.log(ownWriter)
}

// hostileCases are what can happen to a clone. do returns the honest events that are lost afterwards.
var hostileCases = []struct {
	name string
	do   func(w *hostileWorld) (gone []string)
	gc   bool // the user's git gc works afterwards
}{
	{"a clock at 2^40", evil(`"type":"other","clock":1099511627776`), true},
	{"a clock far beyond", evil(`"type":"other","clock":4503599627370496`), true},
	{"the last clock", evil(`"type":"other","clock":9007199254740991`), true},
	{"a clock out of range", evil(`"type":"other","clock":18446744073709551615`), true},
	{"no clock", evil(`"type":"other"`), true},
	{"a format of the future", evil(`"v":99,"type":"other","clock":7`), true},
	{"duplicate keys", evil(`"v":1,"type":"other","clock":7`), true},
	{"events of somebody else", func(w *hostileWorld) []string {
		w.foreign(strings.ReplaceAll(foreignEvent(`"type":"other","clock":7`), evilWriter, otherWriter))
		return nil
	}, true},
	{"a run that began nowhere", evil(`"type":"run_completed","clock":7,"run":"20990101000000-aaaaaa"`), true},
	{"a review that began nowhere", evil(`"type":"review_submitted","clock":7,"review":"20990101000000-aaaaaa"`), true},
	{"no messages", func(w *hostileWorld) []string { w.foreign("", "x", "x\n\ny", "x\n\n{}"); return nil }, true},
	{"many records of nothing", func(w *hostileWorld) []string {
		w.foreign(slices.Repeat([]string{"nothing"}, 100)...)
		return nil
	}, true},
	{"a log of code", func(w *hostileWorld) []string {
		w.git(w.dir, "update-ref", "refs/runr/log/"+evilWriter, "HEAD")
		return nil
	}, true},
	{"a log that is a file", func(w *hostileWorld) []string {
		w.git(w.dir, "update-ref", "refs/runr/log/"+evilWriter, w.gitIn(w.dir, "x", "hash-object", "-w", "--stdin"))
		return nil
	}, true},
	{"a log that is a tree", func(w *hostileWorld) []string {
		w.git(w.dir, "update-ref", "refs/runr/log/"+evilWriter, w.git(w.dir, "rev-parse", "HEAD^{tree}"))
		return nil
	}, true},
	{"names that are no writers", func(w *hostileWorld) []string {
		for _, name := range []string{"x", "AAAAAAAAAAAA", "aaaaaaaaaaaa0", "a/b", "'$(x)"} {
			w.git(w.dir, "update-ref", "refs/runr/log/"+name, w.own[0])
		}
		return nil
	}, true},
	{"our newest is missing", func(w *hostileWorld) []string { w.lose(w.own[3]); return nil }, true},
	{"our newest two are missing", func(w *hostileWorld) []string { w.lose(w.own[2], w.own[3]); return nil }, true},
	{"our newest is missing, and all that we keep", func(w *hostileWorld) []string {
		w.lose(w.own[3])
		w.forget()
		w.git(w.dir, "update-ref", "-d", "refs/runr-remotes/origin/log/"+ownWriter)
		return w.own[3:]
	}, true},
	{"one of ours is missing, and all that we keep", func(w *hostileWorld) []string {
		w.lose(w.own[1])
		w.forget()
		return w.own[1:2]
	}, false},
	{"one of ours is damaged, and all that we keep", func(w *hostileWorld) []string {
		w.spoil(w.own[1])
		w.forget()
		return w.own[1:2]
	}, false},
	{"one of theirs is missing", func(w *hostileWorld) []string { w.lose(w.others[1]); return w.others[1:2] }, false},
	{"one of theirs is damaged", func(w *hostileWorld) []string { w.spoil(w.others[1]); return w.others[1:2] }, false},
	{"their newest is missing", func(w *hostileWorld) []string { w.lose(w.others[3]); return w.others[3:] }, false},
	{"their first is damaged", func(w *hostileWorld) []string { w.spoil(w.others[0]); return w.others[:1] }, false},
	{"all of theirs but one are missing", func(w *hostileWorld) []string {
		w.lose(w.others[0], w.others[1], w.others[3])
		return []string{w.others[0], w.others[1], w.others[3]}
	}, false},
	{"ours is rewound", func(w *hostileWorld) []string {
		w.unsynced()
		w.git(w.dir, "update-ref", "refs/runr/log/"+ownWriter, w.own[1])
		return nil
	}, true},
	{"ours is fetched over", func(w *hostileWorld) []string {
		w.unsynced()
		w.git(w.dir, "fetch", "-q", "origin", "+refs/runr/*:refs/runr/*")
		return nil
	}, true},
	{"ours is fetched over, and gc ran", func(w *hostileWorld) []string {
		w.unsynced()
		w.git(w.dir, "fetch", "-q", "origin", "+refs/runr/*:refs/runr/*")
		w.git(w.dir, "gc", "-q", "--prune=now")
		return nil
	}, true},
	{"ours is deleted", func(w *hostileWorld) []string {
		w.unsynced()
		w.git(w.dir, "update-ref", "-d", "refs/runr/log/"+ownWriter)
		return nil
	}, true},
	{"ours is another log", func(w *hostileWorld) []string {
		w.unsynced()
		w.git(w.dir, "update-ref", "refs/runr/log/"+ownWriter, w.others[3])
		return nil
	}, true},
	{"a lock of long ago", func(w *hostileWorld) []string {
		path := filepath.Join(w.dir, ".git", "refs", "runr", "log", ownWriter+".lock")
		w.write(path, "")
		then := time.Now().Add(-time.Hour)
		os.Chtimes(path, then, then)
		return nil
	}, true},
	{"rubbish in the state directory", func(w *hostileWorld) []string {
		for _, name := range []string{"cache/index", "log-" + ownWriter, "refs.lock", "kept.lock"} {
			w.write(filepath.Join(w.dir, ".git", "runr", name), "rubbish \x00\xff\n/etc/passwd\n")
		}
		return nil
	}, true},
	{"the notes are missing", func(w *hostileWorld) []string {
		w.lose(w.git(w.dir, "rev-parse", "refs/notes/runr"))
		return nil
	}, true},
	{"the notes' tree is missing", func(w *hostileWorld) []string {
		w.lose(w.git(w.dir, "rev-parse", "refs/notes/runr^{tree}"))
		return nil
	}, true},
	{"the notes are somebody else's", func(w *hostileWorld) []string {
		w.git(w.dir, "update-ref", "refs/notes/runr", "HEAD")
		return nil
	}, true},
	{"the pins are missing", func(w *hostileWorld) []string {
		w.git(w.dir, "update-ref", "refs/runr-local/pins", w.git(w.dir, "commit-tree", "HEAD^{tree}", "-m", "pin"))
		w.lose(w.git(w.dir, "rev-parse", "refs/runr-local/pins"))
		return nil
	}, false},
}

// evil returns a case that puts one event into a log of its own.
func evil(fields string) func(*hostileWorld) []string {
	return func(w *hostileWorld) []string { w.foreign(foreignEvent(fields)); return nil }
}

// TestHostile: after each case every command answers, the honest events are listed, and the lost ones are named.
func TestHostile(t *testing.T) {
	model := newHostileWorld(t)
	for i, c := range hostileCases {
		t.Run(c.name, func(t *testing.T) {
			if !testtmp.Long() && i%3 != 0 {
				t.Skip("one of three, without " + testtmp.LongVar)
			}
			w := model.copied(t)
			gone := c.do(w)
			w.checkHonest(gone, false)
			w.checkCommands(i % 5)
			w.checkHonest(gone, true)
			if c.gc {
				w.git(w.dir, "gc", "-q", "--prune=now")
				w.checkHonest(gone, true)
			}
		})
	}
}

// copied returns a copy of the clone with its own copy of the remote.
func (w *hostileWorld) copied(t *testing.T) *hostileWorld {
	t.Helper()
	again := *w
	again.T, again.dir, again.remote = t, filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "remote.git")
	if err := errors.Join(os.CopyFS(again.dir, os.DirFS(w.dir)), os.CopyFS(again.remote, os.DirFS(w.remote))); err != nil {
		t.Fatal(err)
	}
	again.git(again.dir, "remote", "set-url", "origin", again.remote)
	return &again
}

// checkHonest checks that the log lists every honest event except the lost ones, which it names. After a sync the
// lost ones may be restored.
func (w *hostileWorld) checkHonest(gone []string, synced bool) {
	w.Helper()
	status, out, errOut := w.runr("log", "--json")
	if status != 0 {
		w.Fatalf("log ended with %d: %s%s", status, out, errOut)
	}
	var doc struct {
		Events     []struct{ ID string }
		Unreadable []string
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		w.Fatal(err)
	}
	have := map[string]bool{}
	for _, e := range doc.Events {
		have[e.ID] = true
	}
	for _, id := range slices.Concat(w.own, w.others) {
		if lost := slices.Contains(gone, id); have[id] == lost && !(synced && lost) {
			w.Errorf("event %s is there: %v", id, have[id])
		}
	}
	_, fsck, _ := w.runr("fsck")
	_, _, said := w.runr("inbox")
	for _, id := range gone {
		below := slices.Index(w.others, id)
		// no event that is left names it
		unnamed := below >= 0 && below+1 < len(w.others) && slices.Contains(gone, w.others[below+1])
		if have[id] || unnamed {
			continue
		}
		for what, text := range map[string]string{"log": strings.Join(doc.Unreadable, "\n"), "fsck": fsck, "inbox": said} {
			if !strings.Contains(text, id) && slices.Contains(w.others, id) {
				w.Errorf("%s does not name %s: %s", what, id, text)
			}
		}
	}
}

// checkCommands checks that a fifth of the commands answer, or with RUNR_KILLS=all that all do.
func (w *hostileWorld) checkCommands(fifth int) {
	w.Helper()
	for i, argv := range [][]string{
		{}, {"status"}, {"status", "--json"}, {"inbox"}, {"inbox", "list", "--json", "--status", "all"},
		{"inbox", "get", w.review}, {"inbox", "get", "latest"},
		{"log"}, {"log", w.review}, {"show"}, {"diagnose"}, {"diagnose", "HEAD"}, {"report"}, {"metrics"}, {"audit"},
		{"diff"}, {"fsck"}, {"gc", "--dry-run"}, {"gc"},
		{"review", "--wait"}, {"review", "--reviewer", "human", "--no-serve"}, {"inbox", "claim", w.review},
		{"inbox", "resolve", w.review}, {"work"},
		{"hooks", "run", "post-commit"}, {"continue"}, {"resume", "latest"}, {"land"}, {"abort", "latest"}, {"sync"},
		{"fsck", "--rebuild"}, {"status"},
	} {
		if always := len(argv) == 1 && (argv[0] == "sync" || argv[0] == "log"); !always && i%5 != fifth &&
			os.Getenv("RUNR_KILLS") != "all" {
			continue
		}
		status, out, errOut := w.runr(argv...)
		if status == int(exit.Bug) || strings.Contains(out+errOut, "should not happen") ||
			strings.Contains(out+errOut, "goroutine ") {
			w.Errorf("%v ended with %d:\n%s%s", argv, status, out, errOut)
		}
	}
	w.must("review", "--reviewer", "human", "--no-serve", "-m", "afterwards")
	if got := w.latest(); !strings.Contains(w.must("log", "--json"), got) {
		w.Errorf("%s is not in the log", got)
	}
}
