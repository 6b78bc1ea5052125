package odb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// TestReadDeltas checks that delta objects can be read in any order, and that the caller may change the results.
func TestReadDeltas(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	var stream bytes.Buffer
	for i := range 400 {
		message := fmt.Sprintf("entry %d\n\n%s\n", i, strings.Repeat(fmt.Sprintf("{%d}", i/40), 300))
		fmt.Fprintf(&stream, "commit refs/heads/log\ncommitter A <a@b> %d +0000\ndata %d\n%s\n", 1767323045+i, len(message),
			message)
	}
	large := strings.Repeat("0123456789abcdef\n", maxBase/8)
	for _, end := range []string{"", "one\n", "two\n"} {
		fmt.Fprintf(&stream, "blob\ndata %d\n%s\n", len(large)+len(end), large+end)
	}
	testrepo.GitInput(t, repo.dir.GitDir, stream.String(), "fast-import", "--quiet")
	testGit(t, repo.dir.GitDir, "repack", "-adfkq", "--depth=50")
	var ids []ID
	want := map[ID]string{}
	for _, id := range strings.Fields(testGit(t, repo.dir.GitDir, "rev-list", "refs/heads/log")) {
		ids = append(ids, ID(id))
		want[ID(id)] = testGit(t, repo.dir.GitDir, "cat-file", "-p", id)
	}
	for range 2 {
		for _, id := range ids {
			_, data, err := repo.ReadHere(ctx, id) // git would read it too
			if got := strings.TrimRight(string(data), "\n"); err != nil || got != want[id] {
				t.Fatalf("%s: %q, %v", id, got, err)
			}
			for i := range data { // changing the result must not affect the next read
				data[i] = 'x'
			}
		}
		rand.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
	}
	if _, _, err := repo.ReadLimit(ctx, ids[0], 100); !errors.Is(err, gitdir.ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	blob := repo.ObjectID("blob", []byte(large+"one\n"))
	if _, data, err := repo.Read(ctx, blob); err != nil || string(data) != large+"one\n" {
		t.Errorf("large: %d bytes, %v", len(data), err)
	}
}

// TestBaseCache checks that the cache stays within its size and keeps what was used last.
func TestBaseCache(t *testing.T) {
	var c baseCache
	p := new(packFile)
	c.put(baseKey{pack: p}, packBase{data: make([]byte, maxBase+1)})
	if _, ok := c.get(baseKey{pack: p}); ok {
		t.Error("too large, and kept")
	}
	for i := range int64(1000) {
		c.put(baseKey{pack: p, offset: i}, packBase{data: make([]byte, maxBase/2)})
		for _, used := range []int64{0, i} {
			if _, ok := c.get(baseKey{pack: p, offset: used}); !ok {
				t.Fatalf("%d of %d is not there", used, i)
			}
		}
		if kept := (len(c.newer) + len(c.older)) * maxBase / 2; kept > 2*maxBases || c.size > maxBases {
			t.Fatalf("%d bytes are kept, %d counted", kept, c.size)
		}
	}
	if _, ok := c.get(baseKey{pack: p, offset: 1}); ok {
		t.Error("what was not used is there")
	}
}

// TestDamagedDelta checks that damage of a pack is found even if its objects are cached.
func TestDamagedDelta(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	var stream bytes.Buffer
	for i := range 150 {
		fmt.Fprintf(&stream, "commit refs/heads/log\ncommitter A <a@b> %d +0000\ndata %d\n%s\n", 1767323045+i, 600,
			strings.Repeat("abc", 200))
	}
	testrepo.GitInput(t, repo.dir.GitDir, stream.String(), "fast-import", "--quiet")
	testGit(t, repo.dir.GitDir, "repack", "-adfq")
	ids := strings.Fields(testGit(t, repo.dir.GitDir, "rev-list", "refs/heads/log"))
	packs, err := filepath.Glob(filepath.Join(repo.dir.GitDir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%v, %v", packs, err)
	}
	if _, _, err := repo.Read(ctx, ID(ids[0])); err != nil {
		t.Fatal(err)
	}
	testrepo.Spoil(t, packs[0], func(data []byte) []byte {
		for i := range data[20 : len(data)-20] {
			data[20+i] ^= 0x55
		}
		return data
	})
	damaged := slices.ContainsFunc(ids, func(id string) bool {
		_, _, err := repo.Read(ctx, ID(id))
		return errors.Is(err, gitdir.ErrCorrupt)
	})
	if !damaged {
		t.Error("everything of a damaged pack is read")
	}
}

// An object that was read is read again from its file when that was removed, or is another one.
func TestLooseIsReadAgain(t *testing.T) {
	repo := newTestRepo(t)
	id, err := repo.Write(t.Context(), "blob", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, data, err := repo.Read(t.Context(), id)
		if err == nil && string(data) != "text" {
			t.Errorf("read %q", data)
		}
		copy(data, "TEXT") // the caller may change it
		return err
	}
	path := repo.LoosePath(id)
	whole, err := os.ReadFile(path)
	if err := errors.Join(err, read(), read()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, gitdir.ErrNotFound) {
		t.Errorf("a removed object: %v", err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-3], 0o444); err != nil {
		t.Fatal(err)
	}
	if err := read(); err == nil {
		t.Error("a damaged object is read")
	}
}
