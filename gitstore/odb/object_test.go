package odb

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
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

func TestObjectsBothWays(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			for _, text := range []string{"", "one\n", strings.Repeat("long line\n", 10000), "\x00\xff"} {
				id, err := repo.Write(ctx, "blob", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if got := testGit(t, repo.dir.WorkTree, "cat-file", "-s", string(id)); got != fmt.Sprint(len(text)) {
					t.Errorf("git reads %s bytes of %d", got, len(text))
				}
				kind, data, err := repo.Read(ctx, id)
				if err != nil || kind != "blob" || string(data) != text {
					t.Errorf("read %q of %d bytes, %v", kind, len(data), err)
				}
			}
			testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		})
	}
}

func TestReadObjectMissing(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo, ctx := newTestRepoFormat(t, format), context.Background()
		missing := ID(strings.Repeat("ab", len(repo.ZeroID())/2))
		for _, id := range []ID{missing, "", "HEAD", "abc", missing[1:], missing + "^{tree}", "-" + missing[1:]} {
			if _, _, err := repo.Read(ctx, id); !errors.Is(err, gitdir.ErrNotFound) {
				t.Errorf("%s: read %q: %v", format, id, err)
			}
		}
		if repo.Has(ctx, missing) {
			t.Errorf("%s: has %q", format, missing)
		}
	}
}

func TestReadObjectLimit(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id, err := repo.Write(ctx, "blob", make([]byte, 1000))
	if err != nil {
		t.Fatal(err)
	}
	for _, packed := range []bool{false, true} {
		if packed {
			testGit(t, repo.dir.WorkTree, "tag", "blob", string(id))
			testGit(t, repo.dir.WorkTree, "gc", "-q")
		}
		if _, _, err := repo.ReadLimit(ctx, id, 999); !errors.Is(err, gitdir.ErrTooLarge) {
			t.Errorf("packed %v: limit 999: %v", packed, err)
		}
		if _, data, err := repo.ReadLimit(ctx, id, 1000); err != nil || len(data) != 1000 {
			t.Errorf("packed %v: limit 1000: %v", packed, err)
		}
		if _, _, err := repo.CatFile(ctx, id, 999); !errors.Is(err, gitdir.ErrTooLarge) {
			t.Errorf("packed %v: by git, limit 999: %v", packed, err)
		}
	}
}

// addFileVersions commits versions of a file that grows by a line, so that they are stored as deltas.
func addFileVersions(t *testing.T, repo *Store, n int) {
	t.Helper()
	text := ""
	for i := range n {
		text += fmt.Sprintf("line %d of a file that is long enough for deltas\n", i)
		writeTestFile(t, repo.dir.WorkTree, "grows.txt", text)
		testGit(t, repo.dir.WorkTree, "add", ".")
		testGit(t, repo.dir.WorkTree, "commit", "-qm", fmt.Sprint("version ", i))
	}
}

// checkAllObjects compares every object with git's, without the fallback to git.
func checkAllObjects(t *testing.T, repo *Store) {
	t.Helper()
	list := testGit(t, repo.dir.WorkTree, "cat-file", "--batch-all-objects", "--batch-check")
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		kind, data, err := repo.native.read(ID(fields[0]), MaxObject)
		if err != nil || kind != fields[1] || fmt.Sprint(len(data)) != fields[2] {
			t.Errorf("object %s: read %s of %d bytes, %v", strings.TrimSpace(line), kind, len(data), err)
		}
	}
}

func TestReadPackedDeltas(t *testing.T) {
	repo := newTestRepo(t)
	addFileVersions(t, repo, 30)
	testGit(t, repo.dir.WorkTree, "repack", "-adfq", "--depth=50", "--window=50")
	if deltas := testGit(t, repo.dir.WorkTree, "count-objects", "-v"); !strings.Contains(deltas, "count: 0\n") {
		t.Fatalf("objects are still loose:\n%s", deltas)
	}
	checkAllObjects(t, repo)

	testGit(t, repo.dir.WorkTree, "config", "repack.useDeltaBaseOffset", "false") // bases by id
	testGit(t, repo.dir.WorkTree, "repack", "-adfq", "--depth=50", "--window=50")
	checkAllObjects(t, repo)
}

func TestReadWhilePacksChange(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	head := ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD"))
	for i := range 5 {
		if _, err := repo.ReadCommit(ctx, head); err != nil {
			t.Fatalf("before repack %d: %v", i, err)
		}
		writeTestFile(t, repo.dir.WorkTree, "a.txt", fmt.Sprint(i))
		testGit(t, repo.dir.WorkTree, "commit", "-qam", "more")
		testGit(t, repo.dir.WorkTree, "repack", "-adq")
		checkAllObjects(t, repo)
	}
	if n := len(repo.native.dirs[0].packs); n != 1 {
		t.Errorf("%d packs are listed, 1 is there", n)
	}
}

func TestOpenPacksAreBounded(t *testing.T) {
	repo := newTestRepo(t)
	for i := range maxOpenPacks + 8 {
		writeTestFile(t, repo.dir.WorkTree, "a.txt", fmt.Sprint(i))
		testGit(t, repo.dir.WorkTree, "commit", "-qam", "more")
		testGit(t, repo.dir.WorkTree, "repack", "-dq")
	}
	checkAllObjects(t, repo)
	count := func() (open int) {
		for _, p := range repo.native.dirs[0].packs {
			if p.idx != nil || p.pack != nil {
				open++
			}
		}
		return open
	}
	if open := count(); open == 0 || open > maxOpenPacks {
		t.Errorf("%d packs open", open)
	}
	repo.Close()
	if open := count(); open != 0 {
		t.Errorf("%d packs open after Close", open)
	}
	checkAllObjects(t, repo)
}

func TestAlternates(t *testing.T) {
	base := newTestRepo(t)
	addFileVersions(t, base, 3)
	testGit(t, base.dir.WorkTree, "gc", "-q")
	middle, last := filepath.Join(t.TempDir(), "middle"), filepath.Join(t.TempDir(), "last")
	testGit(t, base.dir.WorkTree, "clone", "-q", "--shared", base.dir.WorkTree, middle)
	testGit(t, base.dir.WorkTree, "clone", "-q", "--shared", middle, last)

	repo := openTestRepo(t, last)
	checkAllObjects(t, repo)

	relative, err := filepath.Rel(filepath.Join(repo.dir.CommonDir, "objects"),
		filepath.Join(base.dir.CommonDir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	text := "# a comment\n\n\"" + relative + "\"\n"
	if err := os.WriteFile(filepath.Join(repo.dir.CommonDir, "objects/info/alternates"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	checkAllObjects(t, openTestRepo(t, last))
}

func TestAlternatesInCircle(t *testing.T) {
	repo := newTestRepo(t)
	objects := filepath.Join(repo.dir.CommonDir, "objects")
	if err := os.WriteFile(filepath.Join(objects, "info/alternates"), []byte(objects+"\n../objects\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	checkAllObjects(t, repo)
	if n := len(repo.native.dirs); n != 1 {
		t.Errorf("%d object directories", n)
	}
}

func TestDamagedObject(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id, err := repo.Write(ctx, "blob", []byte("to be damaged"))
	if err != nil {
		t.Fatal(err)
	}
	path := repo.native.objectDirs()[0].loosePath(id)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		replaceFile(t, path, damaged)
		_, data, err := repo.native.read(id, MaxObject)
		if err == nil && string(data) != "to be damaged" ||
			err != nil && !errors.Is(err, gitdir.ErrCorrupt) && !errors.Is(err, gitdir.ErrTooLarge) {
			t.Errorf("byte %d changed: read %q, %v", i, data, err)
		}
	}
	replaceFile(t, path, nil)
	if _, _, err := repo.Read(ctx, id); !errors.Is(err, gitdir.ErrCorrupt) {
		t.Errorf("empty: %v", err)
	}
	if _, err := repo.Write(ctx, "blob", []byte("to be damaged")); err != nil { // an empty file is no object
		t.Fatal(err)
	}
	if _, _, err := repo.Read(ctx, id); err != nil {
		t.Errorf("written again: %v", err)
	}
}

func TestWriteFreshens(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id, err := repo.Write(ctx, "blob", []byte("old but wanted"))
	if err != nil {
		t.Fatal(err)
	}
	path := repo.native.objectDirs()[0].loosePath(id)
	old := time.Now().Add(-100 * 24 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Write(ctx, "blob", []byte("old but wanted")); err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "prune", "--expire=2.weeks.ago")
	if !repo.Has(ctx, id) {
		t.Error("the object was pruned")
	}
}

func TestObjectPermissions(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	testGit(t, repo.dir.WorkTree, "config", "core.sharedRepository", "group")
	repo = openTestRepo(t, repo.dir.WorkTree)
	for i := range 20 {
		text := fmt.Sprint("shared ", i)
		id, err := repo.Write(ctx, "blob", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ours := statModes(t, repo, id)
		os.RemoveAll(filepath.Dir(repo.native.objectDirs()[0].loosePath(id)))
		writeTestFile(t, repo.dir.WorkTree, "blob", text)
		testGit(t, repo.dir.WorkTree, "hash-object", "-w", "blob")
		if gits := statModes(t, repo, id); ours != gits {
			t.Fatalf("modes %v, git makes %v", ours, gits)
		}
	}
}

func statModes(t *testing.T, repo *Store, id ID) [2]os.FileMode {
	t.Helper()
	path := repo.native.objectDirs()[0].loosePath(id)
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return [2]os.FileMode{file.Mode(), dir.Mode()}
}

func TestReadOnlyObjects(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	repo, ctx := newTestRepo(t), context.Background()
	objects := filepath.Join(repo.dir.CommonDir, "objects")
	if err := os.Chmod(objects, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(objects, 0o755)
	if _, err := repo.Write(ctx, "blob", []byte("x")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("write: %v", err)
	}
}

// TestReadFromTheOtherPack checks that an object is read from a sound pack if a damaged one gives a wrong size.
func TestReadFromTheOtherPack(t *testing.T) {
	for damaged := range 2 {
		repo, ctx := newTestRepo(t), context.Background()
		shell(t, repo.dir.GitDir,
			"x=$(echo x | git hash-object -w --stdin); y=$(echo y | git hash-object -w --stdin); cd objects\n"+
				"echo $x | git pack-objects -q pack/pack >one; printf '%s\\n' $x $y | git pack-objects -q pack/pack >two; git "+
				"prune-packed")
		id := repo.ObjectID("blob", []byte("x\n"))
		name := strings.TrimSpace(readTestFile(t, repo.dir.GitDir, "objects/"+[]string{"one", "two"}[damaged]))
		pack := &packFile{path: filepath.Join(repo.dir.GitDir, "objects", "pack", "pack-"+name)}
		if err := pack.open(); err != nil {
			t.Fatal(err)
		}
		hash, err := hashOf(id)
		if err != nil {
			t.Fatal(err)
		}
		at, err := pack.index.find(hash)
		if err != nil {
			t.Fatal(err)
		}
		pack.close()
		spoil(t, pack.path+".pack", func(b []byte) []byte {
			return slices.Concat(b[:at], []byte{0xbf, 0xff, 0xff, 0xff, 0x7f}, b[at+5:])
		})
		if kind, data, err := repo.Read(ctx, id); err != nil || kind != "blob" || string(data) != "x\n" {
			t.Errorf("pack %d: %q %q, %v", damaged, kind, data, err)
		}
	}
}

// TestHashOfOtherLength checks that an id of another length is not decoded as a SHA-1 one.
func TestHashOfOtherLength(t *testing.T) {
	for _, digits := range []int{0, 38, 42, 64} {
		if _, err := hashOf(ID(strings.Repeat("a", digits))); !errors.Is(err, gitdir.ErrNotFound) {
			t.Errorf("%d digits: %v", digits, err)
		}
	}
}
