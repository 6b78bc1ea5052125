package tui

import (
	"fmt"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// BenchmarkRows builds the rows of a change of 2,000 files and 50,000 lines with 500 comments.
func BenchmarkRows(b *testing.B) {
	v := &reviewed{}
	var files []unidiff.File
	for i := range 2000 {
		f := unidiff.File{Old: fmt.Sprint("dir/", i), New: fmt.Sprint("dir/", i)}
		h := unidiff.Hunk{OldStart: 1, NewStart: 1, NewCount: 25}
		for n := range 25 {
			h.Lines = append(h.Lines, unidiff.Line{Kind: '+', New: n + 1,
				Text: "	if err != nil { return fmt.Errorf(\"a line of usual length: %w\", err) }"})
		}
		f.Hunks = []unidiff.Hunk{h}
		files = append(files, f)
	}
	v.diff.put(files, false)
	var draft store.Draft
	for i := range 500 {
		draft.Comments = append(draft.Comments, record.Comment{ID: fmt.Sprint("c-", i), File: fmt.Sprint("dir/", i*4),
			StartLine: 3, EndLine: 3, Comment: "This name says nothing of what it is."})
	}
	for b.Loop() {
		v.put(shown.New(record.Review{}, draft))
		v.rows(78)
	}
}
