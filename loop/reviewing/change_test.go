package reviewing

import (
	"reflect"
	"slices"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

func TestCensus(t *testing.T) {
	small := gitstore.FileStat{Path: "small.go", Added: 3, Deleted: 1}
	large := gitstore.FileStat{Path: "large.go", Added: 90, Deleted: 10}
	lock := gitstore.FileStat{Path: "go.sum", Added: 500}
	image := gitstore.FileStat{Path: "logo.png", Binary: true}
	moved := gitstore.FileStat{Path: "moved.go"}
	stats := func(files ...gitstore.FileStat) []gitstore.FileStat { return files }
	for _, test := range []struct {
		name      string
		all, kept []gitstore.FileStat
		limits    role.Limits
		want      record.Census
		nothing   bool
	}{
		{"everything", stats(small, large), stats(small, large), role.Limits{},
			record.Census{Files: 2, Lines: 104, SentFiles: 2, SentLines: 104}, false},
		{"no change", nil, nil, role.Limits{}, record.Census{}, true},
		{
			"excluded", stats(small, lock), stats(small), role.Limits{},
			record.Census{Files: 2, Lines: 504, SentFiles: 1, SentLines: 4,
				LeftOut: []record.LeftOut{{Path: "go.sum", Why: "excluded"}}}, false,
		},
		{"only what is excluded", stats(lock), nil, role.Limits{},
			record.Census{Files: 1, Lines: 500, LeftOut: []record.LeftOut{{Path: "go.sum", Why: "excluded"}}}, true},
		{
			"binary", stats(image, small), stats(image, small), role.Limits{},
			record.Census{Files: 2, Lines: 4, SentFiles: 1, SentLines: 4,
				LeftOut: []record.LeftOut{{Path: "logo.png", Why: "binary"}}}, false,
		},
		{"only a binary file", stats(image), stats(image), role.Limits{},
			record.Census{Files: 1, LeftOut: []record.LeftOut{{Path: "logo.png", Why: "binary"}}}, false},
		{"a reviewer who can judge binary files", stats(image), stats(image), role.Limits{Binary: true},
			record.Census{Files: 1, SentFiles: 1, SentBinary: 1, Binary: []string{"logo.png"}}, false},
		{"an excluded binary file", stats(image), nil, role.Limits{Binary: true},
			record.Census{Files: 1, LeftOut: []record.LeftOut{{Path: "logo.png", Why: "excluded"}}}, true},
		{"a file without lines", stats(moved), stats(moved), role.Limits{}, record.Census{Files: 1, SentFiles: 1}, false},
	} {
		given := slices.Clone(test.kept)
		got := census(test.all, test.kept, nil, nil, test.limits)
		if !reflect.DeepEqual(got, test.want) || got.Nothing() != test.nothing {
			t.Errorf("%s: %+v (nothing: %v), want %+v", test.name, got, got.Nothing(), test.want)
		}
		if !reflect.DeepEqual(given, test.kept) {
			t.Errorf("%s: the caller's list was changed to %v", test.name, test.kept)
		}
	}
}

func TestLeaveOut(t *testing.T) {
	patch := "diff --git a/a.go b/a.go\nindex 1111111..2222222 100644\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n" +
		"diff --git a/gone b/gone\ndeleted file mode 160000\nindex 1111111..0000000\n--- a/gone\n+++ /dev/null\n" +
		"@@ -1 +0,0 @@\n-Subproject commit 1111111\n" +
		"diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n" +
		"@@ -1 +1 @@\n-Subproject commit 1111111\n+Subproject commit 2222222\n"
	got := leftOut(t, patch, role.Limits{})
	if want := []record.LeftOut{{Path: "sub/", Why: record.LeftSubmodule}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	cut := "diff --git a/large b/large\nindex 1111111..2222222 100644\n--- a/large\n+++ b/large\n" + patch
	want := []record.LeftOut{{Path: "sub/", Why: record.LeftSubmodule}, {Path: "large", Why: record.LeftTooLarge}}
	if got := leftOut(t, cut, role.Limits{}); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := leftOut(t, cut, role.Limits{Opens: true}); len(got) != 1 {
		t.Errorf("a person opens the file: got %+v", got)
	}
	if c := (record.Census{Files: 1, SentFiles: 1, SentLines: 2, LeftOut: got}); c.Unseen() || c.Partial() ||
		c.Hides("sub") {
		t.Error("what a submodule holds is another repository's change, and the submodule itself is shown")
	}
}

func leftOut(t *testing.T, patch string, limits role.Limits) []record.LeftOut {
	t.Helper()
	var c Change
	if err := c.leaveOut(t.Context(), []byte(patch), []gitstore.FileStat{{Path: "a.go"}, {Path: "large"}},
		limits); err != nil {
		t.Fatal(err)
	}
	return c.Census.LeftOut
}
