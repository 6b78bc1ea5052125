package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// TestDiffOfLongLines: whatever lines a change contains, its pages come to an end, no page is too long, and each
// file's header is on one of them.
func TestDiffOfLongLines(t *testing.T) {
	p := newProject(t)
	contents := map[string]string{
		"letters":       strings.Repeat("x", 200_000) + "\n",
		"a page":        strings.Repeat("some words ", maxRead/11) + "\nbehind it\n",
		"spaces":        strings.Repeat(" ", 300_000) + "end\n",
		"no UTF-8":      strings.Repeat("\x80", 100_000) + "\n",
		"escapes":       strings.Repeat("\x1b\u202e", 20_000),
		"emoji":         strings.Repeat("😀", 60_000) + "\r\n",
		"signs":         strings.Repeat("{}", 100_000) + "\n",
		"no line feed":  strings.Repeat("word ", 30_000),
		"several":       strings.Repeat(strings.Repeat("y", 5000)+"\n", 60),
		"between":       "before\n" + strings.Repeat("z", 400_000) + "\nafter\n",
		"empty lines":   strings.Repeat("\n", 50_000),
		"z, the last":   "evil\n",
		"moved\nname\t": "odd\n",
	}
	for name, text := range contents {
		p.write("f/"+name, text)
	}
	p.commit("long lines")
	id, c := p.asked("").ID, p.chat()
	_, docs := c.pages("review_diff", args{"id": id})
	patch := patchOf(docs)
	if n := strings.Count("\n"+patch, "\ndiff --git "); n != len(contents) {
		t.Errorf("%d headers of %d files", n, len(contents))
	}
	wants(t, patch, "+evil\n", "+before\n+zzz", "\n+after\n", "+behind it\n",
		`\ [396002 bytes more of this line are left out: the cursor byte-`)
	if len(docs) > 60 {
		t.Errorf("%d pages", len(docs))
	}
	// The left-out part is read from the cursor that the mark names.
	_, docs = c.pages("review_diff", args{"id": id, "file": "f/letters"})
	before, mark, _ := strings.Cut(patchOf(docs), `\ [`)
	_, cursor, _ := strings.Cut(mark, "the cursor ")
	cursor, _, _ = strings.Cut(cursor, " ")
	_, docs = c.pages("review_diff", args{"id": id, "file": "f/letters", "cursor": cursor})
	if n := strings.Count(before, "x") - 1 + strings.Count(patchOf(docs), "x"); n != 200_000 { // the word "index" has one
		t.Errorf("%d of 200000 letters can be read", n)
	}
	wants(t, c.refused("review_diff", args{"id": id, "cursor": "byte-99999999999"}), "not a cursor of this change")
}

// TestDiffOfLongNames: file names that would fill a page leave room for the patch.
func TestDiffOfLongNames(t *testing.T) {
	p := newProject(t)
	for i := range 200 {
		p.write(fmt.Sprintf("%s/%s/%d", strings.Repeat("\x80", 100), strings.Repeat("-a", 100), i), "text\n")
	}
	p.commit("long names")
	_, docs := p.chat().pages("review_diff", args{"id": p.asked("").ID})
	if n := strings.Count("\n"+patchOf(docs), "\ndiff --git "); n != 200 {
		t.Errorf("%d headers of 200 files", n)
	}
	if fmt.Sprint(docs[0]["files_changed"]) != "200" {
		t.Errorf("files_changed is %v", docs[0]["files_changed"])
	}
}

func patchOf(docs []map[string]any) string {
	var b strings.Builder
	for _, doc := range docs {
		b.WriteString(doc["patch"].(string))
	}
	return b.String()
}

// FuzzPatchPage: for any bytes and pages of any room, the pages come to an end and contain everything except what they
// report as left out.
func FuzzPatchPage(f *testing.F) {
	for _, text := range []string{"", "\n", "a\nb", strings.Repeat("x", 9000) + "\nz\n", strings.Repeat("\x80", 5000),
		"é\r\n" + strings.Repeat("é", 3000)} {
		f.Add(text, uint16(300))
	}
	f.Fuzz(func(t *testing.T, patch string, room uint16) {
		most := 200 + int(room)%8000
		patch += "\n"
		left := strings.Count(patch, "\n")
		for from := 0; from < len(patch); {
			page, next := patchPage(patch, from, most)
			if size := tokens(page) + jsonSize(page); size > most {
				t.Fatalf("from %d: %d tokens, not %d", from, size, most)
			}
			left -= strings.Count(strings.ReplaceAll(page, "\n"+leftOut, ""), "\n")
			if next <= from || next > len(patch) {
				t.Fatalf("after %d comes %d of %d", from, next, len(patch))
			}
			from = next
		}
		if left != 0 {
			t.Errorf("%d lines too few", left)
		}
	})
}
