package loop

import (
	"reflect"
	"slices"
	"testing"

	"git-runr/gitstore"
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
		limits    Limits
		want      Census
		nothing   bool
	}{
		{"everything", stats(small, large), stats(small, large), Limits{}, Census{Files: 2, Lines: 104, SentFiles: 2, SentLines: 104}, false},
		{"no change", nil, nil, Limits{}, Census{}, true},
		{
			"excluded", stats(small, lock), stats(small), Limits{},
			Census{Files: 2, Lines: 504, SentFiles: 1, SentLines: 4, LeftOut: []LeftOut{{"go.sum", "excluded"}}}, false,
		},
		{"only what is excluded", stats(lock), nil, Limits{}, Census{Files: 1, Lines: 500, LeftOut: []LeftOut{{"go.sum", "excluded"}}}, true},
		{
			"binary", stats(image, small), stats(image, small), Limits{},
			Census{Files: 2, Lines: 4, SentFiles: 1, SentLines: 4, LeftOut: []LeftOut{{"logo.png", "binary"}}}, false,
		},
		{"only a binary file", stats(image), stats(image), Limits{}, Census{Files: 1, LeftOut: []LeftOut{{"logo.png", "binary"}}}, true},
		{"a reviewer who can judge binary files", stats(image), stats(image), Limits{Binary: true}, Census{Files: 1, SentFiles: 1, SentBinary: 1}, false},
		{"an excluded binary file", stats(image), nil, Limits{Binary: true}, Census{Files: 1, LeftOut: []LeftOut{{"logo.png", "excluded"}}}, true},
		{
			"too large", stats(large, small), stats(large, small), Limits{MaxBytes: 50 * bytesPerLine},
			Census{Files: 2, Lines: 104, SentFiles: 1, SentLines: 4, LeftOut: []LeftOut{{"large.go", "too_large"}}}, false,
		},
		{"just not too large", stats(large, small), stats(large, small), Limits{MaxBytes: 104 * bytesPerLine}, Census{Files: 2, Lines: 104, SentFiles: 2, SentLines: 104}, false},
		{"all too large", stats(large), stats(large), Limits{MaxBytes: 10}, Census{Files: 1, Lines: 100, LeftOut: []LeftOut{{"large.go", "too_large"}}}, true},
		{"a file without lines", stats(moved), stats(moved), Limits{}, Census{Files: 1, SentFiles: 1}, true},
	} {
		given := slices.Clone(test.kept)
		got := census(test.all, test.kept, test.limits)
		if !reflect.DeepEqual(got, test.want) || got.Nothing() != test.nothing {
			t.Errorf("%s: %+v (nothing: %v), want %+v", test.name, got, got.Nothing(), test.want)
		}
		if !reflect.DeepEqual(given, test.kept) {
			t.Errorf("%s: the caller's list was changed to %v", test.name, test.kept)
		}
	}
}

func TestCensusLeavesOutTheLargestFirst(t *testing.T) {
	var files []gitstore.FileStat
	for i, name := range []string{"c", "a", "d", "b"} {
		files = append(files, gitstore.FileStat{Path: name, Added: []int{30, 10, 40, 20}[i]})
	}
	got := census(files, files, Limits{MaxBytes: 60 * bytesPerLine})
	if got.SentFiles != 3 || got.SentLines != 60 || !got.leftOut("d") || got.leftOut("a") {
		t.Errorf("%+v", got)
	}
}

func TestCensusTooLargePatternsAreLiteral(t *testing.T) {
	c := Census{LeftOut: []LeftOut{{"a[1]*.go", "too_large"}, {"b.png", "binary"}, {"c.lock", "excluded"}}}
	if got := c.tooLarge(); !slices.Equal(got, []string{gitstore.LiteralGlob("a[1]*.go")}) || got[0] == "a[1]*.go" {
		t.Errorf("%q", got)
	}
}
