// Package track follows reviewers' requests over the rounds of a run: which requests persist, which are new, and which
// the newest round does not repeat. Two requests are the same if their place is the same by content and their words are
// the same. Anything else that looks alike is called similar, and no decision depends on it.
package track

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// State is the state of a request after the rounds of a run.
type State string

const (
	New           State = "new"             // first requested in the newest round
	Unmet         State = "unmet"           // requested in the newest round and in the one before it
	CameBack      State = "came_back"       // requested again after an absence
	Similar       State = "similar"         // the newest round and an earlier one have requests that may be the same
	Contradiction State = "contradiction"   // the newest round requests the opposite of the one before it
	NotAsked      State = "not_asked_again" // requested before and not in the newest round
	// not asked again, and a check shows that it is done; set by the caller, who knows the checks
	Met State = "met"
)

// Request is one request over the rounds of a run.
type Request struct {
	Text  string `json:"text"`         // the newest wording; a finding's begins with its place
	ID    string `json:"id,omitempty"` // of a finding
	Rule  string `json:"-"`            // of a finding
	First int    `json:"first_round"`
	Last  int    `json:"last_round"` // the newest round with the request
	Times int    `json:"times"`      // number of rounds with the request
	State State  `json:"state"`
	Other int    `json:"other_round,omitempty"` // the round of the similar or contradicting request
}

// Round is the result of one round.
type Round struct {
	Number  int // from 1
	By      string
	Report  reply.Report
	Failed  bool     // it ended without an answer
	Changed []string // files that changed since the round before it
}

// Requests returns the requests of the rounds, which are ordered oldest first. The newest round's requests come first,
// in its order, then those that it does not repeat, newest first. A round without an answer, or one that neither
// passed nor requested anything, does not count.
func Requests(rounds []Round) []Request {
	rounds = answered(rounds)
	threads := follow(rounds)
	slices.SortStableFunc(threads, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(b.newest(), a.newest()), cmp.Compare(a.at, b.at))
	})
	tracked := make([]Request, len(threads))
	for i, t := range threads {
		tracked[i] = Request{Text: t.text, ID: t.id, Rule: t.rule, First: rounds[t.seen[0]].Number,
			Last: rounds[t.newest()].Number, Times: len(t.seen)}
		var other *thread
		if tracked[i].State, other = t.state(threads, len(rounds)-1); other != nil {
			tracked[i].Other = rounds[other.newest()].Number
		}
	}
	return tracked
}

// answered returns the rounds that show which requests persist. The changed files of a dropped round are added to
// those of the next returned one.
func answered(rounds []Round) []Round {
	var telling []Round
	var changed []string
	for _, r := range rounds {
		changed = slices.Concat(changed, r.Changed)
		asks := len(r.Report.Findings)+len(r.Report.Requests) > 0
		if !r.Failed && (asks || r.Report.Effective.Passed() || r.Report.Verdict.Passed()) {
			r.Changed, changed = changed, nil
			telling = append(telling, r)
		}
	}
	return telling
}

// Repeated returns the ids of the findings that are in each of rounds, in the order in which they were first reported.
// It excludes notes, and findings without a file, because their place cannot be compared.
func Repeated(rounds []Round) []string {
	var repeated []string
	for _, t := range follow(rounds) {
		if len(t.seen) == len(rounds) && t.File != "" && t.severity != reply.Note {
			repeated = append(repeated, t.id)
		}
	}
	return repeated
}

// ask is one request in one round.
type ask struct {
	key
	text     string
	by       string
	id, rule string         // of a finding
	severity reply.Severity // of a finding
	at       int            // index among its round's requests
}

// key is a request in comparable form: equal keys mean the same request if the file has not changed.
type key struct {
	place.Place // zero for the whole change
	words       string
}

func keyOf(f reply.Finding) key {
	return key{place.Place{File: f.File, Line: f.Line, End: cmp.Or(f.EndLine, f.Line)}, words(f.Issue)}
}

// words returns text without what copying may change: line breaks, the full stop and the initial capital.
func words(text string) string {
	text = strings.TrimRight(strings.Join(strings.Fields(text), " "), ".。")
	first, rest, _ := strings.Cut(text, " ")
	if first == "" || strings.ContainsFunc(first[1:], func(r rune) bool { return r < 'a' || r > 'z' }) {
		return text
	}
	return strings.TrimSpace(strings.ToLower(first) + " " + rest)
}

// asksOf returns the requests of a round, each once: its findings, then the prose requests that no finding repeats.
func asksOf(round Round) []ask {
	var asks []ask
	seen := map[key]bool{}
	add := func(a ask) {
		if a.words != "" && !seen[a.key] {
			a.at, a.by = len(asks), round.By
			asks = append(asks, a)
		}
		seen[a.key] = true
	}
	for _, f := range round.Report.Findings {
		text := f.Issue
		if f.File != "" {
			text = f.Place() + ": " + text
		}
		add(ask{key: keyOf(f), text: text, id: f.ID, rule: f.Rule, severity: f.Severity})
		for _, said := range []string{text, f.Issue, reply.RequestOf(f)} {
			seen[key{words: words(said)}] = true
		}
	}
	for _, text := range round.Report.Requests {
		add(ask{key: key{words: words(text)}, text: text})
	}
	return asks
}

// thread is one request, in its newest wording, and the rounds that made it.
type thread struct {
	ask
	seen []int // indexes of rounds, ascending
}

func (t *thread) newest() int { return t.seen[len(t.seen)-1] }

// follow joins the requests of rounds, oldest first, into threads, in the order in which they were first made.
func follow(rounds []Round) []*thread {
	var threads []*thread
	latest := map[key]*thread{}
	for i, round := range rounds {
		for _, a := range asksOf(round) {
			t := latest[a.key]
			if t == nil || changed(rounds[t.newest()+1:i+1], a.File) {
				t = &thread{}
				threads, latest[a.key] = append(threads, t), t
			}
			t.ask, t.seen = a, append(t.seen, i)
		}
	}
	return threads
}

// changed reports whether file changed before one of rounds. Reviewers may shorten or lengthen paths.
func changed(rounds []Round, file string) bool {
	return file != "" && slices.ContainsFunc(rounds, func(r Round) bool {
		return slices.ContainsFunc(r.Changed, func(f string) bool { return endsAlike(f, file) })
	})
}

// maxCompared limits the work that a reviewer can cause with thousands of requests: beyond it nothing is called similar
// or a contradiction.
const maxCompared = 500

// state returns the request's state in round last, the newest, and the request that it is similar to or contradicts:
// for a request of that round an earlier one, and vice versa.
func (t *thread) state(threads []*thread, last int) (state State, similar *thread) {
	now := t.newest() == last
	switch {
	case !now:
		state = NotAsked
	case len(t.seen) == 1:
		state = New
	case t.seen[len(t.seen)-2] == last-1:
		state = Unmet
	default:
		state = CameBack
	}
	if len(threads) > maxCompared {
		return state, nil
	}
	for _, other := range threads {
		switch {
		case (other.newest() == last) == now:
		case min(t.newest(), other.newest()) == last-1 && t.by == other.by && opposite(t.key, other.key):
			return Contradiction, other
		case similar == nil && (t.File == "" || other.File == "" || endsAlike(t.File, other.File)) &&
			alike(t.words, other.words):
			similar = other
		}
	}
	if similar != nil && (state == New || state == NotAsked) {
		return Similar, similar
	}
	return state, nil
}

// At is the position of a finding in several lists.
type At struct{ List, Index int }

// Same groups equal findings from independent lists about one version; each list is one reviewer's. Groups are ordered
// by their first finding, members by their list. Each finding is in exactly one group, and a group has at most one
// finding of each list.
func Same(lists [][]reply.Finding) [][]At {
	type again struct {
		key
		n int // for repetitions within a list
	}
	var same [][]At
	groups := map[again]int{}
	for i, findings := range lists {
		said := map[key]int{}
		for j, f := range findings {
			k := keyOf(f)
			g, known := groups[again{k, said[k]}]
			if !known {
				g, same = len(same), append(same, nil)
				groups[again{k, said[k]}] = g
			}
			same[g] = append(same[g], At{i, j})
			said[k]++
		}
	}
	return same
}

// nearLines is how many lines apart two reviewers may place the same fault: one names the
// call, the other the failing line below it.
const nearLines = 5

// Alike reports whether two findings of one version may be the same: they are near each other and share half of the
// words of the shorter one. No decision may depend on it.
func Alike(a, b reply.Finding) bool {
	x, y := keyOf(a), keyOf(b)
	near := x.Line == 0 || y.Line == 0 || x.Line <= y.End+nearLines && y.Line <= x.End+nearLines
	return near && endsAlike(x.File, y.File) && alike(x.words, y.words)
}

// alike reports whether two texts share half of the shorter one's words. It is false if each has a name of its own.
func alike(a, b string) bool {
	x, y := stems(a), stems(b)
	n, m := names(a), names(b)
	common := each.Count(x, func(word string) bool { return slices.Contains(y, word) })
	return common > 0 && 2*common >= min(len(x), len(y)) && !(hasOwn(n, m) && hasOwn(m, n))
}

// hasOwn reports whether names has a name that neither contains nor is part of one of others.
func hasOwn(names, others []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(others, func(o string) bool {
			return strings.Contains(o, name) || strings.Contains(name, o)
		})
	})
}

// names returns the words of text that look like code: in backquotes, or with a digit, a dot or a capital inside.
func names(text string) []string {
	var names []string
	for word := range strings.FieldsSeq(prose.Cut(text, maxAlike)) {
		name := strings.Trim(word, "`'\"*.,;:!?()")
		if at := place.Read(name); at.Line > 0 {
			name = at.File
		}
		within := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) || r == '_' || r == '.' }
		if strings.ContainsFunc(name, unicode.IsLetter) &&
			(strings.Contains(word, "`") || strings.ContainsFunc(name[1:], within)) {
			names = append(names, name)
		}
	}
	return names
}

// maxAlike is how many bytes of a text alike examines.
const maxAlike = 2000

// stems returns the significant words of text, each once, without their endings.
func stems(text string) []string {
	var stems []string
	for _, word := range prose.Words(prose.Cut(text, maxAlike)) {
		if s := prose.Stem(word); !reply.StopWords.Has(word) && !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems
}

// opposite reports whether two requests about one place certainly contradict each other: their words are equal except
// for a leading "do not" or "never", for a leading "add" or "remove" and the like, or for swapped words around "instead
// of".
func opposite(a, b key) bool {
	if a.Place != b.Place || a.words == b.words {
		return false
	}
	allowed := func(words string) string { return prohibition().ReplaceAllString(words, "") }
	if allowed(a.words) == b.words || allowed(b.words) == a.words {
		return true
	}
	x, y := strings.Fields(a.words), strings.Fields(b.words)
	if len(x) != len(y) {
		return false
	}
	var differ []int
	for i := range x {
		if x[i] != y[i] {
			differ = append(differ, i)
		}
	}
	switch {
	case len(differ) == 1 && differ[0] == 0:
		return opposites[x[0]] == y[0] || opposites[y[0]] == x[0]
	case len(differ) == 2:
		i, j := differ[0], differ[1]
		return x[i] == y[j] && x[j] == y[i] && strings.Contains(strings.Join(x[i+1:j], " "), "instead of")
	}
	return false
}

var opposites = map[string]string{"add": "remove", "enable": "disable", "allow": "forbid", "increase": "decrease"}

// prohibition matches the words that make a request its opposite.
var prohibition = lazyre.Compile(`^(?:do not|don't|never) `)

// endsAlike reports whether one path equals the other or its end, because reviewers shorten paths.
func endsAlike(a, b string) bool {
	return a == b || a != "" && strings.HasSuffix(b, "/"+a) || b != "" && strings.HasSuffix(a, "/"+b)
}
