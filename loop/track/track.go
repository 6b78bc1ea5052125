// Package track follows what reviewers ask for over the rounds of a run: which request of
// this round is one of the last, in whatever words, and which was met. Two wordings are one
// request when they name the same things and want the same of them; a doubt is none.
package track

import (
	"cmp"
	"slices"
	"strings"

	"git-runr/loop/reply"
)

// State is how a request fared over the rounds of a run.
type State string

const (
	New      State = "new"       // first asked in the newest round
	Unmet    State = "unmet"     // asked in the newest round and in the one before it
	CameBack State = "came_back" // absent in between and asked again
	Met      State = "met"       // asked before and not in the newest round
)

// Request is one request over the rounds of a run.
type Request struct {
	Text  string `json:"text"`         // the newest wording; a finding's begins with its place
	ID    string `json:"id,omitempty"` // finding id of the newest wording, "" for prose
	First int    `json:"first_round"`
	Last  int    `json:"last_round"` // the newest round that asked for it
	Times int    `json:"times"`      // rounds that asked for it
	State State  `json:"state"`
}

// Requests follows the requests of the rounds that came to an answer, oldest first:
// those of the newest such round in their order, then those that are met, newest
// first. A round that neither passed nor asked for anything says nothing about
// what was met, and does not count.
func Requests(rounds []Round) []Request {
	rounds = slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool { return !r.answered() })
	threads := follow(rounds)
	slices.SortStableFunc(threads, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(b.newest(), a.newest()), cmp.Compare(a.newestAsk.at, b.newestAsk.at))
	})
	tracked := make([]Request, len(threads))
	for i, t := range threads {
		tracked[i] = Request{
			Text: t.newestAsk.text, ID: t.newestAsk.id,
			First: rounds[t.seen[0]].Number, Last: rounds[t.newest()].Number, Times: len(t.seen),
			State: t.state(len(rounds) - 1),
		}
	}
	return tracked
}

// Round is what one round came to.
type Round struct {
	Number int // from 1
	Report reply.Report
	Failed bool // it came to no answer
}

// Repeated are the requests that stand in each of rounds, in whatever words, in the order of
// the newest: the ids of findings in their newest wording, and the texts of requests that
// have none. Notes are not among them.
func Repeated(rounds []Round) []string {
	var standing []ask
	for _, t := range follow(rounds) {
		if len(t.seen) == len(rounds) && t.newestAsk.severity != reply.Note {
			standing = append(standing, t.newestAsk)
		}
	}
	slices.SortFunc(standing, func(a, b ask) int { return cmp.Compare(a.at, b.at) })
	var repeated []string
	for _, a := range standing {
		repeated = append(repeated, cmp.Or(a.id, a.text))
	}
	return repeated
}

// answered reports whether the round tells which requests stand.
func (r Round) answered() bool {
	asks := len(r.Report.Findings)+len(r.Report.Requests) > 0
	return !r.Failed && (asks || r.Report.Effective.Passed() || r.Report.Verdict.Passed())
}

// ask is one request of one round.
type ask struct {
	text     string
	id       string         // of a finding
	severity reply.Severity // of a finding, "" for prose
	rule     string
	file     string
	line     int
	end      int // its last line; 0 when it is line
	at       int // place among its round's requests
	wording
}

// asksOf are the requests of a round, each once: its findings, then the prose that
// no finding says already.
func asksOf(round Round) []ask {
	var asks []ask
	seen := map[string]bool{}
	add := func(a ask, keys ...string) {
		if strings.TrimSpace(a.text) != "" && !seen[textKey(a.text)] {
			a.at = len(asks)
			asks = append(asks, a)
		}
		for _, key := range keys {
			seen[textKey(key)] = true
		}
	}
	for _, f := range round.Report.Findings {
		a := findingAsk(f)
		add(a, a.text, f.Issue)
	}
	for _, text := range round.Report.Requests {
		add(ask{text: text, wording: readWording(text)}, text)
	}
	return asks
}

// findingAsk is a finding as a request: its text begins with its place.
func findingAsk(f reply.Finding) ask {
	text := f.Issue
	if place := f.Place(); place != "" {
		text = place + ": " + text
	}
	words := readWording(f.Issue)
	words.addFile(f.File)
	return ask{text: text, id: f.ID, severity: f.Severity, rule: f.Rule, file: f.File, line: f.Line, end: f.EndLine, wording: words}
}

// textKey is what two spellings of one text share: see reply.RequestKey.
func textKey(text string) string {
	return cmp.Or(reply.RequestKey(text), strings.TrimSpace(text))
}

// thread is one request and the rounds that asked for it.
type thread struct {
	newestAsk ask
	ids       []string // of every wording
	seen      []int    // indexes of rounds, ascending
}

func (t *thread) newest() int { return t.seen[len(t.seen)-1] }

// state is how the request stands in the round of index last, the newest.
func (t *thread) state(last int) State {
	switch {
	case t.newest() != last:
		return Met
	case len(t.seen) == 1:
		return New
	case t.seen[len(t.seen)-2] == last-1:
		return Unmet
	}
	return CameBack
}

// follow joins the requests of rounds, oldest first, into threads, in the order in
// which they were first asked. Within a round a thread continues at most once.
func follow(rounds []Round) []*thread {
	var threads []*thread
	for i, round := range rounds {
		asks := asksOf(round)
		link := linkAsks(threads, asks, anywhere)
		for j, a := range asks {
			if link[j] == nil {
				link[j] = &thread{}
				threads = append(threads, link[j])
			}
			link[j].newestAsk = a
			link[j].seen = append(link[j].seen, i)
			if a.id != "" && !slices.Contains(link[j].ids, a.id) {
				link[j].ids = append(link[j].ids, a.id)
			}
		}
	}
	return threads
}

// linkAsks gives each request the thread that it continues, nil for a new one:
// first by the same words and place (of two findings with one issue the second's id
// becomes the first's when that is met), then by the id, then the most similar pair first.
// None continues one of which may says that it cannot.
func linkAsks(threads []*thread, asks []ask, may func(a, b ask) bool) []*thread {
	link := make([]*thread, len(asks))
	taken := map[*thread]bool{}
	join := func(i int, t *thread) {
		if t != nil && link[i] == nil && !taken[t] && may(t.newestAsk, asks[i]) {
			link[i], taken[t] = t, true
		}
	}
	byID, byText := map[string]*thread{}, map[string]*thread{}
	for _, t := range threads {
		byText[textKey(t.newestAsk.text)] = t
		for _, id := range t.ids {
			byID[id] = t
		}
	}
	for i, a := range asks {
		join(i, byText[textKey(a.text)])
	}
	for i, a := range asks {
		join(i, byID[a.id])
	}
	for _, p := range similarPairs(threads, asks, func(i int, t *thread) bool {
		return link[i] == nil && !taken[t] && may(t.newestAsk, asks[i])
	}) {
		join(p.ask, p.thread)
	}
	return link
}

// anywhere is for requests of different rounds: code moves between them.
func anywhere(ask, ask) bool { return true }

// maxPairs bounds the work that a reviewer can cause by asking for thousands of
// things: beyond it only what has the same words or id is the same.
const maxPairs = 250_000

type pair struct {
	thread *thread
	ask    int
	score  int
	lines  int // between the two places
}

// similarPairs are the pairs that may be the same request, the best first; of two
// that are equally good the one asked more recently, then the nearer one.
func similarPairs(threads []*thread, asks []ask, free func(int, *thread) bool) []pair {
	if len(threads)*len(asks) > maxPairs {
		return nil
	}
	var pairs []pair
	for _, t := range threads {
		for i, a := range asks {
			if !free(i, t) {
				continue
			}
			if score := sameAsk(t.newestAsk, a); score > 0 {
				pairs = append(pairs, pair{thread: t, ask: i, score: score, lines: max(t.newestAsk.line-a.line, a.line-t.newestAsk.line)})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.thread.newest(), a.thread.newest()), cmp.Compare(a.lines, b.lines))
	})
	return pairs
}

// sameAsk is how similar two requests of different rounds are; 0 when they are not the same.
func sameAsk(a, b ask) int {
	if a.rule != "" && b.rule != "" && a.rule != b.rule {
		return 0
	}
	return similarity(a.wording, b.wording)
}

// Two wordings are the same when they share more than sameScore, of 1000, of all their
// words, or containedScore of the shorter one's when it has enough of them.
const (
	sameScore       = 600
	containedScore  = 800
	containedWeight = 6
)

// similarity is the share of 1000 that two wordings have in common; 0 when they are not the
// same request. They never are when they name different files or identifiers, or one wants
// what the other does not ("log the token", "do not log the token"). Figures do not count.
func similarity(a, b wording) int {
	if a.weight == 0 || b.weight == 0 || differ(a, b) {
		return 0
	}
	common := min(a.weightIn(b), b.weightIn(a))
	score := 1000 * common / (a.weight + b.weight - common)
	least := min(a.weight, b.weight)
	contained := least >= containedWeight && 1000*common >= containedScore*least
	if score <= sameScore && !contained {
		return 0
	}
	return max(score, 1)
}

// differ reports whether two wordings cannot be the same request, however many
// words they share.
func differ(a, b wording) bool {
	return a.hasOwnFile(b) && b.hasOwnFile(a) || a.hasOwnName(b) && b.hasOwnName(a) || a.opposes(b.wish)
}
