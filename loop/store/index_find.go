package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// markOf returns the mark of a commit or other object: a 64-bit number by which the index finds the rows that name it.
// ok is false for a text that is not such an id.
func markOf(id string) (mark uint64, ok bool) {
	var b [8]byte
	if len(id) < 2*len(b) {
		return 0, false
	}
	_, err := hex.Decode(b[:], []byte(id[:2*len(b)]))
	return binary.BigEndian.Uint64(b[:]), err == nil
}

// idLength is the length of the shortest object id, in hexadecimal digits.
const idLength = 40

// markOfText returns the mark of a text that is not an object id.
func markOfText(what, text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, what+"\x00"+text)
	return h.Sum64()
}

// fewestLetters is the minimum number of letters of an id's suffix that find it.
const fewestLetters = 4

// marksOfSuffix returns the marks of an id's suffix: of the whole suffix, and of its first and last letters. A suffix
// shorter than fewestLetters has none.
func marksOfSuffix(suffix string) []uint64 {
	if len(suffix) < fewestLetters {
		return nil
	}
	return []uint64{markOfText("suffix", suffix), markOfText("first", suffix[:fewestLetters]),
		markOfText("last", suffix[len(suffix)-fewestLetters:])}
}

// marksOfLetters returns the marks to look for if a suffix begins or ends with letters. A whole suffix has a mark of
// its own, which avoids reading all ids that share some letters.
func marksOfLetters(letters string) []uint64 {
	marks := marksOfSuffix(letters)
	if len(letters) >= record.SuffixLength {
		return marks[:1]
	}
	return marks[min(len(marks), 1):]
}

// fitsLetters reports whether letters begin or end the id's suffix and are enough.
func fitsLetters(id, letters string) bool {
	_, suffix, _ := strings.Cut(id, "-")
	return len(letters) >= fewestLetters && (strings.HasPrefix(suffix, letters) || strings.HasSuffix(suffix, letters))
}

// markOfName returns the mark of runs that work on something with the name.
func markOfName(name string) uint64 { return markOfText("name", NameForMatch(name)) }

// hexIDs visits each run of hexadecimal digits in text that is at least as long as an id.
func hexIDs(text []byte, visit func(id []byte)) {
	other := func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }
	for digits := range bytes.FieldsFuncSeq(text, other) {
		if len(digits) >= idLength {
			visit(digits)
		}
	}
}

// marked returns the runs or reviews, by kinds, that have one of ids or whose events name one, and the runs that work
// on something with one of names, newest first. Marks may collide, so that some may name none.
func (idx *index) marked(ids map[string]bool, names []string, kinds ...entityKind) ([]segment.Entry, error) {
	marks := each.SetOf(names, func(name string) uint64 { return kindRun.mark(markOfName(name)) })
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

// mark returns the mark as used for rows of a kind, so that a search for runs does not find reviews.
func (kind entityKind) mark(mark uint64) uint64 {
	if kind == kindRun {
		return ^mark
	}
	return mark
}

// resolve returns the full id for what a person typed: an id, a unique prefix, letters of its suffix or "latest". It
// returns a *NotFoundError if none or several match.
func (idx *index) resolve(kind entityKind, typed string, now time.Time) (string, error) {
	exact, err := idx.find(entity{kind, typed})
	if err != nil || exact != nil && exact.here() {
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

// latest returns the id of what began last, or "".
func (idx *index) latest(kind entityKind) (string, error) {
	if newest := idx.Newest[string(kind)]; newest.ID != "" {
		return newest.ID, nil
	}
	latest := row{}
	err := idx.scan(shelvesOf(kind), func(r *row) error {
		if latest.id == "" || r.beginning().compare(latest.beginning()) > 0 {
			latest = *r
		}
		return nil
	})
	return latest.id, err
}

// fitting returns the runs or reviews whose id begins with typed, or whose suffix begins or ends with it, newest first.
func (idx *index) fitting(kind entityKind, typed string) ([]row, error) {
	if typed == "" {
		return nil, nil
	}
	keys, err := idx.stack.Beginning(append([]byte{byte(kind)}, typed...))
	if err != nil {
		return nil, err
	}
	marks := each.SetOf(marksOfLetters(typed), func(mark uint64) uint64 { return kind.mark(mark) })
	entries, err := idx.stack.Newest(marks, keys...)
	return slices.DeleteFunc(rowsOf(entries), func(r row) bool {
		return !r.here() || !strings.HasPrefix(r.id, typed) && !fitsLetters(r.id, typed)
	}), err
}

// shelvesOf returns the shelves that hold all rows of a kind that have begun.
func shelvesOf(kind entityKind) []byte {
	if kind == kindRun {
		return []byte{shelfRun}
	}
	return []byte{shelfWaiting, shelfClosed}
}

// meant describes rows for a list from which one has to be chosen.
func meant(rows []row, now time.Time) ([]record.Meant, error) {
	var among []record.Meant
	for i := range rows {
		line, err := loadLine[struct { // of a run or of a review
			Entity    runplan.Entity `json:"entity"`
			Verdict   reply.Verdict  `json:"verdict"`
			Reviewer  string         `json:"reviewer"`
			Others    []string       `json:"other_reviewers"`
			CreatedAt time.Time      `json:"created_at"`
			Message   string         `json:"message"`
			Title     string         `json:"title"`
		}](&rows[i])
		if err != nil {
			return nil, err
		}
		among = append(among, record.Meant{
			What: rows[i].kind.String(), ID: rows[i].id, Status: rows[i].status, Verdict: line.Verdict,
			Reviewer: strings.Join(append([]string{line.Reviewer}, line.Others...), ", "),
			Age:      now.Sub(line.CreatedAt), Title: cmp.Or(line.Message, line.Title, line.Entity.Name()),
		})
	}
	return among, nil
}
