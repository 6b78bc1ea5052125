package store

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"io"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/record"
)

// markOf is by which rows are found that speak of a commit or of anything else with such an id.
func markOf(id string) (mark uint64, ok bool) {
	var b [8]byte
	if len(id) < 2*len(b) {
		return 0, false
	}
	_, err := hex.Decode(b[:], []byte(id[:2*len(b)]))
	return binary.BigEndian.Uint64(b[:]), err == nil
}

// idLength is the length of the shortest id, in hexadecimal digits.
const idLength = 40

// markOfText is the mark of what is no id.
func markOfText(what, text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, what+"\x00"+text)
	return h.Sum64()
}

// fewestLetters are those of an id's suffix by which it is found.
const fewestLetters = 4

// marksOfSuffix are by which a run or review is found by its id's suffix: by all of it, and by its first
// and its last letters. A suffix of fewer than fewestLetters has none.
func marksOfSuffix(suffix string) []uint64 {
	if len(suffix) < fewestLetters {
		return nil
	}
	return []uint64{markOfText("suffix", suffix), markOfText("first", suffix[:fewestLetters]), markOfText("last", suffix[len(suffix)-fewestLetters:])}
}

// marksOfLetters are those that an id has whose suffix begins or ends with letters. Where the letters
// are a whole suffix nothing else has the mark, however much ids are alike.
func marksOfLetters(letters string) []uint64 {
	marks := marksOfSuffix(letters)
	if len(letters) >= record.SuffixLength {
		return marks[:1]
	}
	return marks[min(len(marks), 1):]
}

// fitsLetters reports whether letters are the first or the last of an id's suffix, and enough of them.
func fitsLetters(id, letters string) bool {
	_, suffix, _ := strings.Cut(id, "-")
	return len(letters) >= fewestLetters && (strings.HasPrefix(suffix, letters) || strings.HasSuffix(suffix, letters))
}

// markOfName is by which a run is found that works on something of that name.
func markOfName(name string) uint64 { return markOfText("name", NameForMatch(name)) }

// hexIDs gives each run of hexadecimal digits in text that is as long as an id.
func hexIDs(text []byte, visit func(id []byte)) {
	digit := func(i int) bool {
		c := text[i]
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
	}
	for from := 0; from+idLength <= len(text); {
		end := from + idLength // of digits, if all from from on are
		for i := end - 1; i >= from; i-- {
			if !digit(i) {
				from, end = i+1, 0
				break
			}
		}
		if end == 0 {
			continue
		}
		for end < len(text) && digit(end) {
			end++
		}
		visit(text[from:end])
		from = end
	}
}

// marked are the runs or reviews, or both, that have one of ids, or of which an event names one, the
// newest first.
func (idx *index) marked(ids map[string]bool, kinds ...entityKind) ([]segment.Entry, error) {
	marks := map[uint64]bool{}
	var keys []segment.Key
	for id := range ids {
		mark, marked := markOf(id)
		for _, kind := range kinds {
			if marked {
				marks[kind.mark(mark)] = true
			}
			if key, ok := (entity{kind, id}).key(); ok {
				keys = append(keys, key)
			}
		}
	}
	return idx.stack.Newest(marks, keys...)
}

// mark is a mark as rows of a kind have it: whoever looks for runs comes by no review.
func (kind entityKind) mark(mark uint64) uint64 {
	if kind == kindRun {
		return ^mark
	}
	return mark
}

// begunBefore is the order in which runs and reviews were begun.
func begunBefore(a, b row) int { return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.id, b.id)) }

// resolve is the full id of what a person typed: an id, a unique prefix, letters of its suffix or latest.
func (idx *index) resolve(kind entityKind, typed string, now time.Time) (string, error) {
	exact, err := idx.find(entity{kind, typed})
	if err != nil || exact != nil && exact.begun() {
		return typed, err
	}
	if typed == record.Latest {
		if id, err := idx.latest(kind); err != nil || id != "" {
			return id, err
		}
	}
	rows, err := idx.fitting(kind, typed)
	if err != nil {
		return "", err
	}
	if len(rows) == 1 {
		return rows[0].id, nil
	}
	refused := notFound(kind, typed)
	if refused.Among, err = meant(rows, now); err != nil {
		return "", err
	}
	if exact != nil {
		refused.Where = "here: its beginning is in a log that did not come yet, git runr sync fetches it"
	}
	return "", refused
}

// latest is what began last, "" when there is nothing.
func (idx *index) latest(kind entityKind) (string, error) {
	if newest := idx.Newest[string(kind)]; newest.ID != "" {
		return newest.ID, nil
	}
	latest := row{}
	err := idx.scan(shelvesOf(kind), func(r *row) error {
		if latest.id == "" || r.seq > latest.seq {
			latest = *r
			latest.name()
		}
		return nil
	})
	return latest.id, err
}

// fitting are those whose id begins with what was typed, or whose suffix begins or ends with it, the
// newest first.
func (idx *index) fitting(kind entityKind, typed string) ([]row, error) {
	if typed == "" {
		return nil, nil
	}
	keys, err := idx.stack.Beginning(append([]byte{byte(kind)}, typed...))
	if err != nil {
		return nil, err
	}
	marks := map[uint64]bool{}
	for _, mark := range marksOfLetters(typed) {
		marks[kind.mark(mark)] = true
	}
	entries, err := idx.stack.Newest(marks, keys...)
	var fits []row
	for _, r := range rowsOf(entries) {
		if r.begun() && (strings.HasPrefix(r.id, typed) || fitsLetters(r.id, typed)) {
			fits = append(fits, r)
		}
	}
	return fits, err
}

// shelvesOf are those on which all of a kind are that have begun.
func shelvesOf(kind entityKind) []byte {
	if kind == kindRun {
		return []byte{shelfRun}
	}
	return []byte{shelfWaiting, shelfClosed}
}

// meant are rows as they are listed where one of them has to be chosen.
func meant(rows []row, now time.Time) ([]record.Meant, error) {
	var among []record.Meant
	for i := range rows {
		if rows[i].kind == kindRun {
			line, err := loadLine[record.RunSummary](&rows[i])
			if err != nil {
				return nil, err
			}
			among = append(among, record.Meant{
				What: "run", ID: line.ID, Status: string(line.Status), Verdict: line.Verdict, Reviewer: line.Reviewer,
				Age: now.Sub(line.CreatedAt), Title: line.Entity.Name(),
			})
			continue
		}
		line, err := loadLine[record.ReviewSummary](&rows[i])
		if err != nil {
			return nil, err
		}
		reviewers := strings.Join(append([]string{line.Reviewer}, line.Others...), ", ")
		among = append(among, record.Meant{
			What: "review", ID: line.ID, Status: string(line.Status), Verdict: line.Verdict, Reviewer: reviewers,
			Age: now.Sub(line.CreatedAt), Title: cmp.Or(line.Message, line.Title),
		})
	}
	return among, nil
}
