package gitstore

import (
	"context"
	"slices"
	"strings"
	"testing"
)

var globPaths = []string{
	"a.go", "g.pb.go", "gen/g.pb.go", "gen/deep/g.pb.go", "gen/x.go", "vendor/m/m.go", "src/vendor/n.go", "vendor.go",
	"src/a.go", "src/x/b.go", "src/x/y/c.go",
	"src/[id]/p.ts", "src/go.lock", "README.md", "docs/a b.md", "a+b.txt", "a.b/c.d", "x/src/a.go", "star*name.txt",
	"1.txt", "[1].txt", "é.txt",
}

// TestGlobs compares which paths a pattern leaves out in git, which reads a difference with it, and in Globs,
// which gets only paths.
func TestGlobs(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	files := map[string]string{}
	for _, p := range globPaths {
		files[p] = "x\n"
	}
	from, to := testHead(t, repo), commitFiles(t, repo, files)
	for glob, want := range map[string]string{
		"*.pb.go":         "g.pb.go gen/g.pb.go gen/deep/g.pb.go",
		"/*.pb.go":        "g.pb.go",
		"gen/*.pb.go":     "gen/g.pb.go",
		"gen/**":          "gen/g.pb.go gen/deep/g.pb.go gen/x.go",
		"gen":             "gen/g.pb.go gen/deep/g.pb.go gen/x.go",
		"gen/":            "gen/g.pb.go gen/deep/g.pb.go gen/x.go",
		"vendor":          "vendor/m/m.go src/vendor/n.go",
		"vendor/":         "vendor/m/m.go src/vendor/n.go",
		"/vendor":         "vendor/m/m.go",
		"src/*":           "src/a.go src/go.lock",
		"src/x":           "src/x/b.go src/x/y/c.go",
		"src/**/c.go":     "src/x/y/c.go",
		"src/**":          "src/vendor/n.go src/a.go src/x/b.go src/x/y/c.go src/[id]/p.ts src/go.lock",
		"**/src/a.go":     "src/a.go x/src/a.go",
		"**":              strings.Join(globPaths, " "),
		"*":               strings.Join(globPaths, " "),
		"**/*.lock":       "src/go.lock",
		"?.go":            "a.go src/a.go src/x/b.go src/x/y/c.go gen/x.go src/vendor/n.go vendor/m/m.go x/src/a.go",
		"[!a].go":         "src/x/b.go src/x/y/c.go gen/x.go src/vendor/n.go vendor/m/m.go",
		"[^a].go":         "src/x/b.go src/x/y/c.go gen/x.go src/vendor/n.go vendor/m/m.go",
		"src/[a-b].go":    "src/a.go",
		"[[:digit:]].txt": "1.txt",
		`\[1].txt`:        "[1].txt",
		`src/\[id]/*`:     "src/[id]/p.ts",
		`star\*name.txt`:  "star*name.txt",
		"a+b.txt":         "a+b.txt",
		"a.b/c.d":         "a.b/c.d",
		"*.GO":            "",
		"[":               "",
		"src/[":           "",
		"[z-a].go":        "",
		"nosuch/**":       "",
		"a**d":            "docs/a b.md",
	} {
		sorted := strings.Fields(strings.ReplaceAll(want, "docs/a b.md", "docs/a\x00b.md"))
		for i := range sorted {
			sorted[i] = strings.ReplaceAll(sorted[i], "\x00", " ")
		}
		slices.Sort(sorted)
		stats, err := repo.DiffStat(ctx, DiffSpec{From: from, To: to, Exclude: []string{glob}})
		if err != nil {
			t.Fatalf("%q: %v", glob, err)
		}
		var byGit, byUs []string
		for _, p := range globPaths {
			if !slices.ContainsFunc(stats, func(s FileStat) bool { return s.Path == p }) {
				byGit = append(byGit, p)
			}
			if CompileGlobs([]string{glob}).Match(p) {
				byUs = append(byUs, p)
			}
		}
		slices.Sort(byGit)
		slices.Sort(byUs)
		if !slices.Equal(byGit, sorted) || !slices.Equal(byUs, sorted) {
			t.Errorf("%q:\n git  %q\n us   %q\n want %q", glob, byGit, byUs, sorted)
		}
	}
}

// TestGlobsInLinearTime uses patterns on which a backtracking matcher never finishes.
func TestGlobsInLinearTime(t *testing.T) {
	deep := strings.Repeat("a/", 2000) + "a"
	for _, glob := range []string{strings.Repeat("**/", 200) + "b", strings.Repeat("*a", 500) + "b",
		strings.Repeat("**/a/", 200) + "b"} {
		if g := CompileGlobs([]string{glob}); g.Match(deep) || g.Match(strings.Repeat("a", 4000)) {
			t.Errorf("%.20q matches", glob)
		}
	}
}

func TestUnmatchedGlobs(t *testing.T) {
	repo := newTestRepo(t)
	commit := commitFiles(t, repo, map[string]string{"gen/g.pb.go": "x\n", "a.go": "x\n"})
	got, err := repo.UnmatchedGlobs(context.Background(), commit, []string{"*.pb.go", "nosuch/**", "*.py", "gen"})
	if want := []string{"nosuch/**", "*.py"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
