package gitstore

import (
	"context"
	"slices"
	"testing"
)

// TestContributors checks that the .mailmap of the commit is used, and not that of the working tree.
func TestContributors(t *testing.T) {
	repo := newTestRepo(t)
	ctx, dir := context.Background(), repo.WorkTree
	by := func(author string, files map[string]string) ID {
		for name, text := range files {
			writeTestFile(t, dir, name, text)
		}
		testGit(t, dir, "add", "-A")
		testGit(t, dir, "commit", "-q", "--allow-empty", "-m", "by "+author, "--author", author)
		return testHead(t, repo)
	}
	by("Ada <ada@old.example>", nil)
	by("Bob <bob@example.org>", nil)
	at := by("Ada <ada@example.org>",
		map[string]string{".mailmap": "Ada Lovelace <ada@example.org> <ada@old.example>\nAda Lovelace <ada@example.org>\n"})
	writeTestFile(t, dir, ".mailmap", "Eve <eve@example.org> <bob@example.org>\n")
	ada, bob := Identity{Name: "Ada Lovelace", Email: "ada@example.org"}, Identity{Name: "Bob", Email: "bob@example.org"}
	got, err := repo.Contributors(ctx, at)
	if err != nil || !slices.Equal(got, []Identity{ada, bob, {Name: "Test", Email: "test@example.com"}}) {
		t.Errorf("contributors %q, %v", got, err)
	}
	asked := []Identity{{Name: "A", Email: "ada@old.example"}, bob, {Name: "Odd\n<x", Email: "o@example.org>"}}
	got, err = repo.Mailmapped(ctx, at, asked)
	if err != nil || !slices.Equal(got, []Identity{ada, bob, {Name: "Oddx", Email: "o@example.org"}}) {
		t.Errorf("mapped %q, %v", got, err)
	}
	before := ID(testGit(t, dir, "rev-parse", string(at)+"~2"))
	if got, err = repo.Mailmapped(ctx, before, asked[:1]); err != nil || !slices.Equal(got, asked[:1]) {
		t.Errorf("without a .mailmap %q, %v", got, err)
	}
	if got, err = repo.Mailmapped(ctx, at, nil); err != nil || len(got) > 0 {
		t.Errorf("of nobody %q, %v", got, err)
	}
}

func TestParseIdentity(t *testing.T) {
	for text, want := range map[string]Identity{
		"Ada <ada@example.org>": {Name: "Ada", Email: "ada@example.org"},
		" ada@example.org ":     {Name: "", Email: "ada@example.org"}, "Ada": {Name: "Ada", Email: ""},
		"<x@y>": {Name: "", Email: "x@y"}, "Ada <": {Name: "Ada", Email: ""}, "": {},
		"Bob <bob@x> (of) <eve@x> (host)": {Name: "Bob <bob@x> (of)", Email: "eve@x"},
	} {
		if got := ParseIdentity(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
