package builtin

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
)

// secretRule is a rule of gitleaks' configuration, or one of our own, which has an accept
// function.
type secretRule struct {
	ID       string
	Keywords []string // lower case; one must occur in the text

	anchored bool                       // the pattern begins at the keyword
	wanted   func(rest string) bool     // whether the text from the keyword on is worth matching; nil: always
	accept   func(c candidate) strength // judges a match; nil: every match is a secret
	body     func() *ruleBody
}

// ruleBody is the rest of a rule; it is read when one of the rule's keywords occurs.
type ruleBody struct {
	Regex       string      `toml:"regex"` // empty: the path alone decides
	Path        string      `toml:"path"`
	SecretGroup int         `toml:"secretGroup"`
	Entropy     float64     `toml:"entropy"`
	Allowlists  []allowlist `toml:"allowlists"`

	pattern   *regexp.Regexp // nil when Regex is empty
	path      *regexp.Regexp // nil: any path
	multiline bool
	err       error
}

// allowlist describes text that looks like a secret but is not.
type allowlist struct {
	Condition   string   `toml:"condition"`   // AND: all criteria must hold; otherwise any
	RegexTarget string   `toml:"regexTarget"` // match, line, or the secret when empty
	Paths       []string `toml:"paths"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`

	paths   []func() *regexp.Regexp
	regexes []func() *regexp.Regexp
}

// genericRule is gitleaks' rule for anything that looks random after a word such as key. It
// is often wrong.
const genericRule = "generic-api-key"

// secretRules is gitleaks' configuration together with our own rules.
type secretRules struct {
	Allowlist  allowlist   `toml:"allowlist"`
	Allowlists []allowlist `toml:"allowlists"`

	rules    []*secretRule
	own      bool // our own rules alone
	keywords keywordTable
	err      error
}

// spansLines reports whether a pattern is meant to match several lines; all others are
// matched with one line at a time.
func spansLines(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, `\\[nr]`, "")
	return strings.Contains(pattern, `[\s\S`) || strings.Contains(pattern, `(?s`) || strings.Contains(pattern, `\n`)
}

func (b *ruleBody) prepare() *ruleBody {
	b.multiline = spansLines(b.Regex)
	if b.Regex != "" {
		b.pattern, b.err = regexp.Compile(b.Regex)
	}
	if b.Path != "" && b.err == nil {
		b.path, b.err = regexp.Compile(b.Path)
	}
	prepareLists(b.Allowlists)
	return b
}

// applies reports whether the rule applies to files of that path.
func (b *ruleBody) applies(path string) bool {
	if b.err != nil || b.pattern == nil {
		return false
	}
	return b.path == nil || (path != "" && b.path.MatchString(path))
}

func prepareLists(lists []allowlist) {
	for i := range lists {
		a := &lists[i]
		a.paths, a.regexes = each.Of(a.Paths, lazy), each.Of(a.Regexes, lazy)
	}
}

// candidate is a match with its surroundings.
type candidate struct {
	path    string // "" for free text
	secret  string
	match   string
	line    string // the whole lines of the match
	groups  []string
	storing bool // the text is about to be stored: a doubtful match counts as a secret
}

// allows reports whether the list excludes the candidate.
func (a *allowlist) allows(c candidate) bool {
	target := c.secret
	switch a.RegexTarget {
	case "match":
		target = c.match
	case "line":
		target = c.line
	}
	checks := make([]bool, 0, 3)
	if len(a.paths) > 0 {
		checks = append(checks, matchesAny(a.paths, c.path))
	}
	if len(a.regexes) > 0 {
		checks = append(checks, matchesAny(a.regexes, target))
	}
	if len(a.Stopwords) > 0 {
		checks = append(checks, prose.ContainsAny(strings.ToLower(c.secret), a.Stopwords))
	}
	if strings.EqualFold(a.Condition, "AND") {
		return len(checks) > 0 && !slices.Contains(checks, false)
	}
	return slices.Contains(checks, true)
}

func matchesAny(patterns []func() *regexp.Regexp, s string) bool {
	return slices.ContainsFunc(patterns, func(p func() *regexp.Regexp) bool { return p().MatchString(s) })
}

// pathAllowed reports whether the configuration excludes the whole file.
func (s *secretRules) pathAllowed(path string) bool {
	return path != "" && slices.ContainsFunc(s.Allowlists, func(l allowlist) bool { return matchesAny(l.paths, path) })
}

// entropy returns the Shannon entropy of s in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// keywordTable finds all keywords in one pass over a text: the two bytes at each position
// select the few words that can begin there.
type keywordTable struct {
	words map[[2]byte][]keyword
	seen  []bool // indexed by both bytes, so that most positions cost one lookup
}

type keyword struct {
	word  string
	rules []int
}

func (t *keywordTable) add(word string, rule int) {
	if len(word) < 2 {
		return
	}
	if t.words == nil {
		t.words, t.seen = map[[2]byte][]keyword{}, make([]bool, 1<<16)
	}
	head := [2]byte{word[0], word[1]}
	t.seen[int(head[0])<<8|int(head[1])] = true
	for i, k := range t.words[head] {
		if k.word == word {
			t.words[head][i].rules = append(k.rules, rule)
			return
		}
	}
	t.words[head] = append(t.words[head], keyword{word, []int{rule}})
}

// each calls hit for every keyword of every rule in lower, in order of position, until it returns false.
func (t *keywordTable) each(lower []byte, hit func(rule, at int) bool) {
	for i := 0; i+1 < len(lower); i++ {
		if !t.seen[int(lower[i])<<8|int(lower[i+1])] {
			continue
		}
		for _, k := range t.words[[2]byte{lower[i], lower[i+1]}] {
			if len(lower)-i < len(k.word) || string(lower[i:i+len(k.word)]) != k.word {
				continue
			}
			for _, rule := range k.rules {
				if !hit(rule, i) {
					return
				}
			}
		}
	}
}

// strength is how certain a match is.
type strength int

const (
	none    strength = iota
	allowed          // suppressed by allowWord
	weak             // a short or guessable value: weighs less in tests and documents
	strong
)

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/=_-.~", c) >= 0
}
