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

// matcher knows the words with which requests mean checks: a check's command, match words or name, or a common word for
// its kind.
type matcher []checkWords

// checkWords is a check and the words that mean it.
type checkWords struct {
	runplan.Check
	name     phrase
	match    []phrase
	commands []phrase     // only those of two words or more
	of       []membership // the kinds of the check, the most certain first
}

// membership says that a check is of a kind, and how certain that is.
type membership struct {
	category *category
	by       int
}

func newMatcher(checks []runplan.Check) matcher {
	m := make(matcher, len(checks))
	for i, c := range checks {
		m[i] = newCheckWords(c)
	}
	return m
}

func newCheckWords(check runplan.Check) checkWords {
	c := checkWords{Check: check, name: phraseOf(check.Name), match: each.Of(check.Match, phraseOf)}
	for _, command := range simpleCommands(check.Command) {
		if said := phraseOf(command); len(said) > 1 {
			c.commands = append(c.commands, said)
		}
	}
	all := categories()
	for i := range all {
		if by := all[i].member(check); by > 0 {
			c.of = append(c.of, membership{&all[i], by})
		}
	}
	slices.SortStableFunc(c.of, func(a, b membership) int { return cmp.Compare(b.by, a.by) })
	return c
}

// kind returns the most certain kind of c, or "". It skips coverage, which tests report.
func (c checkWords) kind() string {
	for _, m := range c.of {
		if m.category.name != catCoverage {
			return m.category.name
		}
	}
	return ""
}

// member returns how certain it is that c belongs to a category, or 0 if it does not.
func (c checkWords) member(category string) int {
	m, _ := each.First(c.of, func(m membership) bool { return m.category.name == category })
	return m.by
}

// commands returns the commands of the checks that requests mean, in the order of mention, each once. They come from
// the configuration only; a command that cannot be shown safely is left out.
func (m matcher) commands(requests ...string) []string {
	var commands []string
	for _, r := range requests {
		for _, found := range m.mentions(r) {
			if found.check == nil || slices.Contains(commands, found.check.Command) {
				continue
			}
			if _, ok := safetext.PortableCommand(found.check.Command); ok {
				commands = append(commands, found.check.Command)
			}
		}
	}
	return commands
}

// mention is a place in a request that mentions a check or a kind of check.
type mention struct {
	from, to int         // indices of words
	named    bool        // the check by its name, which may also be the word for its kind
	category string      // "" if the check is of no known kind
	check    *checkWords // nil if no check of that kind is configured
}

// mentions returns the checks that request asks for, in the order of mention, each once.
func (m matcher) mentions(request string) []mention {
	text := wordsOf(request)
	found := categoryMentions(text)
	for i := range m {
		found = append(found, m[i].mentions(request, text)...)
	}
	for i := range found {
		m.settle(&found[i], text)
	}
	if slices.ContainsFunc(found, func(m mention) bool { return m.category == catCoverage }) { // tests report coverage
		found = slices.DeleteFunc(found, func(m mention) bool { return m.category == catTest })
	}
	slices.SortStableFunc(found, func(a, b mention) int { return cmp.Compare(a.from, b.from) })
	return firstOfEach(found)
}

// mentions returns the places where text mentions c by its own words.
func (c *checkWords) mentions(request string, text []word) []mention {
	var found []mention
	for i, w := range text {
		for _, p := range c.commands {
			if p.leads(text[i:]) {
				found = append(found, mention{from: i, to: i + len(p), check: c})
			}
		}
		if w.code {
			continue
		}
		for _, p := range c.match {
			if p.leads(text[i:]) {
				found = append(found, mention{from: i, to: i + len(p), check: c})
			}
		}
		if c.name.leads(text[i:]) && !c.mereVerb(request) {
			found = append(found, mention{from: i, to: i + len(c.name), named: true, check: c})
		}
	}
	return found
}

// verbs are names of checks that are more often verbs or words for "everything".
var verbs = prose.WordSet(`check verify validate ensure run fix make all main default quick full`)

// mereVerb distinguishes "check the return value" from "make `check` pass".
func (c *checkWords) mereVerb(request string) bool {
	return verbs.Has(strings.ToLower(c.Name)) && !strings.Contains(request, "`"+c.Name+"`")
}

// simpleCommands splits a command line into its commands.
func simpleCommands(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|;\n()", r) })
}

// categoryMentions returns the places where text mentions kinds of checks in common words.
func categoryMentions(text []word) []mention {
	var found []mention
	for i, w := range text {
		for _, a := range asksByWord()[w.one] {
			if !w.code && a.phrase.leads(text[i:]) {
				found = append(found, mention{from: i, to: i + len(a.phrase), category: a.category.name})
			}
		}
	}
	return found
}

// settle finds the check for a category and the category for a check. If a check's name is also the word for its kind,
// it may find a better check: with the checks test and test-e2e, "e2e tests" means the second.
func (m matcher) settle(found *mention, text []word) {
	if found.category == "" {
		found.category = found.check.meant()
		if !found.named || found.category == "" {
			return
		}
	}
	if best := m.best(found.category, text); best != nil {
		found.check = best
	}
}

// meant returns c's most certain kind, or "" if only c's command suggests a kind.
func (c *checkWords) meant() string {
	if len(c.of) > 0 && c.of[0].by >= byMatch {
		return c.of[0].category.name
	}
	return ""
}

// best returns the check of a category that matches the request's words best, or a substitute, or nil.
func (m matcher) best(category string, text []word) *checkWords {
	if best := m.bestMember(category, text); best != nil {
		return best
	}
	switch category {
	case catCoverage:
		return m.bestMember(catTest, text)
	case catTest:
		return m.bestMember(catCoverage, text)
	}
	return nil
}

func (m matcher) bestMember(category string, text []word) *checkWords {
	var best *checkWords
	highest := 0
	for i := range m {
		by := m[i].member(category)
		if by == 0 {
			continue
		}
		if score := 100 + by + m[i].fit(category, text); score > highest {
			best, highest = &m[i], score
		}
	}
	return best
}

// fit scores how well a check's name matches the request. The word for its kind counts less than others: with test and
// e2e, "e2e tests" means the second.
func (c *checkWords) fit(category string, text []word) int {
	score := 0
	for _, w := range c.name {
		switch {
		case !slices.ContainsFunc(text, func(t word) bool { return !t.code && t.one == w.one }):
			score -= 3
		case w.one == category:
			score += 5
		default:
			score += 10
		}
	}
	return score
}

func firstOfEach(found []mention) []mention {
	var kept []mention
	for _, m := range found {
		same := func(k mention) bool { return k.check == m.check && (m.check != nil || k.category == m.category) }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, m)
		}
	}
	return kept
}
