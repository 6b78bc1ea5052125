package web

import (
	"strings"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	a, b := Secret(strings.Repeat("a", secretSize)), Secret(strings.Repeat("b", secretSize))
	seen := map[string]string{}
	for name, token := range map[string]string{
		"session": a.Session(), "review 1": a.Review("1"), "review 2": a.Review("2"), "proof": a.proof("1"),
		"form":                  a.token("form"),
		"review called session": a.Review("session"), "other session": b.Session(), "other review 1": b.Review("1"),
	} {
		if len(token) != 32 || strings.Trim(token, "0123456789abcdef") != "" {
			t.Errorf("%s: %q", name, token)
		}
		if other, twice := seen[token]; twice {
			t.Errorf("%s and %s have one token", name, other)
		}
		seen[token] = name
	}
	if restarted := Secret(strings.Repeat("a", secretSize)); restarted.Review("1") != a.Review("1") {
		t.Error("a review's token changes")
	}
	one, two := newSecret(), newSecret()
	if len(one) != secretSize || string(one) == string(two) {
		t.Error("a new secret is not new")
	}
}

func TestLoginCodes(t *testing.T) {
	secret, now := newSecret(), time.Now()
	var c codes
	code := secret.Code(now)
	for name, wrong := range map[string]string{
		"of another secret": newSecret().Code(now), "old": secret.Code(now.Add(-codeLife - time.Second)),
		"of the future": secret.Code(now.Add(2 * codeLife)),
		"empty":         "", "without parts": secret.token("code:"), "changed": "0" + code, "cut": code[:len(code)-1],
		"session": secret.Session(),
	} {
		if c.use(secret, wrong, now) {
			t.Errorf("%s: accepted", name)
		}
	}
	if !c.use(secret, code, now) || c.use(secret, code, now) {
		t.Error("a code works other than once")
	}
	if later := now.Add(3 * codeLife); !c.use(secret, secret.Code(later), later) || len(c.used) != 1 {
		t.Errorf("%d codes are remembered, and one of them is of use", len(c.used))
	}
}
