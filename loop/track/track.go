// Package track follows reviewers' requests over the rounds of a run: which requests persist, which are new, and which
// the newest round does not repeat. Two requests are the same if their place is the same by content and their words are
// the same. Anything else that looks alike is called similar, and no decision depends on it.
package track

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/place"
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
