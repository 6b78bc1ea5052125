package entrylog

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/testneed"
)

// replaceable returns a remote with clones, the first of which can sign and has shared a log of three entries.
func replaceable(t *testing.T, clones int) (bare string, repos []*Store) {
	t.Helper()
	testneed.Program(t, "ssh-keygen")
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bare, repos = newRemote(t, clones)
	testGit(t, repos[0].dir.WorkTree, "config", "gpg.format", "ssh")
	testGit(t, repos[0].dir.WorkTree, "config", "user.signingKey", key+".pub")
	repos[0] = openTestRepo(t, repos[0].dir.WorkTree)
	for _, text := range []string{"one", "two secret", "three"} {
		mustAppend(t, repos[0], Record{Message: text, Author: testAgent, When: testWhen,
			Attachments: map[string][]byte{"file": []byte(text)}})
	}
	for _, repo := range repos {
		syncLogs(t, repo)
	}
	return bare, repos
}

// withoutSecret replaces the log of repo by one without the word secret.
func withoutSecret(t *testing.T, repo *Store) {
	t.Helper()
	rewrite := func(e Entry, ids map[odb.ID]odb.ID) (Record, error) {
		if e.Parent != "" && ids[e.Parent] == "" {
			t.Errorf("entry %s comes before what it follows", e.ID)
		}
		file, err := repo.Attachment(t.Context(), e.ID, "file")
		return Record{Author: e.Author, When: e.When, Message: strings.ReplaceAll(e.Message, "secret", "-"),
			Attachments: map[string][]byte{"file": file}}, ignoreMissing(err)
	}
	end := func() Record { return Record{Author: testAgent, When: testWhen, Message: "end"} }
	if err := repo.ReplaceLog(t.Context(), repo.Writer(), rewrite, end); err != nil {
		t.Fatal(err)
	}
}

func logTexts(t *testing.T, repo *Store, writer string) (texts []string) {
	t.Helper()
	err := repo.Walk(t.Context(), writer, logTips(t, repo)[writer], "", func(e Entry) error {
		texts = append(texts, strings.TrimSpace(e.Message))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestReplaceLog replaces a log, here, on the remote and in the clones that may take it.
func TestReplaceLog(t *testing.T) {
	_, clones := replaceable(t, 3)
	a, b, c := clones[0], clones[1], clones[2]
	writer, want := a.Writer(), []string{"one", "two -", "three", "end"}
	backup := copyClone(t, a)
	withoutSecret(t, a)
	end := logTips(t, a)[writer]
	if got := logTexts(t, a, writer); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	if signed, err := a.isSigned(t.Context(), end); err != nil || !signed {
		t.Errorf("the end is signed: %v, %v", signed, err)
	}
	if done, err := a.TakeUpLog(t.Context(), nil); err != nil || done != (TakenUp{}) {
		t.Errorf("%+v, %v", done, err)
	}
	if adopted := syncLogs(t, a); adopted.Diverged || len(adopted.Rejected) > 0 {
		t.Fatalf("%+v", adopted)
	}
	if staged, err := a.SharedTip(t.Context(), "origin", writer); err != nil || staged != end {
		t.Errorf("the remote has %s, %v, want %s", staged, err, end)
	}

	if adopted := syncLogs(t, c); len(adopted.Rejected) != 1 || adopted.Events != 0 {
		t.Errorf("without a judge: %+v", adopted)
	}
	judge := Judge{Entry: accept, Replaces: func(_ context.Context, of string, have, staged odb.ID) error {
		if of != writer || staged != end || have == "" {
			t.Errorf("%s %s %s", of, have, staged)
		}
		return nil
	}}
	for name, repo := range map[string]*Store{"another clone": b, "a copy of the clone": backup} {
		fetchLogs(t, repo)
		adopted, err := repo.AdoptLogs(t.Context(), "origin", judge)
		if err != nil || adopted.Diverged || !slices.Equal(adopted.Replaced, []string{writer}) || adopted.Events != 1 {
			t.Errorf("%s: %+v, %v", name, adopted, err)
		}
		if got := logTexts(t, repo, writer); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	write(t, backup, "and on")
	if got := logTexts(t, backup, writer); !slices.Equal(got, append(want, "and on")) {
		t.Errorf("%q", got)
	}
}

// TestReplaceLogUnsure: a copy that cannot verify a replacement keeps its log, and takes no new writer.
func TestReplaceLogUnsure(t *testing.T) {
	_, clones := replaceable(t, 1)
	backup := copyClone(t, clones[0])
	withoutSecret(t, clones[0])
	syncLogs(t, clones[0])
	for name, tt := range map[string]struct {
		why      error
		diverged bool
	}{
		"it may be":            {errors.New("not verified"), false},
		"it is something else": {ErrOtherLog, true},
	} {
		fetchLogs(t, backup)
		adopted, err := backup.AdoptLogs(t.Context(), "origin", Judge{Entry: accept,
			Replaces: func(context.Context, string, odb.ID, odb.ID) error { return tt.why }})
		if err != nil || adopted.Diverged != tt.diverged || len(adopted.Rejected) == 1 == tt.diverged {
			t.Errorf("%s: %+v, %v", name, adopted, err)
		}
	}
}

// TestReplaceLogKilled: a writer that is killed before the ref moves leaves a log that is taken up.
func TestReplaceLogKilled(t *testing.T) {
	_, clones := replaceable(t, 1)
	a := clones[0]
	old := logTips(t, a)[a.Writer()]
	withoutSecret(t, a)
	end := logTips(t, a)[a.Writer()]
	if err := a.refs.SwapAny(t.Context(), a.logRef(a.Writer()), old, end); err != nil { // as it was before
		t.Fatal(err)
	}
	if done, err := openTestRepo(t, a.dir.WorkTree).TakeUpLog(t.Context(), nil); err != nil || done.To != end {
		t.Errorf("%+v, %v, want %s", done, err, end)
	}
	syncLogs(t, a)
	if staged, err := a.SharedTip(t.Context(), "origin", a.Writer()); err != nil || staged != end {
		t.Errorf("the remote has %s, %v, want %s", staged, err, end)
	}
}

// TestReplaceLogLease: what somebody pushed since the last fetch is not overwritten.
func TestReplaceLogLease(t *testing.T) {
	bare, clones := replaceable(t, 1)
	a := clones[0]
	backup := copyClone(t, a)
	withoutSecret(t, a)
	write(t, backup, "meanwhile")
	syncLogs(t, backup)
	if pushed := pushLogs(t, a); !errors.Is(pushed.Log, gitdir.ErrLostRace) {
		t.Errorf("%v", pushed.Log)
	}
	there := strings.TrimSpace(testGit(t, bare, "rev-parse", logPrefix+a.Writer()))
	if want := string(logTips(t, backup)[a.Writer()]); there != want {
		t.Errorf("the remote has %s, want %s", there, want)
	}
}

// TestReplaceLogUnsigned: nothing changes when git cannot sign.
func TestReplaceLogUnsigned(t *testing.T) {
	_, clones := newRemote(t, 1)
	a := clones[0]
	write(t, a, "one")
	before := logTips(t, a)[a.Writer()]
	testGit(t, a.dir.WorkTree, "config", "gpg.program", "/nonexistent")
	err := a.ReplaceLog(t.Context(), a.Writer(), func(e Entry, _ map[odb.ID]odb.ID) (Record, error) {
		return Record{Author: e.Author, When: e.When, Message: e.Message}, nil
	}, func() Record { return Record{Author: testAgent, When: testWhen, Message: "end"} })
	if !errors.Is(err, gitdir.ErrSign) || logTips(t, a)[a.Writer()] != before {
		t.Errorf("%v, %v", err, logTips(t, a))
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, gitdir.ErrNotFound) {
		return nil
	}
	return err
}
