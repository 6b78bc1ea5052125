package screens

import (
	"strings"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	a, b := Secret(strings.Repeat("a", SecretSize)), Secret(strings.Repeat("b", SecretSize))
	seen := map[string]string{}
	for name, token := range map[string]string{
		"session": a.Session(), "review 1": a.Review("1"), "review 2": a.Review("2"), "proof": a.Proof("1"),
		"form":                  a.Token("form"),
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
	if restarted := Secret(strings.Repeat("a", SecretSize)); restarted.Review("1") != a.Review("1") {
		t.Error("a review's token changes")
	}
	one, two := NewSecret(), NewSecret()
	if len(one) != SecretSize || string(one) == string(two) {
		t.Error("a new secret is not new")
	}
}

func TestLoginCodes(t *testing.T) {
	secret, now := NewSecret(), time.Now()
	var c Codes
	code := secret.Code(now)
	for name, wrong := range map[string]string{
		"of another secret": NewSecret().Code(now), "old": secret.Code(now.Add(-CodeLife - time.Second)),
		"of the future": secret.Code(now.Add(2 * CodeLife)),
		"empty":         "", "without parts": secret.Token("code:"), "changed": "0" + code, "cut": code[:len(code)-1],
		"session": secret.Session(),
	} {
		if c.Use(secret, wrong, now) {
			t.Errorf("%s: accepted", name)
		}
	}
	if !c.Use(secret, code, now) || c.Use(secret, code, now) {
		t.Error("a code works other than once")
	}
	if later := now.Add(3 * CodeLife); !c.Use(secret, secret.Code(later), later) || len(c.used) != 1 {
		t.Errorf("%d Codes are remembered, and one of them is of use", len(c.used))
	}
}
