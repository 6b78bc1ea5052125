package entrylog

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

const testNotes = "refs/notes/runr"

var notesTime = time.Unix(1800000000, 0)

func testNoteID(i int) odb.ID { return odb.ID(fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, i)))) }

func openTestNotes(t *testing.T, repo *Store) *Notes {
	t.Helper()
	notes, err := repo.OpenNotes(context.Background(), testNotes)
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

func setNote(t *testing.T, notes *Notes, id odb.ID, text string) {
	t.Helper()
	if err := notes.Set(context.Background(), id, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func commitNotes(t *testing.T, notes *Notes) odb.ID {
	t.Helper()
	id, err := notes.Commit(context.Background(), "notes\n", notesTime)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// treeOfNotes returns the tree of the notes without writing it.
func treeOfNotes(t *testing.T, notes *Notes) odb.ID {
	t.Helper()
	_, commit, err := notes.encode(context.Background(), "notes", notesTime)
	if err != nil {
		t.Fatal(err)
	}
	return commit.Tree
}

func TestNotes(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			testGit(t, repo.dir.WorkTree, "commit", "-q", "--allow-empty", "-m", "one")
			head := testHead(t, repo)
			notes := openTestNotes(t, repo)
			if text, err := notes.Get(ctx, head); text != nil || err != nil || notes.Message() != "" {
				t.Errorf("before: %q, %v, message %q", text, err, notes.Message())
			}
			setNote(t, notes, head, "first\n")
			setNote(t, notes, head, "second\n")
			if text, err := notes.Get(ctx, head); string(text) != "second\n" || err != nil {
				t.Errorf("not yet written: %q, %v", text, err)
			}
			first := commitNotes(t, notes)
			if text := testGit(t, repo.dir.WorkTree, "notes", "--ref=runr", "show", "HEAD"); text != "second" {
				t.Errorf("git shows %q", text)
			}
			if got := testGit(t, repo.dir.WorkTree, "log", "-1", "--format=%an <%ae> %cn %at %P",
				testNotes); got != "git-runr <runr@localhost> git-runr 1800000000 " {
				t.Errorf("commit of the notes: %q", got)
			}
			again := openTestNotes(t, repo)
			if again.Message() != "notes\n" {
				t.Errorf("message %q", again.Message())
			}
			setNote(t, again, head, "second\n")
			if id := commitNotes(t, again); id != first {
				t.Errorf("the same notes are %s, were %s", id, first)
			}
			setNote(t, again, head, "")
			second := commitNotes(t, again)
			if parent := testGit(t, repo.dir.WorkTree, "rev-parse", string(second)+"^"); parent != string(first) {
				t.Errorf("a write after %s stands on %s", first, parent)
			}
			if text, err := openTestNotes(t, repo).Get(ctx, head); text != nil || err != nil {
				t.Errorf("after removal: %q, %v", text, err)
			}
			testGit(t, repo.dir.WorkTree, "fsck", "--strict", "--no-dangling")
		})
	}
}

func TestNotesRace(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	a, b := openTestNotes(t, repo), openTestNotes(t, repo)
	setNote(t, a, testNoteID(1), "a")
	setNote(t, b, testNoteID(2), "b")
	commitNotes(t, a)
	if _, err := b.Commit(ctx, "notes", notesTime); !errors.Is(err, gitdir.ErrLostRace) {
		t.Errorf("%v", err)
	}
	fresh := repo.NewNotes(testNotes, "")
	setNote(t, fresh, testNoteID(2), "b")
	if _, err := fresh.Commit(ctx, "notes", notesTime); !errors.Is(err, gitdir.ErrLostRace) {
		t.Errorf("rebuilt without knowing the ref: %v", err)
	}
	setNote(t, a, testNoteID(3), "c")
	commitNotes(t, a) // the same notes may be committed again and again
}

func TestNotesRebuiltAreTheSame(t *testing.T) {
	one, two := newTestRepo(t), newTestRepo(t)
	notes := openTestNotes(t, one)
	for i := range 300 {
		setNote(t, notes, testNoteID(i), fmt.Sprint("text ", i))
		if i%50 == 0 {
			commitNotes(t, notes)
		}
	}
	commitNotes(t, notes)
	want := treeOfNotes(t, notes)

	setNote(t, openTestNotes(t, two), testNoteID(0), "x")
	tip := testCommits(t, two, 1)[0]
	testGit(t, two.dir.WorkTree, "update-ref", testNotes, string(tip))
	rebuilt := two.NewNotes(testNotes, tip)
	for _, i := range rand.Perm(300) {
		setNote(t, rebuilt, testNoteID(i), fmt.Sprint("text ", i))
	}
	commitNotes(t, rebuilt)
	if got := treeOfNotes(t, rebuilt); got != want {
		t.Errorf("rebuilt %s, step by step %s", got, want)
	}
	for _, repo := range []*Store{one, two} {
		testGit(t, repo.dir.WorkTree, "fsck", "--strict", "--no-dangling")
	}
}

// gitNotes is a notes ref that git writes, to compare with ours.
type gitNotes struct {
	t    *testing.T
	repo *Store
}

// copyAll adds notes with one git process and one commit.
func (g gitNotes) copyAll(from odb.ID, to []odb.ID) {
	g.t.Helper()
	var lines strings.Builder
	for _, id := range to {
		fmt.Fprintf(&lines, "%s %s\n", from, id)
	}
	cmd := exec.Command("git", "notes", "--ref=git", "copy", "--stdin", "-f")
	cmd.Dir, cmd.Stdin = g.repo.dir.WorkTree, strings.NewReader(lines.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("%v\n%s", err, out)
	}
}

func (g gitNotes) tree() odb.ID {
	notes, err := g.repo.refs.Ref(context.Background(), "refs/notes/git")
	if err != nil {
		g.t.Fatal(err)
	}
	commit, err := g.repo.objects.ReadCommit(context.Background(), notes)
	if err != nil {
		g.t.Fatal(err)
	}
	return commit.Tree
}

// objectsForNotes creates objects to attach notes to, in an order that looks random.
func objectsForNotes(t *testing.T, repo *Store, n int) []odb.ID {
	t.Helper()
	var objects odb.Batch
	ids := make([]odb.ID, n)
	for i := range ids {
		ids[i] = objects.Add(repo.objects, "blob", fmt.Append(nil, "object ", i))
	}
	if err := repo.objects.StorePack(context.Background(), objects, "index-pack", "--stdin"); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestNotesFanoutAsGit(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	git := gitNotes{t, repo}
	ids := objectsForNotes(t, repo, 2000)
	testGit(t, repo.dir.WorkTree, "notes", "--ref=git", "add", "-m", "text", string(ids[0]))
	text := testGit(t, repo.dir.WorkTree, "notes", "--ref=git", "show", string(ids[0])) + "\n"

	notes := openTestNotes(t, repo)
	setNote(t, notes, ids[0], text)
	check := func(n int) {
		t.Helper()
		if ours, gits := treeOfNotes(t, notes), git.tree(); ours != gits {
			t.Fatalf("with %d notes: tree %s, git writes %s", n, ours, gits)
		}
	}
	steps := 700
	if !testtmp.Long() {
		steps = 150
	}
	for n := 1; n < steps; n++ {
		check(n)
		git.copyAll(ids[0], ids[n:n+1])
		setNote(t, notes, ids[n], text)
		if n%7 == 0 { // as if one process followed the other
			commitNotes(t, notes)
			notes = openTestNotes(t, repo)
		}
	}
	git.copyAll(ids[0], ids[steps:])
	for _, id := range ids[steps:] {
		setNote(t, notes, id, text)
	}
	check(len(ids))
	commitNotes(t, notes)
	testGit(t, repo.dir.WorkTree, "fsck", "--strict", "--no-dangling")

	for range 30 { // remove notes again
		var gone []string
		for range 60 {
			i := rand.IntN(len(ids)-1) + 1
			gone = append(gone, string(ids[i]))
			if err := notes.Set(ctx, ids[i], nil); err != nil {
				t.Fatal(err)
			}
			ids = slices.Delete(ids, i, i+1)
		}
		cmd := append([]string{"notes", "--ref=git", "remove"}, gone...)
		testGit(t, repo.dir.WorkTree, cmd...)
		check(len(ids))
		commitNotes(t, notes)
		notes = openTestNotes(t, repo)
		check(len(ids))
	}
}

func TestNotesAfterOtherFanout(t *testing.T) {
	for _, fanout := range []int{0, 1, 2} {
		for _, count := range []int{10, 300} {
			repo, ctx := newTestRepo(t), context.Background()
			ids := objectsForNotes(t, repo, count+1)
			var root odb.TreeDir
			blob, err := repo.objects.Write(ctx, "blob", []byte("text\n"))
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids[:count] {
				root.Add(notePath(string(id), fanout), odb.TreeEntry{Mode: odb.ModeFile, ID: blob})
			}
			root.Add("README", odb.TreeEntry{Mode: odb.ModeFile, ID: blob})
			root.Add("docs/more", odb.TreeEntry{Mode: odb.ModeExecutable, ID: blob})
			root.Add(string(ids[0][:2])+"/odd", odb.TreeEntry{Mode: odb.ModeFile, ID: blob})
			plantNotes(t, repo, &root)

			notes := openTestNotes(t, repo)
			setNote(t, notes, ids[count], "text\n")
			testGit(t, repo.dir.WorkTree, "notes", "--ref=git", "add", "-m", "text", string(ids[count]))
			if ours, gits := treeOfNotes(t, notes), (gitNotes{t, repo}).tree(); ours != gits {
				t.Errorf("%d notes with fan-out %d: tree %s, git writes %s\n%s\n%s", count, fanout, ours, gits,
					testGit(t, repo.dir.WorkTree, "ls-tree", string(gits)), describe(t, notes))
			}
			for _, id := range ids {
				if text, err := notes.Get(ctx, id); err != nil || string(text) != "text\n" {
					t.Errorf("fan-out %d: note on %s is %q, %v", fanout, id, text, err)
				}
			}
		}
	}
}

// plantNotes points both refs, ours and git's, to a tree.
func plantNotes(t *testing.T, repo *Store, root *odb.TreeDir) {
	t.Helper()
	var objects odb.Batch
	tree, err := root.AddTo(&objects, repo.objects)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.objects.StoreBatch(context.Background(), objects, odb.Synced); err != nil {
		t.Fatal(err)
	}
	commit := testGit(t, repo.dir.WorkTree, "commit-tree", "-m", "planted", string(tree))
	testGit(t, repo.dir.WorkTree, "update-ref", testNotes, commit)
	testGit(t, repo.dir.WorkTree, "update-ref", "refs/notes/git", commit)
}

func describe(t *testing.T, notes *Notes) string {
	t.Helper()
	var lines []string
	notes.layOut(context.Background(), notes.root, 0, 0, func(path string, item *noteItem) {
		lines = append(lines, fmt.Sprint(item.kind, " ", path))
	})
	return strings.Join(lines, "\n")
}

func TestNoteTwiceInTheTree(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := objectsForNotes(t, repo, 2)
	var root odb.TreeDir
	for fanout, text := range []string{"flat\n", "deep\n"} {
		blob, err := repo.objects.Write(ctx, "blob", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		root.Add(notePath(string(ids[0]), fanout), odb.TreeEntry{Mode: odb.ModeFile, ID: blob})
	}
	plantNotes(t, repo, &root)
	notes := openTestNotes(t, repo)
	text, err := notes.Get(ctx, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if git := testGit(t, repo.dir.WorkTree, "notes", "--ref=git", "show", string(ids[0])); string(text) != git+"\n" {
		t.Errorf("%q, git shows %q", text, git)
	}
	setNote(t, notes, ids[1], "text\n")
	testGit(t, repo.dir.WorkTree, "notes", "--ref=git", "add", "-m", "text", string(ids[1]))
	if ours, gits := treeOfNotes(t, notes), (gitNotes{t, repo}).tree(); ours != gits {
		t.Errorf("tree %s, git writes %s", ours, gits)
	}
	commitNotes(t, notes)
	testGit(t, repo.dir.WorkTree, "fsck", "--strict", "--no-dangling")
}

func TestNotesOnWhatIsNoID(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	notes := openTestNotes(t, repo)
	for _, bad := range []odb.ID{"", "HEAD", "abc", testNoteID(1)[1:], "../../../../../../../../../../../../../x"} {
		if err := notes.Set(ctx, bad, []byte("x")); err == nil {
			t.Errorf("set on %q", bad)
		}
		if _, err := notes.Get(ctx, bad); err == nil {
			t.Errorf("get of %q", bad)
		}
	}
}

func TestNotesOfWrongKind(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	blob, err := repo.objects.Write(ctx, "blob", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "update-ref", testNotes, string(blob))
	if _, err := repo.OpenNotes(ctx, testNotes); err == nil {
		t.Error("a blob was opened as notes")
	}
}
