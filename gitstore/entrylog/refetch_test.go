package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// damagedPair returns two clones that have each other's log of five entries with files. The tests damage the first
// clone.
func damagedPair(t *testing.T) (bare string, repo *Store, foreign []odb.ID) {
	t.Helper()
	bare, clones := newRemote(t, 2)
	repo, other := clones[0], clones[1]
	for i := range 5 {
		files := map[string][]byte{"digest.md": fmt.Appendf(nil, "digest %d", i),
			"checks/test.log": fmt.Appendf(nil, "log %d", i)}
		foreign = append(foreign, mustAppend(t, other,
			Record{Message: fmt.Sprint("theirs ", i), Author: testAgent, When: testWhen, Attachments: files}).ID)
		write(t, repo, fmt.Sprint("ours ", i))
	}
	syncLogs(t, other)
	syncLogs(t, repo)
	allLoose(t, repo)
	return bare, repo, foreign
}

// allLoose unpacks all packs of a repository.
func allLoose(t *testing.T, repo *Store) {
	t.Helper()
	repo.objects.Close()
	packs := filepath.Join(repo.dir.CommonDir, "objects", "pack")
	shell(t, repo.dir.CommonDir,
		`mv objects/pack away && mkdir objects/pack && for p in away/*.pack; do git unpack-objects -q <$p; done && rm -rf away`)
	if left, err := os.ReadDir(packs); err != nil || len(left) != 0 {
		t.Fatalf("%v, %v", left, err)
	}
}

func loosePath(repo *Store, id odb.ID) string { return repo.objects.LoosePath(id) }

func flip(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 0xff
	return data
}

// onePack repacks a repository into one pack and returns its path.
func onePack(t *testing.T, repo *Store) string {
	t.Helper()
	testGit(t, repo.dir.WorkTree, "repack", "-adq")
	packs, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(repo.dir.CommonDir), "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%v, %v", packs, err)
	}
	return packs[0]
}

func TestRefetch(t *testing.T) {
	type place struct {
		repo    *Store
		foreign []odb.ID
	}
	blob := func(t *testing.T, p place, entry odb.ID) odb.ID {
		return odb.ID(testGit(t, p.repo.dir.WorkTree, "rev-parse", string(entry)+":digest.md"))
	}
	remove := func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(t *testing.T, p place){
		"a missing commit":      func(t *testing.T, p place) { remove(t, loosePath(p.repo, p.foreign[2])) },
		"a missing tip":         func(t *testing.T, p place) { remove(t, loosePath(p.repo, p.foreign[4])) },
		"a missing first entry": func(t *testing.T, p place) { remove(t, loosePath(p.repo, p.foreign[0])) },
		"a missing file":        func(t *testing.T, p place) { remove(t, loosePath(p.repo, blob(t, p, p.foreign[1]))) },
		"a missing tree": func(t *testing.T, p place) {
			remove(t, loosePath(p.repo, odb.ID(testGit(t, p.repo.dir.WorkTree, "rev-parse", string(p.foreign[1])+":checks"))))
		},
		"a flipped byte of a commit": func(t *testing.T, p place) { spoil(t, loosePath(p.repo, p.foreign[2]), flip) },
		"a flipped byte of the tip":  func(t *testing.T, p place) { spoil(t, loosePath(p.repo, p.foreign[4]), flip) },
		"a flipped byte of a file": func(t *testing.T, p place) {
			spoil(t, loosePath(p.repo, blob(t, p, p.foreign[3])), flip)
		},
		"an empty file": func(t *testing.T, p place) {
			spoil(t, loosePath(p.repo, p.foreign[1]), func([]byte) []byte { return nil })
		},
		"half a file": func(t *testing.T, p place) {
			spoil(t, loosePath(p.repo, p.foreign[1]), func(b []byte) []byte { return b[:len(b)/2] })
		},
		"our own entry": func(t *testing.T, p place) {
			remove(t, loosePath(p.repo, odb.ID(testGit(t, p.repo.dir.WorkTree, "rev-parse", logPrefix+p.repo.Writer()+"~2"))))
		},
		"several": func(t *testing.T, p place) {
			for _, id := range p.foreign[1:4] {
				remove(t, loosePath(p.repo, id))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, repo, foreign := damagedPair(t)
			p, ctx := place{repo, foreign}, context.Background()
			damage(t, p)
			repo.objects.Close()
			broken, err := repo.brokenLogs(ctx)
			if err != nil || len(broken) != 1 {
				t.Fatalf("broken %v, %v", broken, err)
			}
			done, err := repo.Refetch(ctx, "origin")
			if err != nil || len(done.Writers) != 1 || len(done.Missing) != 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			testGit(t, repo.dir.WorkTree, "fsck", "--full", "--strict", "--no-dangling")
			if exists(filepath.Join(repo.dir.StateDir(), "refetch.git")) {
				t.Error("the scratch repository is left")
			}
			syncLogs(t, repo)
			testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
			if broken, err := repo.brokenLogs(ctx); err != nil || len(broken) != 0 {
				t.Errorf("after gc: %v, %v", broken, err)
			}
		})
	}
}

// A plain fetch does not fetch a missing object again, because git assumes that everything its refs lead to is
// present. If that changes, most of Refetch can go.
func TestFetchAloneBringsNothingAgain(t *testing.T) {
	_, repo, foreign := damagedPair(t)
	if err := os.Remove(loosePath(repo, foreign[2])); err != nil {
		t.Fatal(err)
	}
	fetchLogs(t, repo)
	if repo.objects.Has(context.Background(), foreign[2]) {
		t.Error("git brought it")
	}
}

func TestRefetchOfPacks(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, pack string){
		"the index is gone": func(t *testing.T, pack string) {
			if err := os.Remove(strings.TrimSuffix(pack, ".pack") + ".idx"); err != nil {
				t.Fatal(err)
			}
		},
		"a stretch of the pack": func(t *testing.T, pack string) {
			spoil(t, pack, func(b []byte) []byte {
				return slices.Concat(b[:20], bytes.Repeat([]byte{0xa5}, len(b)/2), b[20+len(b)/2:])
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bare, repo, _ := damagedPair(t)
			ctx := context.Background()
			pack := onePack(t, repo)
			repo.objects.Close()
			damage(t, pack)
			// user code is not fetched by Refetch
			testGit(t, bare, "bundle", "create", "-q", filepath.Join(bare, "code"), "main")
			if broken, err := repo.brokenLogs(ctx); err != nil || len(broken) != 2 {
				t.Fatalf("broken %v, %v", broken, err)
			}
			done, err := repo.Refetch(ctx, "origin")
			if err != nil || len(done.Writers) != 2 {
				t.Fatalf("%+v, %v", done, err)
			}
			for writer := range logTips(t, repo) {
				if out := testGit(t, repo.dir.WorkTree, "rev-list", "--objects", "--count", logPrefix+writer); out == "0" {
					t.Errorf("git reads nothing of %s", writer)
				}
			}
		})
	}
}

func TestRefetchSHA256(t *testing.T) {
	isolate(t)
	ctx, bare := context.Background(), filepath.Join(t.TempDir(), "remote.git")
	testGit(t, t.TempDir(), "init", "-q", "--bare", "--object-format=sha256", bare)
	var repos []*Store
	for range 2 {
		repo := newTestRepoFormat(t, "sha256")
		testGit(t, repo.dir.WorkTree, "remote", "add", "origin", bare)
		repos = append(repos, openTestRepo(t, repo.dir.WorkTree))
	}
	lost := write(t, repos[0], "one")
	write(t, repos[0], "two")
	syncLogs(t, repos[0])
	syncLogs(t, repos[1])
	allLoose(t, repos[1])
	if err := os.Remove(loosePath(repos[1], lost)); err != nil {
		t.Fatal(err)
	}
	if done, err := repos[1].Refetch(ctx, "origin"); err != nil ||
		!slices.Equal(done.Writers, []string{repos[0].Writer()}) {
		t.Fatalf("%+v, %v", done, err)
	}
	testGit(t, repos[1].dir.WorkTree, "fsck", "--full", "--strict")
}

// Objects that the remote does not have, or has lost itself, are named, and are not requested again each time.
func TestRefetchInVain(t *testing.T) {
	bare, repo, foreign := damagedPair(t)
	ctx := context.Background()
	testGit(t, bare, "update-ref", "-d", "refs/runr/log/"+writerOf(t, repo))
	if err := os.Remove(loosePath(repo, foreign[2])); err != nil {
		t.Fatal(err)
	}
	if repo.Damaged(ctx) {
		t.Error("known before anybody met it")
	}
	if _, err := repo.Entry(ctx, foreign[2]); !errors.Is(err, gitdir.ErrNotFound) {
		t.Fatal(err)
	}
	if !repo.Damaged(ctx) {
		t.Fatal("not known though it was met")
	}
	done, err := repo.Refetch(ctx, "origin")
	if err != nil || len(done.Writers) != 0 || len(done.Missing) != 1 ||
		!strings.Contains(done.Missing[0].Reason, string(foreign[2])) {
		t.Errorf("%+v, %v", done, err)
	}
	if repo.Damaged(ctx) {
		t.Error("looked for at once again")
	}
	if _, err := repo.Entry(ctx, foreign[2]); err == nil || repo.Damaged(ctx) {
		t.Error("met again, looked for again")
	}
}

// writerOf returns the other writer whose log is here.
func writerOf(t *testing.T, repo *Store) string {
	t.Helper()
	for writer := range logTips(t, repo) {
		if writer != repo.Writer() {
			return writer
		}
	}
	t.Fatal("no other log")
	return ""
}

// Damage of an attachment is noticed when the file is read. An entry without a file of that name is no damage.
func TestDamageIsMetByReading(t *testing.T) {
	_, repo, foreign := damagedPair(t)
	ctx := context.Background()
	if _, err := repo.Attachment(ctx, foreign[0], "nothing.md"); !errors.Is(err, gitdir.ErrNotFound) || repo.Damaged(ctx) {
		t.Errorf("%v, damaged %v", err, repo.Damaged(ctx))
	}
	blob := odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", string(foreign[0])+":digest.md"))
	spoil(t, loosePath(repo, blob), flip)
	if _, err := repo.Attachment(ctx, foreign[0], "digest.md"); !errors.Is(err, gitdir.ErrCorrupt) || !repo.Damaged(ctx) {
		t.Errorf("%v, damaged %v", err, repo.Damaged(ctx))
	}
	if done, err := repo.Refetch(ctx, "origin"); err != nil || len(done.Writers) != 1 || repo.Damaged(ctx) ||
		exists(repo.damagePath()) {
		t.Errorf("%+v, %v", done, err)
	}
	if data, err := repo.Attachment(ctx, foreign[0], "digest.md"); err != nil || string(data) != "digest 0" {
		t.Errorf("%q, %v", data, err)
	}
}

// A tracking ref whose object is missing is deleted, because it would stop git's gc and fetch.
func TestRefetchDropsBrokenCopies(t *testing.T) {
	_, repo, _ := damagedPair(t)
	ctx := context.Background()
	writeTestFile(t, repo.dir.CommonDir, stagedPrefix("origin")+"0123456789ab", strings.Repeat("1", 40)+"\n")
	if _, err := repo.Refetch(ctx, "origin"); err != nil {
		t.Fatal(err)
	}
	if id, err := repo.refs.Ref(ctx, stagedPrefix("origin")+"0123456789ab"); err != nil || id != "" {
		t.Errorf("%q, %v", id, err)
	}
	syncLogs(t, repo)
}

// If one of our refs names a missing object, git fetches nothing. The error names that ref, and no log of the remote
// is refused for it.
func TestFetchWithABrokenRef(t *testing.T) {
	bare, repo, foreign := damagedPair(t)
	plantLog(t, openTestRepo(t, bare), "0123456789ab", "news", true)
	if err := os.Remove(loosePath(repo, foreign[4])); err != nil {
		t.Fatal(err)
	}
	fetched, err := repo.FetchLogs(context.Background(), "origin", testNotes)
	if !errors.Is(err, gitdir.ErrCorrupt) || !strings.Contains(err.Error(), writerOf(t, repo)) ||
		len(fetched.Refused) > 0 || len(repo.readRefusals("origin")) > 0 {
		t.Errorf("%+v, %v", fetched, err)
	}
	if _, err := repo.Refetch(context.Background(), "origin"); err != nil {
		t.Fatal(err)
	}
	if adopted := syncLogs(t, repo); len(adopted.Writers) != 1 {
		t.Errorf("%+v", adopted)
	}
}
