package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// Commands are the configured commands that would show requests to be met, in the
// order in which the requests mention them. A request means
// a check by its command, match words or name, or by a common word for its kind of
// check. Commands come from checks only, as they are configured; one that cannot
// be shown safely is left out.
func Commands(checks []record.Check, requests []string) []string {
	return newMatcher(checks).commands(requests)
}

// matcher knows by which words requests mean checks.
type matcher []checkWords

// checkWords is a check and the words by which it is meant.
type checkWords struct {
	record.Check
	name     phrase
	match    []phrase
	commands []phrase     // of two words or more
	apart    [][]word     // for each command, the words that set it apart
	said     []word       // of the command, without runners
	of       []membership // the kinds of checks that it is, the surest first
}

// membership is that a check is of a kind, and by what that is known.
type membership struct {
	category *category
	by       int
}

func newMatcher(checks []record.Check) matcher {
	m := make(matcher, len(checks))
	for i, c := range checks {
		m[i] = newCheckWords(c)
	}
	return m
}

func newCheckWords(check record.Check) checkWords {
	c := checkWords{Check: check, name: phraseOf(check.Name)}
	for _, match := range check.Match {
		c.match = append(c.match, phraseOf(match))
	}
	for _, command := range simpleCommands(check.Command) {
		plain := phraseOf(commandWords(command, false))
		for _, p := range []phrase{phraseOf(command), plain} {
			if len(p.words) > 1 {
				c.commands = append(c.commands, p)
			}
		}
		c.apart = append(c.apart, slices.DeleteFunc(slices.Clone(plain.words), func(w word) bool {
			return len(w.text) < 2 || strings.Contains(runners+verbs, " "+w.text+" ")
		}))
	}
	c.said = slices.DeleteFunc(phraseOf(check.Command).words, func(w word) bool { return len(w.text) < 2 || strings.Contains(runners, " "+w.text+" ") })
	all := categories()
	for i := range all {
		if by := all[i].member(check); by > 0 {
			c.of = append(c.of, membership{&all[i], by})
		}
	}
	slices.SortStableFunc(c.of, func(a, b membership) int { return cmp.Compare(b.by, a.by) })
	return c
}

// kind is the kind of check that c is known best as, "" where it is of none.
// Coverage is something that tests report.
func (c checkWords) kind() string {
	for _, m := range c.of {
		if m.category.name != catCoverage {
			return m.category.name
		}
	}
	return ""
}

// member is by what c is known to be of a category; 0 when it is not.
func (c checkWords) member(category string) int {
	for _, m := range c.of {
		if m.category.name == category {
			return m.by
		}
	}
	return 0
}

func (m matcher) commands(requests []string) []string {
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

// How a request can mention a check, the surest first.
type mentionKind int

const (
	asCommand mentionKind = iota
	asMatch
	asName
	asCategory
)

// mention is a place in a request that speaks of a check or of a kind of check.
type mention struct {
	from, to int // words
	kind     mentionKind
	category string      // "" where the check is of no known kind
	check    *checkWords // nil where no check of that kind is configured
}

// mentions are the checks that request asks for, in the order of their mention, each once.
func (m matcher) mentions(request string) []mention {
	text := wordsOf(request)
	found := categoryMentions(text)
	for i := range m {
		found = append(found, m[i].mentions(request, text)...)
	}
	found = withoutOverlaps(found)
	for i := range found {
		m.settle(&found[i], text)
	}
	found = withoutSideRemarks(found, text)
	slices.SortStableFunc(found, func(a, b mention) int { return cmp.Compare(a.from, b.from) })
	return firstOfEach(found)
}

// mentions are the places where text speaks of c by its own words.
func (c *checkWords) mentions(request string, text []word) []mention {
	var found []mention
	for i, w := range text {
		for _, p := range c.commands {
			if p.inOrder(text[i:], false) {
				found = append(found, mention{from: i, to: i + len(p.words), kind: asCommand, check: c})
			}
		}
		if w.code {
			continue
		}
		for _, p := range c.match {
			if n := p.at(text, i, true); n > 0 {
				found = append(found, mention{from: i, to: i + n, kind: asMatch, check: c})
			}
		}
		if n := c.name.at(text, i, true); n > 0 && !c.mereVerb(request, text, i, i+n) {
			found = append(found, mention{from: i, to: i + n, kind: asName, check: c})
		}
	}
	for _, words := range c.apart {
		if first := firstOfAll(text, words); first >= 0 {
			found = append(found, mention{from: first, to: first + 1, kind: asName, check: c})
		}
	}
	return found
}

// verbs are names of checks that are more often a verb or a word for "everything".
const verbs = " check verify validate ensure run fix make all main default quick full "

// mereVerb tells "check the return value" from "make the check pass" and "run `check`".
func (c *checkWords) mereVerb(request string, text []word, from, to int) bool {
	if !strings.Contains(verbs, " "+strings.ToLower(c.Name)+" ") || strings.Contains(request, "`"+c.Name+"`") {
		return false
	}
	if to >= len(text) {
		return from == 0
	}
	return !strings.Contains(" fail fails failing failed failure pass passes passing error errors output step script ", " "+text[to].text+" ")
}

// runners are words of commands that say nothing about what is run.
const runners = " npm npx yarn pnpm bun bunx deno run exec go cargo python python3 py m pip poetry uv uvx tox pdm hatch make just task sh bash zsh" +
	" node bundle rake gradle gradlew mvn mvnw dotnet composer vendor bin php ruby mix docker compose env sudo time c js ts rb mjs cjs pl ps1 "

// simpleCommands takes a command line apart where one command ends and another begins.
func simpleCommands(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|;\n()", r) })
}

// firstOfAll is where the first of words stands in text, if text has them all; else -1.
func firstOfAll(text, words []word) int {
	first := -1
	for _, w := range words {
		at := slices.IndexFunc(text, func(t word) bool { return !t.code && same(t, w, false) })
		if at < 0 {
			return -1
		}
		if first < 0 || at < first {
			first = at
		}
	}
	return first
}

// categoryMentions are the places where text speaks of kinds of checks in common words.
func categoryMentions(text []word) []mention {
	var found []mention
	for i, w := range text {
		if isCompilerCode(w.text) {
			found = append(found, mention{from: i, to: i + 1, kind: asCategory, category: catTypecheck})
		}
		if w.code {
			continue
		}
		for _, a := range asksAt(text, i) {
			if n := a.phrase.at(text, i, false); n > 0 && !a.category.otherSense(text, i, n) {
				found = append(found, mention{from: i, to: i + n, kind: asCategory, category: a.category.name})
			}
		}
	}
	return found
}

// isCompilerCode reports whether w is the number of a TypeScript error.
func isCompilerCode(w string) bool {
	digits, ok := strings.CutPrefix(w, "ts")
	return ok && len(digits) >= 4 && len(digits) <= 5 && strings.Trim(digits, "0123456789") == ""
}

// otherSense tells "build an index" and "inline style" from words about checks.
func (c *category) otherSense(text []word, i, n int) bool {
	has := func(at int, words string) bool { return at >= 0 && at < len(text) && hasWord(text[at:at+1], words) }
	switch c.name {
	case catBuild:
		imperative := i == 0 || has(i-1, " please to must should and ")
		return imperative && n == 1 && has(i, " build bundle compile building ") &&
			has(i+n, " a an the this that these those your our each one it ") && !has(i+n+1, " project app application package code build program binary ")
	case catLint:
		return has(i, " style styles ") && (has(i-1, " css inline html text font button component table own ") || has(i+n, " tag attribute prop sheet sheets element "))
	}
	return false
}

// withoutOverlaps keeps, of mentions at the same place, the longest, and of those
// the surest.
func withoutOverlaps(found []mention) []mention {
	slices.SortStableFunc(found, func(a, b mention) int {
		return cmp.Or(cmp.Compare(b.to-b.from, a.to-a.from), cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from))
	})
	var kept []mention
	for _, m := range found {
		if !slices.ContainsFunc(kept, func(k mention) bool { return m.from < k.to && k.from < m.to }) {
			kept = append(kept, m)
		}
	}
	return kept
}

// settle finds the check for a category, the category for a check, and a better
// check where the name of one is also the word for its kind: of test and test-e2e,
// "e2e tests" are the second.
func (m matcher) settle(found *mention, text []word) {
	if found.category == "" {
		found.category = found.check.meant(text[found.from:found.to])
		if found.kind != asName || found.category == "" {
			return
		}
	}
	if best := m.best(found.category, text); best != nil {
		found.check = best
	}
}

// meant is what kind of check words about c mean: one that they name, else what c
// is best known as, "" where it is only of a kind by its command.
func (c *checkWords) meant(words []word) string {
	named := categoryMentions(words)
	for _, of := range c.of {
		if slices.ContainsFunc(named, func(n mention) bool { return n.category == of.category.name }) {
			return of.category.name
		}
	}
	if len(c.of) > 0 && c.of[0].by >= byMatch {
		return c.of[0].category.name
	}
	return ""
}

// best is the check of a category that most of the request's words speak of, or one
// that serves instead; nil when there is none.
func (m matcher) best(category string, text []word) *checkWords {
	if best := m.bestMember(category, text); best != nil {
		return best
	}
	switch category {
	case catCoverage:
		return m.bestMember(catTest, text)
	case catTest:
		return m.bestMember(catCoverage, text)
	case catTypecheck:
		return m.compiling()
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

// fit is how well a check's words and the request's go together. The word for its
// kind tells less than others: of test and e2e, "e2e tests" are the second.
func (c *checkWords) fit(category string, text []word) int {
	score := 0
	has := func(w word) bool {
		return slices.ContainsFunc(text, func(t word) bool { return !t.code && same(t, w, true) })
	}
	for _, w := range c.name.words {
		switch {
		case !has(w):
			score -= 3
		case same(w, wordOf(category), true):
			score += 5
		default:
			score += 10
		}
	}
	for _, p := range c.match {
		if p.in(text) {
			score += 10
		}
	}
	for _, w := range c.said {
		if has(w) {
			score += 2
		}
	}
	return score
}

// compilers are commands that find errors of types as well.
var compilers = []string{"go build", "go vet", "cargo check", "cargo build", "javac", "dotnet build", "swift build"}

// compiling is a check whose compiler finds errors of types.
func (m matcher) compiling() *checkWords {
	for i := range m {
		command := " " + strings.Join(splitWords(m[i].Command), " ") + " "
		if slices.ContainsFunc(compilers, func(c string) bool { return strings.Contains(command, " "+c+" ") }) {
			return &m[i]
		}
	}
	return nil
}

// withoutSideRemarks leaves out tests where coverage is asked for, which runs them,
// and what only says where something is: "fix the type errors in the tests".
func withoutSideRemarks(found []mention, text []word) []mention {
	coverage := slices.ContainsFunc(found, func(m mention) bool { return m.category == catCoverage })
	var kept []mention
	for _, m := range found {
		earlier := slices.ContainsFunc(found, func(o mention) bool { return o.from < m.from })
		aside := coverage && m.category == catTest || earlier && m.kind >= asName && saysWhere(text, m.from)
		if m.kind == asCommand || !aside {
			kept = append(kept, m)
		}
	}
	return kept
}

// saysWhere reports whether the words before at make it a place.
func saysWhere(text []word, at int) bool {
	for at--; at >= 0; at-- {
		if hasWord(text[at:at+1], " in of from under inside within for into by ") {
			return true
		}
		if !hasWord(text[at:at+1], " the our your this all its existing new unit ") {
			return false
		}
	}
	return false
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
