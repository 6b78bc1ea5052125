package anchor

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracked is a line and its index in the old text, or -1 for a new line.
type tracked struct {
	text string
	from int
}

// functions returns the line ranges of the top-level functions of Go source.
func functions(lines []tracked) []span {
	var found []span
	start := -1
	for i, l := range lines {
		if strings.HasPrefix(l.text, "func ") {
			start = i
		}
		if l.text == "}" && start >= 0 {
			found = append(found, span{start, min(i+2, len(lines))})
			start = -1
		}
	}
	return found
}

// editing makes random edits of the kinds that people make.
type editing struct {
	*rand.Rand
	pool []string // lines that may be inserted
}

func (e editing) edit(lines []tracked) []tracked {
	f := functions(lines)
	if len(f) < 2 || len(lines) < 20 {
		return lines
	}
	at, size := e.IntN(len(lines)-6), 1+e.IntN(4)
	some, other := f[e.IntN(len(f))], f[e.IntN(len(f))]
	switch e.IntN(6) {
	case 0:
		return slices.Delete(slices.Clone(lines), at, at+size)
	case 1:
		from := e.IntN(len(e.pool) - size)
		return slices.Insert(slices.Clone(lines), at, fresh(e.pool[from:from+size])...)
	case 2:
		edited := slices.Clone(lines)
		edited[at] = tracked{edited[at].text + " // edited", -1}
		return edited
	case 3: // a function like another one, with a name of its own
		return slices.Insert(slices.Clone(lines), other.from, e.renamed(lines[some.from:some.to])...)
	case 4:
		return slices.Delete(slices.Clone(lines), some.from, some.to)
	default:
		moved := slices.Clone(lines[some.from:some.to])
		rest := slices.Delete(slices.Clone(lines), some.from, some.to)
		if f = functions(rest); len(f) == 0 { // no other function is left
			return lines
		}
		return slices.Insert(rest, f[e.IntN(len(f))].from, moved...)
	}
}

func fresh(texts []string) []tracked {
	var lines []tracked
	for _, text := range texts {
		lines = append(lines, tracked{text, -1})
	}
	return lines
}

func (e editing) renamed(function []tracked) []tracked {
	var lines []tracked
	for i, l := range function {
		if i == 0 {
			l.text = strings.Replace(l.text, "func ", "func another", 1)
		} else if e.IntN(5) == 0 {
			l.text += " // another"
		}
		lines = append(lines, tracked{l.text, -1})
	}
	return lines
}

// sources returns the lines of each larger file of this package.
func sources(t *testing.T) [][]string {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := SplitLines(string(text)); len(lines) > 60 {
			all = append(all, lines)
		}
	}
	return all
}

// TestRelocateFollowsEdits: after random edits of source files, at least 96% of the kept lines are found at their new
// places, and at most one in 2,000 is found at a wrong place. A line that is not found at all is a smaller fault than
// a wrong place.
func TestRelocateFollowsEdits(t *testing.T) {
	files := sources(t)
	e := editing{rand.New(rand.NewPCG(4, 7)), slices.Concat(files...)}
	kept, right, wrong := 0, 0, 0
	for range 250 {
		old := files[e.IntN(len(files))]
		lines := make([]tracked, len(old))
		for i, text := range old {
			lines[i] = tracked{text, i}
		}
		for range 1 + e.IntN(8) {
			lines = e.edit(lines)
		}
		to, text := map[int]int{}, ""
		for i, l := range lines {
			to[l.from] = i
			text += l.text + "\n"
		}
		r := NewRelocation([]byte(strings.Join(old, "\n")+"\n"), []byte(text))
		for i := range old {
			now, is := to[i]
			if !is || old[i] == "" {
				continue
			}
			kept++
			switch start, _, why := r.Find(i+1, i+1, old[i]); {
			case why == "" && start == now+1:
				right++
			case why == "":
				wrong++
			}
		}
	}
	t.Logf("%d lines kept: %d found, %d taken for others", kept, right, wrong)
	if kept < 10_000 || right*100 < kept*96 || wrong*2000 > kept {
		t.Errorf("%d lines kept: %d found, %d taken for others", kept, right, wrong)
	}
}

// FuzzRelocate: a place is within the text, its lines equal the quoted lines as the comparison sees them, and a
// second call returns the same.
func FuzzRelocate(f *testing.F) {
	for _, seed := range []struct {
		old, new   string
		start, end int
		quoted     string
	}{
		{"a\nb\nc\n", "x\na\nb\nc\n", 2, 2, "b"}, {"a\r\nb", "a\nb\n", 2, 2, "b "}, {"", "a\n", 1, 1, "a"},
		{"a\n\n\nb\n", "a\n\nb\n", 2, 3, "\n"},
		{"f {\n\tx\n}\ng {\n\tx\n}\n", "g {\n\tx\n}\nf {\n\tx\n}\n", 2, 3, "\tx\n}"}, {"x\nx\nx", "x\nx", 2, 2, "x"},
		{"\xff\xfe\n", "\n\xff\xfe", 1, 1, "\xff\xfe"}, {"a", "a", 1 << 40, 1 << 41, "a"},
	} {
		f.Add(seed.old, seed.new, seed.start, seed.end, seed.quoted, false)
		f.Add(seed.old, seed.new, seed.start, seed.end, seed.quoted, true)
	}
	f.Fuzz(func(t *testing.T, old, new string, start, end int, quoted string, forget bool) {
		before := []byte(old)
		if forget {
			before = nil
		}
		from, to, why := Relocate(before, []byte(new), start, end, quoted)
		if from2, to2, why2 := Relocate(before, []byte(new), start, end, quoted); from2 != from || to2 != to || why2 != why {
			t.Fatalf("%d-%d %q, then %d-%d %q", from, to, why, from2, to2, why2)
		}
		if why != "" {
			return
		}
		text, ok := Selected(SplitLines(new), from, to)
		if !ok || to-from != end-start {
			t.Fatalf("lines %d-%d of %q", from, to, new)
		}
		if !slices.Equal(comparableLines(text), comparableLines(quoted)) {
			t.Fatalf("quoted %q, found %q", quoted, text)
		}
	})
}

// comparableLines returns the lines of text as the comparison sees them, without blank lines at the end.
func comparableLines(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		lines = append(lines, comparableLine(line))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// TestRelocateInHugeFiles: files of 50,000 lines are compared in reasonable time, because the work is bounded.
func TestRelocateInHugeFiles(t *testing.T) {
	const lines = 50_000
	own := func(i int) string {
		return "line number " + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i%11)
	}
	build := func(n int, line func(int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		return b.String()
	}
	same := func(int) string { return "}" }
	for name, test := range map[string]struct {
		old, new string
		found    bool
	}{
		"one line more": {"the one that is meant, by all its words\n" + build(lines, own),
			build(20, own) + "the one that is meant, by all its words\n" + build(lines, own), true},
		"all lines alike":   {"the one that is meant, by all its words\n" + build(lines, same), build(lines+5, same), false},
		"nothing in common": {"the one that is meant, by all its words\n" + build(lines, own), build(lines, same), false},
		"the same backwards": {"the one that is meant, by all its words\n" + build(lines, own),
			build(lines, func(i int) string { return own(lines - i) }) + "the one that is meant, by all its words\n", true},
	} {
		_, _, why := Relocate([]byte(test.old), []byte(test.new), 1, 1, "the one that is meant, by all its words")
		if (why == "") != test.found {
			t.Errorf("%s: %q", name, why)
		}
	}
	alike := build(lines, same)
	if _, _, why := Relocate([]byte(alike), []byte(alike+alike), lines/2, lines/2, "}"); why == "" {
		t.Error("one of 100,000 equal lines was taken for another")
	}
}
