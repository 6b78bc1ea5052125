package builtin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// secretMatch is the place of a secret in a text.
type secretMatch struct {
	start, end int // of the secret
	rule       *secretRule
	strength   strength
}

// secretScan searches one text for secrets.
type secretScan struct {
	path     string      // "": free text; rules for certain files do not apply
	storing  bool        // the text is about to be stored: a doubtful match counts as a secret
	sureOnly bool        // skip the rules that guess, because hashes would match them
	strict   bool        // accept only tokens with a known beginning that look random: see isToken
	ended    func() bool // whether to stop; nil: never

	rules *secretRules
	text  string
	found []secretMatch
	tried map[int]int // for each rule, the end of the part that it was tried on
}

// scan returns the secrets in text by position; they do not overlap.
func (sec *Secrets) scan(text string, s secretScan) []secretMatch {
	s.rules, s.text, s.tried = sec.loaded(), text, map[int]int{}
	if s.rules.pathAllowed(s.path) {
		s.path, s.strict = "", true
	}
	s.rules.keywords.each(lowerASCII(text), s.keyword)
	if s.rules.own && !s.sureOnly && !s.strict {
		s.try(likelyToken(), 0, len(text))
	}
	return s.merged()
}

// lowerASCII converts to lower case and keeps the length, unlike strings.ToLower.
func lowerASCII(text string) []byte {
	lower := []byte(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + ('a' - 'A')
		}
	}
	return lower
}

// keyword tries a rule on the text around its keyword. It returns false to stop.
func (s *secretScan) keyword(rule, at int) bool {
	r := s.rules.rules[rule]
	if at >= s.tried[rule] && !((s.sureOnly || s.strict) && r.rank() < 2) {
		s.tryAround(r, rule, at)
	}
	return s.ended == nil || !s.ended()
}

func (s *secretScan) tryAround(r *secretRule, rule, at int) {
	if r.anchored {
		if _, end := linesAround(s.text, at, at); r.body().applies(s.path) {
			s.try(r, at, end)
		}
		return
	}
	start, end := s.part(at, s.tried[rule])
	if r.wanted != nil && !r.wanted(s.text[at:end]) {
		s.tried[rule] = end
		return
	}
	body := r.body()
	if !body.applies(s.path) {
		s.tried[rule] = len(s.text)
		return
	}
	s.tried[rule] = end
	if body.multiline {
		start, end = max(0, at-wholeLine), min(len(s.text), at+2*severalLines)
		s.tried[rule] = at + severalLines
	}
	s.try(r, start, end)
}

const (
	wholeLine    = 4 << 10  // longer lines are tried in parts
	severalLines = 32 << 10 // the longest match of a pattern for several lines, from its keyword on
)

// part returns the line around at; of a very long line it returns a window that ends with a word,
// unless the word is very long too, and that does not begin before from.
func (s *secretScan) part(at, from int) (start, end int) {
	start, end = linesAround(s.text, at, at)
	for end < min(len(s.text), at+2*wholeLine) && isTokenByte(s.text[end]) {
		end++
	}
	return max(start, from), end
}

// linesAround extends a range to whole lines, up to a limit.
func linesAround(text string, start, end int) (from, to int) {
	from, to = max(0, start-wholeLine), min(len(text), end+wholeLine)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	if n := strings.IndexByte(text[end:to], '\n'); n >= 0 {
		to = end + n
	}
	return from, to
}

func (s *secretScan) try(r *secretRule, start, end int) {
	part := s.text[start:end]
	body := r.body()
	for _, m := range body.pattern.FindAllStringSubmatchIndex(part, -1) {
		from, to := secretGroup(m, body.SecretGroup)
		if from == to {
			continue
		}
		c := candidate{path: s.path, secret: part[from:to], match: part[m[0]:m[1]], storing: s.storing}
		lineStart, lineEnd := linesAround(s.text, start+m[0], start+m[1])
		c.line = s.text[lineStart:lineEnd]
		for i := 0; i+1 < len(m); i += 2 {
			c.groups = append(c.groups, cut(part, m[i], m[i+1]))
		}
		if grade := s.judge(r, c); grade != none {
			s.found = append(s.found, secretMatch{start + from, start + to, r, grade})
		}
	}
}

func cut(s string, from, to int) string {
	if from < 0 {
		return ""
	}
	return s[from:to]
}

// secretGroup returns the range of the rule's group, or of the first later group that is not
// empty.
func secretGroup(m []int, group int) (from, to int) {
	for i := 2 * max(group, 1); i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// documentedJWT is the signature of the example token at jwt.io, which many tests use.
const documentedJWT = "SflKxwRJSMeKKF2QT4fwpM"

func (s *secretScan) judge(r *secretRule, c candidate) strength {
	body := r.body()
	if s.strict && !r.isToken(c.secret) {
		return none
	}
	if strings.Contains(c.secret, redactedMark) || strings.Contains(c.secret, documentedJWT) ||
		(body.Entropy > 0 && entropy(c.secret) <= body.Entropy) {
		return none
	}
	allows := func(a allowlist) bool { return a.allows(c) }
	if slices.ContainsFunc(s.rules.Allowlists, allows) || slices.ContainsFunc(body.Allowlists, allows) {
		return none
	}
	grade := strong
	if r.accept != nil {
		grade = r.accept(c)
	}
	if grade != none && !s.storing && strings.Contains(c.line, allowWord) {
		return allowed
	}
	return grade
}

// allowWord marks what looks like a secret in its line as harmless. The review notes what it suppresses.
const allowWord = "gitleaks:allow"

// isToken reports whether a match is certain in any context, even in compressed bytes: it contains the rule's keyword,
// and the rest is text that looks random and is not made of words.
func (r *secretRule) isToken(secret string) bool {
	words := isWordy(secret) && countBytes(secret, isLower) > 0
	text := countBytes(secret, func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' })
	known := prose.ContainsAny(string(lowerASCII(secret)), r.Keywords)
	return known && len(secret) >= 20 && text == len(secret) && entropy(secret) >= 3 && !words
}

// merged sorts the matches and joins overlapping ones. The most specific rule names the
// joined match.
func (s *secretScan) merged() []secretMatch {
	slices.SortStableFunc(s.found, func(a, b secretMatch) int { return cmp.Compare(a.start, b.start) })
	var out []secretMatch
	for _, m := range s.found {
		last := len(out) - 1
		if last < 0 || m.start >= out[last].end {
			out = append(out, m)
			continue
		}
		if m.strength != allowed && (m.rule.rank() > out[last].rule.rank() || out[last].strength == allowed) {
			out[last].rule, out[last].strength = m.rule, m.strength
		}
		out[last].end = max(out[last].end, m.end)
	}
	return out
}

// rank returns how specific a rule is: 2 for a rule that knows a kind of secret by its form,
// less for a rule that guesses.
func (r *secretRule) rank() int {
	switch {
	case r.ID == genericRule:
		return 0
	case r.accept != nil:
		return 1
	}
	return 2
}

// invisible are zero-width characters, which split a token for a program but not for a
// reader.
const invisible = "\u00ad\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff"

// visible removes the invisible characters. back holds, for each byte of the result and for
// its end, the offset in text; it is nil if nothing was removed.
func visible(text string) (clean string, back []int) {
	if !strings.ContainsAny(text, invisible) {
		return text, nil
	}
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune(invisible, r) {
			continue
		}
		n := len(string(r))
		if r == '\uFFFD' && !strings.HasPrefix(text[i:], "\uFFFD") {
			n = 1 // an invalid byte
		}
		for j := range n {
			back = append(back, i+j)
		}
		b.WriteString(text[i : i+n])
	}
	return b.String(), append(back, len(text))
}

// inFile finds secrets in the name of a file and in the added lines; those of a symbolic link are its target.
func (sec *Secrets) inFile(ctx context.Context, f File, k kind, lines []codeLine) []reply.Finding {
	prose := proseLines(lines)
	found := append(sec.byPath(f, k), sec.inPath(f, k)...)
	for run, rest := firstRun(f.Added); len(run) > 0; run, rest = firstRun(rest) {
		var text bytes.Buffer
		for _, l := range run {
			text.WriteString(l.Text + "\n")
		}
		clean, _ := visible(text.String())
		line, counted := run[0].Number, 0
		ended := func() bool { return ctx.Err() != nil }
		for _, m := range sec.scan(clean, secretScan{path: f.Path, sureOnly: k.exempt || f.Symlink(), ended: ended}) {
			line += strings.Count(clean[counted:m.start], "\n")
			counted = m.start
			end := line + strings.Count(clean[m.start:m.end-1], "\n")
			at := k
			at.docs = k.docs || prose[line]
			found = append(found, secretFinding(f, at, m, "the change", clean[m.start:m.end], line, end))
		}
	}
	return found
}

// proseLines returns the lines that are comments, or are inside a longer string such as a
// Python docstring: people write examples there.
func proseLines(lines []codeLine) map[int]bool {
	prose := map[int]bool{}
	for _, l := range lines {
		if l.inString || (strings.TrimSpace(l.code) == "" && strings.TrimSpace(l.comment) != "") {
			prose[l.Number] = true
		}
	}
	return prose
}

// firstRun splits lines after the first consecutive ones.
func firstRun(lines []Line) (run, rest []Line) {
	n := min(1, len(lines))
	for n < len(lines) && lines[n].Number == lines[n-1].Number+1 {
		n++
	}
	return lines[:n], lines[n:]
}

func secretFinding(f File, k kind, m secretMatch, where, secret string, line, end int) reply.Finding {
	if m.strength == allowed {
		return allowedFinding(f.Path, line, m.rule.ID, "its line")
	}
	severity := reply.Critical
	switch {
	case (k.fixture || k.docs) && m.strength == weak:
		severity = reply.Note
	case k.fixture, k.docs && m.rule.rank() < 2:
		severity = reply.Warning
	}
	if end == line {
		end = 0
	}
	return reply.Finding{
		Severity: severity, File: f.Path, Line: line, EndLine: end, Rule: record.RuleSecret,
		Issue: fmt.Sprintf("a secret is in %s: %s%s", where, m.rule.ID, hint(secret)),
		Fix: "take it out of the commit itself, revoke it, and read it from the environment or a secret store; " +
			"if it is not a secret, end the line with the comment " + allowWord + ", which the review notes",
	}
}

// allowedFinding returns a note about a match that gitleaks:allow suppresses, so that readers of the review can judge
// it.
func allowedFinding(path string, line int, rule, where string) reply.Finding {
	return reply.Finding{Severity: reply.Note, File: path, Line: line, Rule: "secret-allowed",
		Issue: fmt.Sprintf("what looks like a secret (%s) is not reported: %s has %s", rule, where, allowWord)}
}

// hint returns the start of a long secret, enough to find it; "" for a short one.
func hint(secret string) string {
	if len(secret) < 16 || strings.ContainsAny(secret[:4], "-\n\r") {
		return ""
	}
	return fmt.Sprintf(" (%s…)", strings.ToValidUTF8(secret[:4], ""))
}

// byPath applies the rules that need only the path.
func (sec *Secrets) byPath(f File, k kind) []reply.Finding {
	if !f.New {
		return nil
	}
	rules := sec.loaded()
	var found []reply.Finding
	for _, r := range rules.rules {
		if len(r.Keywords) > 0 {
			continue
		}
		body := r.body()
		if body.Regex != "" || body.path == nil || !body.path.MatchString(f.Path) || rules.pathAllowed(f.Path) {
			continue
		}
		found = append(found, secretFinding(f, k, secretMatch{rule: r, strength: strong}, "the change", "", 0, 0))
	}
	return found
}

const redactedMark = "[redacted:"

// Redact replaces each secret in a free text by "[redacted:RULE]" and returns their
// number. It uses the rules of the review, but in doubt it redacts, and a gitleaks:allow
// comment in the text has no effect.
func (sec *Secrets) Redact(text string) (string, int) {
	if !mayHoldSecret(text) {
		return text, 0
	}
	clean, back := visible(text)
	matches := sec.scan(clean, secretScan{storing: true})
	if len(matches) == 0 {
		return text, 0
	}
	var b strings.Builder
	at := 0
	for _, m := range matches {
		start, end := m.start, m.end
		if back != nil {
			start, end = back[start], back[end]
		}
		b.WriteString(text[at:start] + redactedMark + m.rule.ID + "]")
		at = end
	}
	return b.String() + text[at:], len(matches)
}

// mayHoldSecret reports whether text can match a rule at all, which needs a long or a mixed word
// or one of our own rules' words. It saves loading the rules for short plain texts.
func mayHoldSecret(text string) bool {
	lower := string(lowerASCII(text))
	own := func(r *secretRule) bool { return prose.ContainsAny(lower, r.Keywords) }
	if strings.ContainsAny(text, invisible) || strings.Contains(lower, "curl") ||
		slices.ContainsFunc(ownSecretRules(), own) {
		return true
	}
	return hasMixedWord(text) || hasLongWord(text, 16, isTokenByte)
}
