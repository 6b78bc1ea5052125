// Package anchor finds lines of a file in a later version of it: where a comment belongs after the code around it
// changed, or why it has no place any more.
package anchor

import "slices"

// Reasons why lines have no place in the newer text.
const (
	whyChanged   = "the lines were changed or deleted"
	whyReplaced  = "the lines were changed"
	whyElsewhere = "the same words are elsewhere, but between other lines"
	whyAmbiguous = "two places fit equally well"
)

// WhyRange is the reason why lines have no place that the older text does not have.
const WhyRange = "the file never had these lines"

// Relocate finds lines start to end of old, with the text quoted, in new. It returns their new place, or the reason why
// there is none. It never guesses: the text at the new place is the quoted one, except for blanks at line ends, and no
// other place fits as well. old may be nil if it is unknown; then only the quotation counts.
func Relocate(old, new []byte, start, end int, quoted string) (newStart, newEnd int, why string) {
	return NewRelocation(old, new).Find(start, end, quoted)
}

// Relocation finds lines of one text in another.
type Relocation struct {
	table        *lineTable
	old, new     []int // the numbers of their lines
	lines        lineMap
	oldIn, newIn nesting
	inOld, inNew lineCounts
	noText       bool
}

func NewRelocation(old, new []byte) *Relocation {
	r := &Relocation{table: newLineTable(), noText: old == nil}
	r.old, r.new = r.table.all(string(old)), r.table.all(string(new))
	r.oldIn, r.newIn = r.table.nesting(r.old), r.table.nesting(r.new)
	r.inOld, r.inNew = r.table.counts(r.old), r.table.counts(r.new)
	r.lines = mapLines(r.old, r.new, r.inOld, r.inNew)
	return r
}

// wanted are the lines to find.
type wanted struct {
	lines []int
	at    int // their index in the old text; -1 if unknown
}

// spot is a candidate place of the wanted lines in the new text, and how well it fits.
type spot struct {
	at           int
	mapped       bool // the comparison of the texts chose it
	slides       bool // the comparison could equally have chosen it
	inside       bool // in the same function or block as before
	above, below int  // number of unchanged lines next to it, up to nearLines
	words        int  // letters and digits in those lines
}

const (
	nearLines  = 3
	tellsApart = 20   // letters and digits that hardly occur twice
	maxSpots   = 2000 // maximum number of spots to compare
)

func (r *Relocation) Find(start, end int, quoted string) (newStart, newEnd int, why string) {
	want, ok := r.wanted(start, end, quoted)
	if !ok {
		return 0, 0, WhyRange
	}
	at, why := r.choose(want, start-1)
	if why != "" {
		return 0, 0, why
	}
	return at + 1, at + len(want.lines), ""
}

// wanted parses the quotation. If the old text does not have it at these lines, the old text is ignored.
func (r *Relocation) wanted(start, end int, quoted string) (wanted, bool) {
	if start < 1 || end < start {
		return wanted{}, false
	}
	want := wanted{lines: r.table.all(quoted + "\n"), at: start - 1}
	if extra := len(want.lines) - (end - start + 1); extra == 1 && last(want.lines) == 0 {
		want.lines = want.lines[:len(want.lines)-1] // quoted with its newline
	} else if extra != 0 {
		return want, false
	}
	if end > len(r.old) || !slices.Equal(r.old[start-1:end], want.lines) {
		want.at = -1
	}
	return want, r.noText || end <= len(r.old)
}

func last(s []int) int { return s[len(s)-1] }

// choose returns the one place that fits best. at is the old place, for texts that cannot be compared.
func (r *Relocation) choose(want wanted, at int) (int, string) {
	all := occurrences(r.new, want.lines)
	if want.at < 0 {
		return r.chooseByText(want, all, at)
	}
	spots, ok := r.spots(want, all)
	switch {
	case ok && len(spots) == 0 && r.replaced(want):
		return 0, whyReplaced
	case ok && len(spots) == 0:
		return 0, whyChanged
	}
	best, single := bestSpot(spots)
	if !ok || !single {
		return 0, whyAmbiguous
	}
	lone := len(all) == 1 && len(occurrences(r.old, want.lines)) == 1
	if best.mapped {
		return r.acceptMapped(want, best, lone)
	}
	return r.acceptMoved(want, best, lone)
}

// bestSpot returns the spot that is better than every other; ok is false if there is none.
func bestSpot(spots []spot) (best spot, ok bool) {
	for i, p := range spots {
		if i == 0 || p.better(best) {
			best = p
		}
	}
	for _, p := range spots {
		if p.at != best.at && !best.better(p) {
			return best, false
		}
	}
	return best, true
}

// chooseByText chooses a place if the old text is unknown: the lines must occur once, and be long enough or at their
// old place.
func (r *Relocation) chooseByText(want wanted, all []int, at int) (int, string) {
	switch {
	case len(all) == 0:
		return 0, whyChanged
	case len(all) > 1:
		return 0, whyAmbiguous
	case all[0] != at && r.table.weight(want.lines) < tellsApart:
		return 0, whyElsewhere
	}
	return all[0], ""
}

// spots returns all possible places of the wanted lines: the one that the comparison chose, and other occurrences of
// the text that do not belong to other old lines. ok is false if there are too many to compare.
func (r *Relocation) spots(want wanted, all []int) (spots []spot, ok bool) {
	size := len(want.lines)
	slides := map[int]bool{}
	mapped := r.mapped(want)
	if mapped >= 0 {
		run := r.run(want.at, mapped)
		for _, at := range slideAlong(r.new, mapped, size, run.new, gapAround(r.lines.toOld, run.new)) {
			slides[at] = true
		}
		spots = append(spots, r.fit(want.at, mapped, size))
		spots[0].mapped = true
	}
	for _, at := range all {
		if at == mapped || !slides[at] && r.claimed(at, size) {
			continue
		}
		if len(spots) == maxSpots {
			return nil, false
		}
		p := r.fit(want.at, at, size)
		p.slides = slides[at]
		spots = append(spots, p)
	}
	return spots, true
}

// mapped returns where the comparison maps all wanted lines together, or -1.
func (r *Relocation) mapped(want wanted) int {
	at := r.lines.toNew[want.at]
	for i := range want.lines {
		if at < 0 || r.lines.toNew[want.at+i] != at+i {
			return -1
		}
	}
	return at
}

// claimed reports whether the lines at a place of the new text belong to another place of the old one.
func (r *Relocation) claimed(at, size int) bool {
	from := r.lines.toOld[at]
	for i := range size {
		if from < 0 || r.lines.toOld[at+i] != from+i {
			return false
		}
	}
	return true
}

// fit compares the surroundings of lines of the old text and lines of the new one.
func (r *Relocation) fit(oldAt, newAt, size int) spot {
	p := spot{at: newAt}
	wordsAbove, wordsBelow := 0, 0
	p.above, wordsAbove = r.near(oldAt-1, newAt-1, -1)
	p.below, wordsBelow = r.near(oldAt+size, newAt+size, 1)
	p.words = wordsAbove + wordsBelow
	p.inside = r.oldIn.path[oldAt] != 0 && r.oldIn.path[oldAt] == r.newIn.path[newAt]
	return p
}

// near counts equal lines, other than blank ones, from i in the old text and j in the new one. If both texts end, all
// lines count as equal.
func (r *Relocation) near(i, j, step int) (count, words int) {
	for count < nearLines {
		i, j = skipBlank(r.old, i, step), skipBlank(r.new, j, step)
		oldEnds, newEnds := i < 0 || i >= len(r.old), j < 0 || j >= len(r.new)
		if oldEnds && newEnds {
			return nearLines, words
		}
		if oldEnds || newEnds || r.old[i] != r.new[j] {
			return count, words
		}
		count, words = count+1, words+r.table.weights[r.old[i]]
		i, j = i+step, j+step
	}
	return count, words
}

func skipBlank(lines []int, i, step int) int {
	for i >= 0 && i < len(lines) && lines[i] == 0 {
		i += step
	}
	return i
}

// closer reports whether p fits better than q on one side and not worse on the other.
func (p spot) closer(q spot) bool {
	return p.above >= q.above && p.below >= q.below && (p.above > q.above || p.below > q.below)
}

// firm reports whether the comparison's choice is preferred to a copy far away.
func (p spot) firm() bool { return p.mapped && (p.inside || p.above > 0 && p.below > 0) }

func (p spot) better(q spot) bool {
	switch {
	case p.firm() && !q.slides:
		return true
	case q.firm() && !p.slides:
		return false
	case p.closer(q) || q.closer(p):
		return p.closer(q)
	case p.inside != q.inside:
		return p.inside
	}
	return p.mapped && !q.slides
}

// acceptMapped accepts the comparison's choice, unless the lines may come from a twin of the wanted ones, or are alone
// among changed lines.
func (r *Relocation) acceptMapped(want wanted, p spot, lone bool) (int, string) {
	run := r.run(want.at, p.at)
	for _, twin := range slideAlong(r.old, want.at, len(want.lines), run.old, gapAround(r.lines.toNew, run.old)) {
		other := r.fit(twin, p.at, len(want.lines))
		other.slides = true
		if !p.better(other) {
			return 0, whyAmbiguous
		}
	}
	weight := r.table.weight(want.lines)
	switch {
	case p.inside, lone && weight >= tellsApart:
		return p.at, ""
	case r.strayed(want, p), weight == 0 && r.oldIn.parent[want.at] >= 0: // a bracket belongs to what it closes
		return 0, whyElsewhere
	case lone, p.above > 0 && p.below > 0, weight >= tellsApart/2 && p.words+weight >= tellsApart:
		return p.at, ""
	}
	return 0, whyElsewhere
}

// acceptMoved accepts a place that the comparison did not choose, for lines that hardly occur twice or that moved
// together with their surroundings. If something else replaced them they were changed, and an equal line elsewhere is
// another line, unless it is a whole passage.
func (r *Relocation) acceptMoved(want wanted, p spot, lone bool) (int, string) {
	weight := r.table.weight(want.lines)
	if r.replaced(want) {
		if lone && len(want.lines) > 1 && weight >= 2*tellsApart {
			return p.at, ""
		}
		return 0, whyReplaced
	}
	near := p.above > 0 && p.below > 0 && weight+p.words >= tellsApart
	if p.inside || lone && weight >= tellsApart || near && !r.strayed(want, p) {
		return p.at, ""
	}
	return 0, whyElsewhere
}

// strayed reports whether a block around the wanted lines, such as their function, still exists and does not contain
// the place.
func (r *Relocation) strayed(want wanted, p spot) bool {
	for outer := r.oldIn.parent[want.at]; outer >= 0; outer = r.oldIn.parent[outer] {
		if now := r.onlyPlace(outer); now >= 0 && !r.newIn.within(p.at, now) {
			return true
		}
	}
	return false
}

// onlyPlace returns where a line of the old text is in the new one: its mapped line, or its only occurrence if both
// texts have it once, or -1.
func (r *Relocation) onlyPlace(line int) int {
	if now := r.lines.toNew[line]; now >= 0 {
		return now
	}
	n := r.old[line]
	if r.inOld.count[n] == 1 && r.inNew.count[n] == 1 {
		return r.inNew.last[n]
	}
	return -1
}

// replaced reports whether the neighbours of the wanted lines are unchanged and something else is between them.
func (r *Relocation) replaced(want wanted) bool {
	above, below := want.at-1, want.at+len(want.lines)
	if above < 0 || below >= len(r.old) {
		return false
	}
	from, to := r.lines.toNew[above], r.lines.toNew[below]
	return from >= 0 && to > from+1
}

// span is a range of lines: indices from (inclusive) to (exclusive).
type span struct{ from, to int }

// equalRun is a part that the comparison found in both texts.
type equalRun struct{ old, new span }

// run returns the largest equal part around a line of both texts.
func (r *Relocation) run(oldAt, newAt int) equalRun {
	before, after := 0, 0
	for oldAt > before && newAt > before && r.lines.toNew[oldAt-before-1] == newAt-before-1 {
		before++
	}
	for oldAt+after < len(r.old) && r.lines.toNew[oldAt+after] == newAt+after {
		after++
	}
	return equalRun{span{oldAt - before, oldAt + after}, span{newAt - before, newAt + after}}
}

// gapAround extends a run by the adjacent lines that only this text has.
func gapAround(toOther []int, run span) span {
	for run.from > 0 && toOther[run.from-1] < 0 {
		run.from--
	}
	for run.to < len(toOther) && toOther[run.to] < 0 {
		run.to++
	}
	return run
}

// slideSteps limits the number of lines that slideAlong examines.
const slideSteps = 1 << 22

// slideAlong returns the other places within an equal run that a comparison could have chosen for lines at the same
// cost: the lines, and the rest of the run on that side, can shift into the adjacent gap.
func slideAlong(lines []int, at, size int, run, gap span) []int {
	var places []int
	steps := 0
	for shift := 1; shift <= gap.to-run.to && steps < slideSteps; shift++ {
		i := run.to - 1
		for i >= at && lines[i] == lines[i+shift] {
			i--
		}
		steps += run.to - i
		if i < at {
			places = append(places, at+shift)
		}
	}
	for shift := 1; shift <= run.from-gap.from && steps < slideSteps; shift++ {
		i := run.from
		for i < at+size && lines[i] == lines[i-shift] {
			i++
		}
		steps += i - run.from + 1
		if i == at+size {
			places = append(places, at-shift)
		}
	}
	return places
}
