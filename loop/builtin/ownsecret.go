package builtin

import (
	_ "embed" // secrets.toml
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/syntax"
)

//go:embed secrets.toml
var ownSecrets string

// ownSecretRules returns rules for secrets that gitleaks does not cover: passwords that
// people chose themselves.
var ownSecretRules = sync.OnceValue(func() []*secretRule { return publishedRules(ownSecrets) })

// likelyToken returns the rule that stands for gitleaks' rules where they are missing: whatever looks random may be the
// token of a service. Short ids, ids of reviews and hashes are none.
var likelyToken = sync.OnceValue(func() *secretRule {
	body := ruleBody{Regex: `[A-Za-z0-9_+-]{16,}`}
	return &secretRule{ID: "likely-token", accept: acceptLikely, body: sync.OnceValue(body.prepare)}
})

var notToken = lazy(`^(?:[0-9a-fA-F]+|[0-9]{14}-[a-z0-9]{6,})$`)

func acceptLikely(c candidate) strength {
	v := c.secret
	if digits(v) < 2 || letters(v) < 4 || notToken().MatchString(v) || isWordy(v) && countBytes(v, isLower) > 0 {
		return none
	}
	return strong
}

// placeholders match words that replace a secret in examples.
var placeholders = lazy(
	`(?i)p[a@][s$]{2}[\W_]?w(?:[o0]?r)?d|passphrase|secret|token|credential|api_?key|example|sample|dummy|fake|placeholder|change|replace|your|insert|` +
		`redacted|hidden|foobar|foo_|xxx|\*\*\*|\.\.\.|…|abc123|abcdef|123456|qwerty|letmein|default|undefined|optional|required|string|` +
		`process\.env|environ|getenv|config|settings|some[_-]|my[_-]|test|demo|todo|admin|none|null|true|false|user|generate`)

var (
	isVariable  = lazy(`^[$%@{<(\[#]|[$%#]\{|\{\{|\$\(|\}\}|%[sdvqx]|^\w+\(|\)$|\\[(]`)
	plainPath   = lazy(`^(?:\.{1,2}|~|[A-Za-z]:)?[/\\][\w.@/\\-]*$|^[\w-]+(?:/[\w.-]+)*\.[a-z]{2,5}$|://`)
	isReference = lazy(
		`^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[a-z]+(?:[_-][a-z]+)+[0-9]{0,2}$`)
	isCamelName = lazy(`^[a-z]+(?:[A-Z][a-z]+)+[0-9]?$|^(?:[A-Z][a-z]+){2,}[0-9]?$`)
	isAlgorithm = lazy(
		`(?i)^(?:sha|md|aes|rsa|hmac|hs|rs|es|ps|ed|utf|base|bcrypt|scrypt|argon|pbkdf|oauth|x|v|ecdsa|curve|int|uint|float|bytes?|char)[-_]?\d+(?:[-_.\w]*)?$`)
	passwordName = lazy(`(?i)(?:password|passwd|passphrase|pwd)$`)
	strongClass  = lazy(`[!#$%^&*?~+]`)
)

// isPath reports whether v is a path. Base64 contains slashes too, so a value without the
// beginning or the ending of a path must have words between them.
func isPath(v string) bool {
	return plainPath().MatchString(v) || (strings.ContainsAny(v, `/\`) && isWordy(v))
}

func isPlaceholder(v string) bool {
	return placeholders().MatchString(v) || isVariable().MatchString(v) || sameByte(v)
}

func sameByte(v string) bool { return strings.Trim(v, v[:1]) == "" }

// acceptURL accepts the password of scheme://user:password@host, except placeholders:
// user:password@localhost, ${VAR}, <password>.
func acceptURL(c candidate) strength {
	user, pass, host := c.groups[1], c.groups[2], strings.ToLower(c.groups[3])
	if plain, err := url.PathUnescape(pass); err == nil && plain != "" {
		pass = plain
	}
	if isVariable().MatchString(pass) || isVariable().MatchString(host) || sameByte(pass) {
		return none
	}
	if c.storing {
		if strings.EqualFold(pass, "password") {
			return none
		}
		return strong
	}
	if isPlaceholder(pass) || strings.EqualFold(pass, user) || isExampleWord(pass) || isExampleHost(host) {
		return none
	}
	if !strings.Contains(host, ".") || isLocal(host) {
		if len(pass) < 12 || entropy(pass) < 3 || classes(pass) < 2 {
			return none // the database on a developer's own machine
		}
		return weak
	}
	if len(pass) < 6 {
		return weak
	}
	return strong
}

func isExampleWord(v string) bool {
	return slices.Contains([]string{"pass", "pw", "pwd", "p", "port", "postgres", "root", "mysql", "guest", "rabbitmq",
		"redis", "mongo", "key",
		"x-oauth-basic"}, strings.ToLower(v))
}

func isExampleHost(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	return host == "host" || host == "hostname" || hasAnySuffix(host, "example.com", "example.org", "example.net",
		".example", ".test", ".invalid", ".localhost", ".local") ||
		hasAnyPrefix(host, "example.", "host.", "your", "my", "foo", "bar.")
}

func isLocal(host string) bool {
	return hasAnyPrefix(host, "localhost", "127.", "0.0.0.0", "[::1]", "10.", "192.168.", "host.docker.internal")
}

// acceptAssigned accepts a literal that is assigned to a password, secret or token, if the
// literal looks like one.
func acceptAssigned(c candidate) strength {
	value := c.secret
	quoted := c.groups[5] == ""
	if !quoted && (!takesBareValues(c.path) || hasAnyPrefix(value, "=", "?", "-", "+")) { // ${NAME:?text}
		return none
	}
	isPassword := passwordName().MatchString(c.groups[1])
	if c.storing && isPassword && !isVariable().MatchString(value) && digits(value) > 0 && letters(value) > 0 {
		return strong
	}
	if !looksReal(value) {
		return none
	}
	solid := len(value) >= 12 && entropy(value) >= 3
	switch {
	case isPassword:
		if solid && classes(value) >= 3 {
			return strong
		}
		return weak
	case len(value) >= 16 && entropy(value) >= 3.2 && digits(value) >= 2 && !isWordy(value):
		return strong
	}
	return none
}

// hasMixedWord reports whether rest contains a word with a digit that is long enough for
// gitleaks' generic rule. That rule's pattern is slow, and most lines contain no such word.
func hasMixedWord(rest string) bool { return hasLongWord(rest, 10, isDigit) }

// hasLongWord reports whether text contains a word of at least n bytes with one byte for which with is true.
func hasLongWord(text string, n int, with func(byte) bool) bool {
	run, has := 0, false
	for i := range len(text) {
		if !isTokenByte(text[i]) {
			run, has = 0, false
			continue
		}
		run++
		has = has || with(text[i])
		if has && run >= n {
			return true
		}
	}
	return false
}

// acceptGeneric filters the matches of gitleaks' generic rule: names are not secrets, and in
// code an unquoted value is a name.
func acceptGeneric(c candidate) strength {
	if isWordy(c.secret) || isPath(c.secret) || isAlgorithm().MatchString(c.secret) || isDate().MatchString(c.secret) {
		return none
	}
	if c.storing {
		return strong
	}
	lang := syntax.Reviewed(c.path)
	quoted := strings.Contains(c.match, `"`+c.secret) || strings.Contains(c.match, "'"+c.secret) ||
		strings.Contains(c.match, "`"+c.secret)
	if lang != nil && !lang.Settings && !quoted && digits(c.secret) < 4 {
		return none
	}
	return weak
}

var isDate = lazy(`^\d{4}-?\d{2}-?\d{2}(?:[T_-][\d:.+Z-]*)?$`)

var wordPart = lazy(`[A-Z]?[a-z]{2,}|[A-Z]{2,}`)

// isWordy reports whether v is made of words, as names are, and not of random letters and
// digits.
func isWordy(v string) bool {
	inWords, groups := 0, 0
	for _, w := range wordPart().FindAllString(v, -1) {
		if len(w) >= 3 {
			inWords += len(w)
		}
	}
	for i := range len(v) {
		if isDigit(v[i]) && (i == 0 || !isDigit(v[i-1])) {
			groups++
		}
	}
	return groups <= 3 && inWords*10 >= letters(v)*7 && digits(v)*2 < len(v)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// takesBareValues reports whether a value needs no quotes in the file, as in free text.
func takesBareValues(p string) bool { return p == "" || isEnvFile(p) || isA(p, "settings") }

// looksReal tells a password from a word, a name, a path or a placeholder: it mixes letters
// with digits or punctuation.
func looksReal(v string) bool {
	if isPlaceholder(v) || isPath(v) || isReference().MatchString(v) ||
		isCamelName().MatchString(v) || isAlgorithm().MatchString(v) {
		return false
	}
	return classes(v) >= 2 && (digits(v) > 0 || strongClass().MatchString(v)) && letters(v) > 0
}

func digits(v string) int { return countBytes(v, isDigit) }
func letters(v string) int {
	return countBytes(v, func(c byte) bool { return isLower(c) || isUpper(c) })
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func countBytes(v string, is func(byte) bool) int {
	n := 0
	for i := range len(v) {
		if is(v[i]) {
			n++
		}
	}
	return n
}

// classes counts the kinds of characters in v: lower case, upper case, digits, others.
func classes(v string) int {
	n := 0
	for _, k := range []int{
		countBytes(v, isLower), countBytes(v, isUpper), digits(v), len(v) - letters(v) - digits(v),
	} {
		if k > 0 {
			n++
		}
	}
	return n
}
