package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// numbered returns ten lines, some of them replaced.
func numbered(other map[int]string) string {
	var b strings.Builder
	for i := 1; i <= 10; i++ {
		if text, ok := other[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// TestTransplant rebases changes onto bases that touch the same files. The difference between the transplanted older
// version and the newer one must be what its author changed, and nothing else.
func TestTransplant(t *testing.T) {
	type files = map[string]string
	first := numbered(map[int]string{2: "first\n"})
	cases := []struct {
		name      string
		change    files    // the older version
		base      files    // what the new base changed
		newer     files    // the newer version, on the new base
		want      []string // added and removed lines of the difference
		wantClash []string
	}{
		{"nothing changed", files{"f": first}, files{"g": "g\n"}, files{"f": first, "g": "g\n"}, nil, nil},
		{
			"the base touched another place of the file", files{"f": first},
			files{"f": numbered(map[int]string{9: "base\n"})},
			files{"f": numbered(map[int]string{2: "first\n", 9: "base\n"})}, nil, nil,
		},
		{
			"and the author another line", files{"f": first},
			files{"f": numbered(map[int]string{9: "base\n"})},
			files{"f": numbered(map[int]string{2: "second\n", 9: "base\n"})},
			[]string{"f -first", "f +second"}, nil,
		},
		{
			"the same line on both sides", files{"f": first},
			files{"f": numbered(map[int]string{2: "base\n"})},
			files{"f": numbered(map[int]string{2: "base and first\n"})},
			[]string{"f -first", "f +base and first"}, []string{"f"},
		},
		{
			"a clash, and another place that only the base touched", files{"f": first},
			files{"f": numbered(map[int]string{2: "base\n", 9: "base\n"})},
			files{"f": numbered(map[int]string{2: "first\n", 9: "base\n"})}, nil, []string{"f"},
		},
		{
			"the base deleted what was changed", files{"f": first}, files{"f": ""},
			files{"f": first}, nil, []string{"f"},
		},
		{
			"the change deleted what the base changed", files{"f": ""},
			files{"f": numbered(map[int]string{2: "base\n"})}, files{"f": ""}, nil, []string{"f"},
		},
		{
			"both added a file", files{"new": "mine\n"}, files{"new": "theirs\n"}, files{"new": "mine\n"},
			nil, []string{"new"},
		},
		{
			"binary on both sides", files{"bin": "mine\x00"}, files{"bin": "theirs\x00"}, files{"bin": "mine\x00"},
			nil, []string{"bin"},
		},
		{
			"the base renamed the file", files{"f": first},
			files{"f": "", "moved": numbered(nil)}, files{"f": "", "moved": first}, nil, nil,
		},
		{"lines like a conflict", files{"f": "<<<<<<< ours\n=======\n>>>>>>> theirs\n"}, files{"g": "g\n"},
			files{"f": "<<<<<<< ours\n=======\n>>>>>>> theirs\nmore\n", "g": "g\n"}, []string{"f +more"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			repo := newTestRepo(t)
			dir, ctx := repo.WorkTree, context.Background()
			testGit(t, dir, "config", "merge.conflictStyle", "diff3")
			root := commitFiles(t, repo, files{"f": numbered(nil), "bin": "base\x00"})
			version := func(from ID, change files) ID {
				testGit(t, dir, "checkout", "-q", "-f", "--detach", string(from))
				for name, text := range change {
					if text == "" {
						testGit(t, dir, "rm", "-q", "--ignore-unmatch", name)
						continue
					}
					writeTestFile(t, dir, name, text)
					testGit(t, dir, "add", name)
				}
				testGit(t, dir, "commit", "-q", "--allow-empty", "-m", "version")
				return testHead(t, repo)
			}
			older, base := version(root, c.change), version(root, c.base)
			newer := version(base, c.newer)
			got, err := repo.Transplant(ctx, Span{root, older}, base)
			if err != nil || !slices.Equal(got.Clashes, c.wantClash) {
				t.Fatalf("clashes %q, %v, want %q", got.Clashes, err, c.wantClash)
			}
			patch, _, err := repo.Diff(ctx, DiffSpec{From: got.Tree, To: newer})
			if err != nil {
				t.Fatal(err)
			}
			if changed := changedLines(string(patch)); !slices.Equal(changed, c.want) {
				t.Errorf("changed %q, want %q\n%s", changed, c.want, patch)
			}
		})
	}
}

// changedLines returns the added and removed lines of a patch, each with its file; "FILE differs" for a binary one.
func changedLines(patch string) (changed []string) {
	file := ""
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "diff --git "):
			_, file, _ = strings.Cut(line, " b/")
		case strings.HasPrefix(line, "Binary files"):
			changed = append(changed, file+" differs")
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-"):
			changed = append(changed, file+" "+line)
		}
	}
	return changed
}
