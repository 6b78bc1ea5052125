// Package track follows what reviewers ask for over the rounds of a run: which requests stand, which are new, and which
// the newest round does not ask for again. Two requests are the same where the place is the same by content and the
// words are the same; everything else that looks alike is called similar, and nothing is decided by it.
package track

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/reply"
)

// State is how a request fared over the rounds of a run.
type State string

const (
	New           State = "new"             // first asked in the newest round
	Unmet         State = "unmet"           // asked in the newest round and in the one before it
	CameBack      State = "came_back"       // absent in between and asked again
	Similar       State = "similar"         // the newest round and an earlier one ask for things that may be the same
	Contradiction State = "contradiction"   // the newest round asks for the opposite of the one before it
	NotAsked      State = "not_asked_again" // asked before and not in the newest round
	Met           State = "met"             // the same, and a check shows that it is done; whoever knows the checks says so
)

// Request is one request over the rounds of a run.
type Request struct {
	Text  string `json:"text"`         // the newest wording; a finding's begins with its place
	ID    string `json:"id,omitempty"` // of a finding
	Rule  string `json:"-"`            // of a finding
	First int    `json:"first_round"`
	Last  int    `json:"last_round"` // the newest round that asked for it
	Times int    `json:"times"`      // rounds that asked for it
	State State  `json:"state"`
	Other int    `json:"other_round,omitempty"` // the round of the request that this one is similar to or contradicts
}

// Round is what one round came to.
type Round struct {
	Number  int // from 1
	By      string
	Report  reply.Report
	Failed  bool     // it came to no answer
	Changed []string // files that changed since the round before it
}

// Requests follows the requests of the rounds that came to an answer, oldest first: those of the newest such round in
// their order, then those that it does not ask for, newest first. A round that neither passed nor asked for anything
// does not count.
func Requests(rounds []Round) []Request {
	rounds = answered(rounds)
	threads := follow(rounds)
	slices.SortStableFunc(threads, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(b.newest(), a.newest()), cmp.Compare(a.at, b.at))
	})
	tracked := make([]Request, len(threads))
	for i, t := range threads {
		tracked[i] = Request{Text: t.text, ID: t.id, Rule: t.rule, First: rounds[t.seen[0]].Number, Last: rounds[t.newest()].Number, Times: len(t.seen)}
		var other *thread
		if tracked[i].State, other = t.state(threads, len(rounds)-1); other != nil {
			tracked[i].Other = rounds[other.newest()].Number
		}
	}
	return tracked
}

// answered returns the rounds that tell which requests stand. What changed before a round that does not is part of what
// changed before the next one that does.
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

// Repeated returns the ids of the findings that stand in each of rounds, in the order they were first asked. Notes are not among
// them, and neither is a finding without a file: nobody can say that its place is the same.
func Repeated(rounds []Round) []string {
	var repeated []string
	for _, t := range follow(rounds) {
		if len(t.seen) == len(rounds) && t.File != "" && t.severity != reply.Note {
			repeated = append(repeated, t.id)
		}
	}
	return repeated
}

// ask is one request of one round.
type ask struct {
	key
	text     string
	by       string
	id, rule string         // of a finding
	severity reply.Severity // of a finding
	at       int            // place among its round's requests
}

// key is a request as it is compared: requests with equal keys are the same where the file has not changed.
type key struct {
	place.Place // zero for the whole change
	words       string
}

func keyOf(f reply.Finding) key {
	return key{place.Place{File: f.File, Line: f.Line, End: cmp.Or(f.EndLine, f.Line)}, words(f.Issue)}
}

// words returns text without what a copy of it loses: line breaks, the full stop and the capital at the beginning.
func words(text string) string {
	text = strings.TrimRight(strings.Join(strings.Fields(text), " "), ".。")
	first, rest, _ := strings.Cut(text, " ")
	if first == "" || strings.ContainsFunc(first[1:], func(r rune) bool { return r < 'a' || r > 'z' }) {
		return text
	}
	return strings.TrimSpace(strings.ToLower(first) + " " + rest)
}

// asksOf returns the requests of a round, each once: its findings, then the prose that no finding says already.
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

// thread is one request, in its newest wording, and the rounds that asked for it.
type thread struct {
	ask
	seen []int // indexes of rounds, ascending
}

func (t *thread) newest() int { return t.seen[len(t.seen)-1] }

// follow joins the requests of rounds, oldest first, into threads, in the order in which they were first asked.
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

// changed reports whether file changed before one of rounds. Reviewers shorten paths, and lengthen them.
func changed(rounds []Round, file string) bool {
	return file != "" && slices.ContainsFunc(rounds, func(r Round) bool {
		return slices.ContainsFunc(r.Changed, func(f string) bool { return endsAlike(f, file) })
	})
}

// maxCompared bounds the work that a reviewer can cause by asking for thousands of things: beyond it nothing is called
// similar or a contradiction.
const maxCompared = 500

// state returns how the request stands in the round of index last, the newest, and the request that it is similar to or
// contradicts: of that round one that was asked earlier, and the other way round.
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
		case similar == nil && (t.File == "" || other.File == "" || endsAlike(t.File, other.File)) && alike(t.words, other.words):
			similar = other
		}
	}
	if similar != nil && (state == New || state == NotAsked) {
		return Similar, similar
	}
	return state, nil
}
