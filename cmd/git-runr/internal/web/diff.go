package web

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// diffLine is one line of a hunk. kind is ' ', '+' or '-'; the number of a side that
// does not have the line is 0.
type diffLine struct {
	kind     byte
	old, new int
	text     string // without its line feed
	noEOL    bool   // the file ends here without a line feed
}

// hunk is a run of changed lines with what stands around them.
type hunk struct {
	oldStart, oldCount, newStart, newCount int
	section                                string // what git puts behind the ranges: the function it is in
	lines                                  []diffLine
}

// splitPatch cuts a patch into its files. Within hunks no line can begin like a header.
func splitPatch(patch []byte) [][]byte {
	var files [][]byte
	const header = "diff --git "
	for len(patch) > 0 {
		next := bytes.Index(patch, []byte("\n"+header))
		if next < 0 {
			next = len(patch) - 1
		}
		if bytes.HasPrefix(patch, []byte(header)) {
			files = append(files, patch[:next+1])
		}
		patch = patch[next+1:]
	}
	return files
}

// parseHunks reads the hunks of one file's patch. What is cut off in the middle
// keeps the lines that are there. Lines that belong to no hunk are an error.
func parseHunks(patch []byte) ([]hunk, error) {
	var hunks []hunk
	left := [2]int{} // lines that the hunk still owes, old and new
	for raw := range bytes.Lines(patch) {
		line := string(bytes.TrimSuffix(raw, []byte("\n")))
		switch {
		case left[0] > 0 || left[1] > 0:
			h := &hunks[len(hunks)-1]
			if err := h.add(line, &left); err != nil {
				return hunks, err
			}
		case strings.HasPrefix(line, "@@ -"):
			h, err := parseHunkHeader(line)
			if err != nil {
				return hunks, err
			}
			hunks = append(hunks, h)
			left = [2]int{h.oldCount, h.newCount}
		case strings.HasPrefix(line, `\`) && len(hunks) > 0:
			hunks[len(hunks)-1].markNoEOL()
		case len(hunks) > 0:
			return hunks, fmt.Errorf("read diff: %.40q belongs to no hunk", line)
		}
	}
	return hunks, nil
}

// add files one line of the hunk, of which left lines are still to come.
func (h *hunk) add(line string, left *[2]int) error {
	if line == "" {
		line = " "
	}
	l := diffLine{kind: line[0], text: line[1:]}
	switch l.kind {
	case ' ':
		l.old, l.new = h.oldStart+h.oldCount-left[0], h.newStart+h.newCount-left[1]
		left[0]--
		left[1]--
	case '-':
		l.old = h.oldStart + h.oldCount - left[0]
		left[0]--
	case '+':
		l.new = h.newStart + h.newCount - left[1]
		left[1]--
	case '\\':
		h.markNoEOL()
		return nil
	default:
		return fmt.Errorf("read diff: %.40q in a hunk", line)
	}
	if left[0] < 0 || left[1] < 0 {
		return fmt.Errorf("read diff: a hunk has more lines than it says, at %.40q", line)
	}
	h.lines = append(h.lines, l)
	return nil
}

func (h *hunk) markNoEOL() {
	if n := len(h.lines); n > 0 {
		h.lines[n-1].noEOL = true
	}
}

// parseHunkHeader reads "@@ -old[,count] +new[,count] @@ section".
func parseHunkHeader(line string) (hunk, error) {
	var h hunk
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, "@@ -"), " @@")
	before, after, ok2 := strings.Cut(ranges, " +")
	var ok3, ok4 bool
	h.oldStart, h.oldCount, ok3 = parseHunkRange(before)
	h.newStart, h.newCount, ok4 = parseHunkRange(after)
	if !ok || !ok2 || !ok3 || !ok4 {
		return h, fmt.Errorf("read diff: hunk header %.40q", line)
	}
	h.section = strings.TrimSpace(section)
	return h, nil
}

func parseHunkRange(s string) (start, count int, ok bool) {
	first, second, two := strings.Cut(s, ",")
	a, err := strconv.ParseUint(first, 10, 30)
	b, err2 := uint64(1), error(nil)
	if two {
		b, err2 = strconv.ParseUint(second, 10, 30)
	}
	return int(a), int(b), err == nil && err2 == nil
}

// pairs matches the removed lines of a hunk with the added ones that took their
// place: for the index of a line that of its partner, on both sides.
func (h hunk) pairs() map[int]int {
	partner := map[int]int{}
	for i := 0; i < len(h.lines); {
		removed, added := h.block(i)
		for k := range min(removed, added) {
			partner[i+k], partner[i+removed+k] = i+removed+k, i+k
		}
		i += max(1, removed+added)
	}
	return partner
}

// block counts the removed lines that begin at i and the added ones behind them.
func (h hunk) block(i int) (removed, added int) {
	for i+removed < len(h.lines) && h.lines[i+removed].kind == '-' {
		removed++
	}
	for i+removed+added < len(h.lines) && h.lines[i+removed+added].kind == '+' {
		added++
	}
	return removed, added
}

// splitRow is a row of the view with two sides: indexes into the hunk's lines, -1
// for nothing.
type splitRow struct{ left, right int }

// splitRows puts removed lines beside the added ones that took their place.
func (h hunk) splitRows() []splitRow {
	var rows []splitRow
	for i := 0; i < len(h.lines); {
		removed, added := h.block(i)
		if removed+added == 0 {
			rows = append(rows, splitRow{i, i})
			i++
			continue
		}
		for k := range max(removed, added) {
			row := splitRow{-1, -1}
			if k < removed {
				row.left = i + k
			}
			if k < added {
				row.right = i + removed + k
			}
			rows = append(rows, row)
		}
		i += removed + added
	}
	return rows
}

// changedPart is the middle of a and b that differs, as byte ranges at the bounds
// of words. ok is false where too little is the same for that to help a reader.
func changedPart(a, b string) (inA, inB [2]int, ok bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	head = wordBound(a, b, head)
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	least := tail - maxWord
	for _, s := range []string{a, b} {
		for tail > 0 && insideWord(s, len(s)-tail) && (tail > least || !utf8.RuneStart(s[len(s)-tail])) {
			tail--
		}
	}
	same := len(strings.TrimSpace(a[:head])) + len(strings.TrimSpace(a[len(a)-tail:]))
	if same*3 < max(len(a), len(b)) || a == b {
		return inA, inB, false
	}
	return [2]int{head, len(a) - tail}, [2]int{head, len(b) - tail}, true
}

// maxWord is how far a bound of a word is looked for, in bytes: what has none in so
// many is no word, and may be cut between any two characters.
const maxWord = 64

// wordBound goes back from i to where no word of a or b is cut.
func wordBound(a, b string, i int) int {
	insideChar := func(s string) bool { return i < len(s) && !utf8.RuneStart(s[i]) }
	for least := i - maxWord; i > 0 && (insideWord(a, i) || insideWord(b, i)) && (i > least || insideChar(a) || insideChar(b)); {
		i--
	}
	return i
}

// insideWord reports whether a cut of s at i would divide a word or a character.
func insideWord(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return false
	}
	inWord := func(c byte) bool { return isWordByte(c) || c >= 0x80 }
	return inWord(s[i-1]) && inWord(s[i])
}
