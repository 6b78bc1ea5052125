package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// matcher knows the phrases with which requests mean checks: a check's command, match words or name, or a common word
// for its kind. All phrases are folded.
type matcher []checkWords

// checkWords is a check and the phrases that mean it.
type checkWords struct {
	runplan.Check
	name     string
	match    []string
	commands []string     // only those of two words or more
	of       []membership // the kinds of the check, the most certain first
}

// membership says that a check is of a kind, and how certain that is.
type membership struct {
	category string
	by       int
}

func newMatcher(checks []runplan.Check) matcher { return each.Of(checks, newCheckWords) }

func newCheckWords(check runplan.Check) checkWords {
	c := checkWords{Check: check, name: folded(check.Name), match: each.Of(check.Match, folded)}
	for _, command := range simpleCommands(check.Command) {
		if words := folded(command); len(strings.Fields(words)) > 1 {
			c.commands = append(c.commands, words)
		}
	}
	for _, kind := range categories() {
		if by := kind.member(check); by > 0 {
			c.of = append(c.of, membership{kind.name, by})
		}
	}
	slices.SortStableFunc(c.of, func(a, b membership) int { return cmp.Compare(b.by, a.by) })
	return c
}

// kind returns the most certain kind of c, or "". It skips coverage, which tests report.
func (c checkWords) kind() string {
	m, _ := each.First(c.of, func(m membership) bool { return m.category != catCoverage })
	return m.category
}

// member returns how certain it is that c belongs to a category, or 0 if it does not.
func (c checkWords) member(category string) int {
	m, _ := each.First(c.of, func(m membership) bool { return m.category == category })
	return m.by
}

// commands returns the commands of the checks that requests mean, in the order of mention, each once. They come from
// the configuration only; a command that cannot be shown safely is left out.
func (m matcher) commands(requests ...string) []string {
	var commands []string
	for _, r := range requests {
		for _, found := range m.mentions(r) {
			if found.check == nil {
				continue
			}
			if _, ok := safetext.PortableCommand(found.check.Command); ok {
				commands = each.Once(commands, found.check.Command)
			}
		}
	}
	return commands
}

// mention is the first place in a request that mentions a check or a kind of check.
type mention struct {
	at       int
	named    bool        // the check by its name, which may also be the word for its kind
	category string      // "" if the check is of no known kind
	check    *checkWords // nil if no check of that kind is configured
}

// mentions returns the checks that a request asks for, in the order of mention, each once.
func (m matcher) mentions(text string) []mention {
	r := newRequest(text)
	var found []mention
	for _, kind := range categories() {
		found = append(found, mention{at: firstOf(r.prose, kind.asks...), category: kind.name})
	}
	for i := range m {
		c := &m[i]
		found = append(found, mention{at: firstOf(r.all, c.commands...), check: c},
			mention{at: firstOf(r.prose, c.match...), check: c})
		if !c.mereVerb(r) {
			found = append(found, mention{at: firstOf(r.prose, c.name), named: true, check: c})
		}
	}
	found = slices.DeleteFunc(found, func(m mention) bool { return m.at < 0 })
	for i := range found {
		m.settle(&found[i], r)
	}
	if slices.ContainsFunc(found, func(m mention) bool { return m.category == catCoverage }) { // tests report coverage
		found = slices.DeleteFunc(found, func(m mention) bool { return m.category == catTest })
	}
	slices.SortStableFunc(found, func(a, b mention) int { return cmp.Compare(a.at, b.at) })
	var kept []mention
	for _, m := range found {
		same := func(k mention) bool { return k.check == m.check && (m.check != nil || k.category == m.category) }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, m)
		}
	}
	return kept
}

// verbs are names of checks that are more often verbs or words for "everything".
var verbs = prose.WordSet(`check verify validate ensure run fix make all main default quick full`)

// mereVerb distinguishes "check the return value" from "make `check` pass".
func (c *checkWords) mereVerb(r request) bool {
	return verbs.Has(strings.ToLower(c.Name)) && !strings.Contains(r.raw, "`"+c.Name+"`")
}

// simpleCommands splits a command line into its commands.
func simpleCommands(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|;\n()", r) })
}

// settle finds the check for a category and the category for a check. If a check's name is also the word for its kind,
// it may find a better check: with the checks test and test-e2e, "e2e tests" means the second.
func (m matcher) settle(found *mention, r request) {
	if found.category == "" {
		if of := found.check.of; len(of) > 0 && of[0].by >= byMatch { // a command alone does not say what is meant
			found.category = of[0].category
		}
		if !found.named || found.category == "" {
			return
		}
	}
	best := m.best(found.category, r)
	switch {
	case best != nil:
	case found.category == catCoverage:
		best = m.best(catTest, r)
	case found.category == catTest:
		best = m.best(catCoverage, r)
	}
	if best != nil {
		found.check = best
	}
}

// best returns the check of a category that matches the request's words best, or nil.
func (m matcher) best(category string, r request) *checkWords {
	var best *checkWords
	highest := 0
	for i := range m {
		by := m[i].member(category)
		if by == 0 {
			continue
		}
		if score := 100 + by + m[i].fit(category, r); score > highest {
			best, highest = &m[i], score
		}
	}
	return best
}

// fit scores how well a check's name matches the request. The word for its kind counts less than others: with test and
// e2e, "e2e tests" means the second.
func (c *checkWords) fit(category string, r request) int {
	score := 0
	for word := range strings.FieldsSeq(c.name) {
		switch {
		case !strings.Contains(r.prose, " "+word+" "):
			score -= 3
		case word == category:
			score += 5
		default:
			score += 10
		}
	}
	return score
}
