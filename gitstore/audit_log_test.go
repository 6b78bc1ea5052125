package gitstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

func TestLogMessages(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	first := testHead(t, repo)
	writeTestFile(t, repo.WorkTree, "z.txt", "z\n")
	writeTestFile(t, repo.WorkTree, "a\nb.txt", "odd\n")
	testGit(t, repo.WorkTree, "add", ".")
	testGit(t, repo.WorkTree, "commit", "-qm", "über: two\nlines\n\nbody\n\nRunr-Run: x\n")
	second := testHead(t, repo)
	testGit(t, repo.WorkTree, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	silent := testHead(t, repo)
	testGit(t, repo.WorkTree, "checkout", "-qb", "side", string(first))
	testGit(t, repo.WorkTree, "mv", "a.txt", "moved.txt")
	testGit(t, repo.WorkTree, "commit", "-qm", "side")
	side := testHead(t, repo)
	testGit(t, repo.WorkTree, "merge", "-q", "--no-ff", "-m", "joined", string(silent))
	merge := testHead(t, repo)

	all, err := repo.LogMessages(ctx, "", merge, 0)
	if err != nil || len(all) != 5 || all[0].ID != merge {
		t.Fatalf("got %+v, %v", all, err)
	}
	if !slices.Equal(all[0].Parents, []ID{side, silent}) || all[0].Message != "joined\n" || len(all[0].Files) > 0 {
		t.Errorf("merge %+v", all[0])
	}
	for _, c := range all {
		switch c.ID {
		case first:
			if len(c.Parents) > 0 || !slices.Equal(c.Files, []string{"a.txt"}) || c.When.Unix() != 1767323045 {
				t.Errorf("first %+v", c)
			}
		case second:
			if c.Subject != "über: two lines" || !strings.HasSuffix(c.Message, "\n\nRunr-Run: x\n") ||
				!slices.Equal(c.Files, []string{"a\nb.txt", "z.txt"}) {
				t.Errorf("second %+v", c)
			}
		case silent:
			if c.Subject != "" || strings.TrimSpace(c.Message) != "" || len(c.Files) > 0 {
				t.Errorf("silent %+v", c)
			}
		case side:
			if !slices.Equal(c.Files, []string{"a.txt", "moved.txt"}) {
				t.Errorf("side %+v", c)
			}
		}
	}
	if some, err := repo.LogMessages(ctx, first, silent, 0); err != nil || len(some) != 2 || some[0].ID != silent {
		t.Errorf("range: %+v, %v", some, err)
	}
	if one, err := repo.LogMessages(ctx, repo.objects.EmptyTreeID(), silent, 1); err != nil || len(one) != 1 ||
		one[0].ID != silent {
		t.Errorf("one: %+v, %v", one, err)
	}
	if none, err := repo.LogMessages(ctx, merge, merge, 0); err != nil || len(none) != 0 {
		t.Errorf("none: %+v, %v", none, err)
	}
}

func TestLogOnly(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	first := testHead(t, repo)
	second := commitFiles(t, repo, map[string]string{"b": "b"})
	got, err := repo.LogOnly(ctx, []ID{first, "--all", ID(strings.Repeat("1", 40)), second,
		ID(testGit(t, repo.WorkTree, "rev-parse", "HEAD^{tree}"))})
	if err != nil || len(got) != 2 || got[0].ID != first || got[1].ID != second {
		t.Errorf("got %+v, %v", got, err)
	}
	if none, err := repo.LogOnly(ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("nothing asked for: %+v, %v", none, err)
	}
}

func TestLogMessagesTakesOnlyIDs(t *testing.T) {
	repo := newTestRepo(t)
	for _, to := range []ID{"", "--all", "main", "HEAD\n--all"} {
		if got, err := repo.LogMessages(context.Background(), "", to, 0); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %+v, %v", to, got, err)
		}
	}
}

// TestLogMessagesIgnoresConfiguration checks that configured output options for people do not change the fields.
func TestLogMessagesIgnoresConfiguration(t *testing.T) {
	repo := newTestRepo(t)
	for key, value := range map[string]string{
		"log.showSignature": "true", "log.decorate": "full", "color.ui": "always", "log.showRoot": "false",
		"diff.renames":  "copies",
		"format.pretty": "fuller", "log.diffMerges": "separate", "diff.external": "/bin/false",
		"notes.displayRef": "refs/notes/*",
	} {
		testGit(t, repo.WorkTree, "config", key, value)
	}
	testGit(t, repo.WorkTree, "notes", "add", "-m", "a note", "HEAD")
	got, err := repo.LogMessages(context.Background(), "", testHead(t, repo), 0)
	if err != nil || len(got) != 1 || got[0].Message != "first\n" || len(got[0].Files) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzParseLogged(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add("\x00" + id + "\x00\x001\x00s\x00s\n\x00\x00\na\x00b\x00\x00" + id + "\x00" + id + "\x001\x00\x00\x00\x00")
	f.Add("\x00" + id + "\x00\x00x\x00s\x00")
	f.Fuzz(func(t *testing.T, out string) {
		repo, _ := opened(&gitdir.Dir{Place: &gitdir.Place{}}, nil)
		commits, err := repo.parseLogged(out)
		for _, c := range commits {
			if len(c.ID) != 40 || slices.Contains(c.Files, "") {
				t.Errorf("%q gives %+v, %v", out, c, err)
			}
		}
	})
}
