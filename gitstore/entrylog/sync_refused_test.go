package entrylog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// plantLog creates a log of one entry on a remote. If it is not sound, the entry has a date that git's fsck refuses.
func plantLog(t *testing.T, bare *Store, writer, text string, sound bool) odb.ID {
	t.Helper()
	ctx := context.Background()
	empty, err := bare.objects.WriteTree(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	date := "1767323045"
	if !sound {
		date = "0" + date
	}
	who := "A <a@example.com> " + date + " +0000\n"
	id, err := bare.objects.Write(ctx, "commit", fmt.Appendf(nil, "tree %s\nauthor %scommitter %s\n%s\n", empty, who, who,
		text))
	if err != nil {
		t.Fatal(err)
	}
	testGit(t, bare.dir.GitDir, "update-ref", logPrefix+writer, string(id))
	return id
}

// countTalks makes a clone count its fetch connections to the remote.
func countTalks(t *testing.T, repo *Store) func() int {
	t.Helper()
	dir := t.TempDir()
	counter, script := filepath.Join(dir, "count"), filepath.Join(dir, "upload-pack")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho >>'"+counter+"'\nexec git-upload-pack \"$@\"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "config", "remote.origin.uploadpack", script)
	return func() int {
		lines, _ := os.ReadFile(counter)
		os.Remove(counter)
		return len(lines)
	}
}

func refusedWriters(f Fetched) []string {
	var writers []string
	for _, r := range f.Refused {
		writers = append(writers, r.Writer)
	}
	return writers
}

func TestFetchTakesWhatIsSound(t *testing.T) {
	bare, clones := newRemote(t, 1)
	remote, clone := openTestRepo(t, bare), clones[0]
	talks := countTalks(t, clone)
	for i := range 30 {
		plantLog(t, remote, fmt.Sprintf("%012x", i*i*7919), fmt.Sprint(i), true)
	}
	syncLogs(t, clone)
	if n := talks(); n != 1 {
		t.Errorf("%d talks where all is sound", n)
	}
	bad := []string{"00000000dead", "5eed00000000", "5eed00000001"}
	for _, writer := range bad {
		plantLog(t, remote, writer, writer, false)
	}
	plantLog(t, remote, "5eed00000002", "late", true)
	fetched := fetchLogs(t, clone)
	if got := refusedWriters(fetched); !slices.Equal(got, bad) ||
		!strings.Contains(fetched.Refused[0].Reason, "zeroPaddedDate") {
		t.Errorf("refused %+v", fetched.Refused)
	}
	if n := talks(); n > 12 {
		t.Errorf("%d talks to find three of four", n)
	}
	staged, err := clone.refs.Refs(context.Background(), stagedPrefix("origin"))
	if err != nil || len(staged) != 31 {
		t.Errorf("%d logs staged, %v", len(staged), err)
	}

	// Refused logs are named again and cost one connection, even if a new log arrived.
	plantLog(t, remote, "5eed00000003", "later", true)
	if got := refusedWriters(fetchLogs(t, clone)); !slices.Equal(got, bad) {
		t.Errorf("named the second time: %v", got)
	}
	if n := talks(); n != 2 {
		t.Errorf("%d talks the second time", n)
	}

	// One log is corrected, one gets worse, and one is deleted.
	plantLog(t, remote, bad[0], "right", true)
	plantLog(t, remote, bad[1], "worse", false)
	testGit(t, bare, "update-ref", "-d", logPrefix+bad[2])
	if got := refusedWriters(fetchLogs(t, clone)); !slices.Equal(got, bad[1:2]) {
		t.Errorf("named the third time: %v", got)
	}
	if talks(); len(clone.readRefusals("origin")) != 1 {
		t.Errorf("remembered %v", clone.readRefusals("origin"))
	}
	plantLog(t, remote, bad[1], "right", true)
	syncLogs(t, clone)
	if n := len(logTips(t, clone)); n != 34 {
		t.Errorf("%d logs", n)
	}
}

// If a sound log continues with an entry that git refuses, its sound part stays as it was here.
func TestRefusedLogKeepsWhatWasSound(t *testing.T) {
	bare, clones := newRemote(t, 2)
	ctx, a, b := context.Background(), clones[0], clones[1]
	tip := write(t, a, "sound")
	syncLogs(t, a)
	syncLogs(t, b)
	bad := plantLog(t, openTestRepo(t, bare), a.Writer(), "bad", false)
	write(t, b, "mine")
	for range 2 {
		if got := refusedWriters(fetchLogs(t, b)); !slices.Equal(got, []string{a.Writer()}) {
			t.Fatalf("refused %v", got)
		}
		adopted, err := b.AdoptLogs(ctx, "origin", Judge{Entry: accept})
		if err != nil || len(adopted.Rejected)+len(adopted.Writers) != 0 {
			t.Errorf("%+v, %v", adopted, err)
		}
		if pushed := pushLogs(t, b); pushed.Log != nil {
			t.Error(pushed.Log)
		}
	}
	if got := logTips(t, b)[a.Writer()]; got != tip {
		t.Errorf("at %s", got)
	}
	if got := testGit(t, bare, "rev-parse", logPrefix+a.Writer(),
		logPrefix+b.Writer()); got != string(bad)+"\n"+string(logTips(t, b)[b.Writer()]) {
		t.Errorf("remote has %s", got)
	}
}

// A log of which the remote itself lost a part is named like a log that git refuses.
func TestFetchFromDamagedRemote(t *testing.T) {
	bare, clones := newRemote(t, 3)
	a, b, c := clones[0], clones[1], clones[2]
	lost := write(t, a, "lost")
	write(t, a, "last")
	write(t, b, "sound")
	syncLogs(t, a)
	syncLogs(t, b)
	if err := os.Remove(openTestRepo(t, bare).objects.LoosePath(lost)); err != nil {
		t.Fatal(err)
	}
	fetched := fetchLogs(t, c)
	if got := refusedWriters(fetched); !slices.Equal(got, []string{a.Writer()}) {
		t.Errorf("refused %+v", fetched.Refused)
	}
	if _, err := c.AdoptLogs(context.Background(), "origin", Judge{Entry: accept}); err != nil || len(logTips(t, c)) != 1 {
		t.Errorf("logs %v, %v", logTips(t, c), err)
	}
}

// A remote full of bad logs cannot make a fetch endless, and the logs that are known here are fetched first.
func TestHuntIsBounded(t *testing.T) {
	bare, clones := newRemote(t, 2)
	remote, ctx, a, b := openTestRepo(t, bare), context.Background(), clones[0], clones[1]
	write(t, a, "one")
	syncLogs(t, a)
	syncLogs(t, b)
	tip := write(t, a, "two")
	syncLogs(t, a)
	there := map[string]odb.ID{logPrefix + a.Writer(): tip}
	for i := range 20 {
		writer := fmt.Sprintf("%012x", i)
		there[logPrefix+writer] = plantLog(t, remote, writer, writer, false)
	}
	h := &hunt{repo: b, remote: "origin", there: there, refused: refusals{}, fetches: 4}
	var suspects []string
	for ref := range there {
		suspects = append(suspects, ref)
	}
	if err := h.run(ctx, suspects); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.refs.Ref(ctx, stagedPrefix("origin")+a.Writer()); got != tip {
		t.Errorf("the known log is at %s", got)
	}
	if h.fetches != 0 || len(h.left)+len(h.refused) != 20 {
		t.Errorf("%d fetches left, %d refused, %d not looked at", h.fetches, len(h.refused), len(h.left))
	}
	if last := h.rejections()[len(h.refused)]; !strings.Contains(last.Reason,
		fmt.Sprintf("%d more were not looked at", len(h.left)-1)) {
		t.Errorf("said %+v", last)
	}
}

func TestRefusalsAreOnlyAMemory(t *testing.T) {
	repo := newTestRepo(t)
	for _, text := range []string{"", "null", "[", `{"origin":null}`, `{"origin":{"refs/runr/log/x":{"tip":1}}}`} {
		writeTestFile(t, repo.dir.StateDir(), "refused.json", text)
		if got := repo.readRefusals("origin"); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
		if err := repo.writeRefusals("origin", refusals{"refs/runr/log/x": {Tip: "y"}}); err != nil ||
			repo.readRefusals("origin")["refs/runr/log/x"].Tip != "y" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// plantFetchLock leaves a lock file of that age on the tracking ref of a writer's log.
func plantFetchLock(t *testing.T, repo *Store, writer string, age time.Duration) string {
	t.Helper()
	path := filepath.Join(repo.dir.CommonDir, filepath.FromSlash(stagedPrefix("origin")+writer+".lock"))
	writeTestFile(t, filepath.Dir(path), filepath.Base(path), "")
	when := time.Now().Add(-age)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	return path
}

// The stale lock of a killed fetch is removed. A recent lock is waited for and then left alone.
func TestFetchRecoversItsLock(t *testing.T) {
	_, clones := newRemote(t, 3)
	ctx, a, b, c := context.Background(), clones[0], clones[1], clones[2]
	write(t, a, "one")
	write(t, c, "one")
	syncLogs(t, a)
	syncLogs(t, c)
	lock := plantFetchLock(t, b, a.Writer(), 2*time.Hour)
	fetched := fetchLogs(t, b)
	if len(fetched.Locks) != 1 || !strings.HasPrefix(fetched.Locks[0], stagedPrefix("origin")+a.Writer()+".lock (2h") ||
		len(fetched.Refused) != 0 || exists(lock) {
		t.Errorf("%+v", fetched)
	}
	if adopted, err := b.AdoptLogs(ctx, "origin", Judge{Entry: accept}); err != nil || len(adopted.Writers) != 2 {
		t.Errorf("%+v, %v", adopted, err)
	}
	write(t, a, "two")
	syncLogs(t, a)
	lock = plantFetchLock(t, b, a.Writer(), 0)
	if _, err := b.FetchLogs(ctx, "origin", ""); !errors.Is(err, gitdir.ErrBusy) || errors.Is(err, gitdir.ErrRemote) ||
		!strings.Contains(err.Error(), a.Writer()+".lock") || !exists(lock) {
		t.Errorf("got %v", err)
	}
}

// Many logs move at once; a log that cannot move does not stop the others.
func TestAdoptMany(t *testing.T) {
	bare, clones := newRemote(t, 2)
	remote, ctx := openTestRepo(t, bare), context.Background()
	for i := range 2 * moveAtOnce {
		plantLog(t, remote, fmt.Sprintf("%012x", i+1), fmt.Sprint(i), true)
	}
	if adopted := syncLogs(t, clones[0]); adopted.Events != 2*moveAtOnce || len(adopted.Writers) != 2*moveAtOnce {
		t.Errorf("%d events of %d writers", adopted.Events, len(adopted.Writers))
	}
	clone := clones[1]
	inTheWay := logPrefix + fmt.Sprintf("%012x", 7)
	testGit(t, clone.dir.WorkTree, "update-ref", inTheWay+"/x", "HEAD")
	fetchLogs(t, clone)
	adopted, err := clone.AdoptLogs(ctx, "origin", Judge{Entry: accept})
	if err != nil || len(adopted.Writers) != 2*moveAtOnce-1 || len(adopted.Rejected) != 1 ||
		!strings.Contains(adopted.Rejected[0].Reason, inTheWay) {
		t.Errorf("%d writers, %+v, %v", len(adopted.Writers), adopted.Rejected, err)
	}
	if n := len(logTips(t, clone)); n != 2*moveAtOnce-1 {
		t.Errorf("%d logs", n)
	}
}
