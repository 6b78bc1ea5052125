package builtin

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

const blobKey = "ghp_" + "vEr7Kq2LmZx9TnWb4YcUd8Hs3JfAp6Rg1QoX"

func TestBlobSecrets(t *testing.T) {
	random := make([]byte, 4<<20)
	source := rand.NewChaCha8([32]byte{7})
	_, _ = source.Read(random)
	wide := []byte{}
	for _, c := range utf16.Encode([]rune("token: " + blobKey + "\n")) {
		wide = append(wide, byte(c>>8), byte(c))
	}
	aws, pem := "AKIA"+"Q3EGRTPQ7WXYZ2KL", "-----BEGIN RSA PRIVATE KEY-----"
	body := "\n" + strings.Repeat("MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfnygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpI7\n", 3)
	for _, c := range []struct {
		name, data string
		want       int
	}{
		{"random bytes", string(random), 0},
		{"strings of a program", "\x00" + pem + "\x00ghp_\x00akia\x00xoxb-\x00" + strings.Repeat("some\x00more\x00", 30) +
			"-----END RSA PRIVATE KEY-----\x00", 0},
		{"a table of words", "\x00ghp_goneholdhostidleintonamenextopenreadsendsizesort\x00", 0},
		{"an assignment", "\x00password = \"hunter2Hunter!x\"\x00", 0},
		{"a token", "\x89PNG\x00\x01k=" + blobKey + "\x00\x00", 1},
		{"among random bytes", string(random[:9999]) + "\x00" + aws + "\x00" + string(random[9999:20000]), 1},
		{"UTF-16", string(wide), 1},
		{"a private key", "\x00\x00" + pem + body + "-----END RSA PRIVATE KEY-----\x00", 1},
	} {
		if got := leaks.inData(t.Context(), []byte(c.data)); len(got) != c.want {
			t.Errorf("%s: found %v, want %d", c.name, got, c.want)
		}
	}
}

// TestSecretWindows holds that what a pattern is tried on does not grow with the line.
func TestSecretWindows(t *testing.T) {
	words := 1 << 17
	if testing.Short() { // the race detector is slow
		words = 1 << 14
	}
	text := strings.Repeat("tokensksecret", words)
	s := secretScan{text: text}
	for _, at := range []int{0, 5000, len(text) / 2, len(text) - 10} {
		if start, end := s.part(at, 0); end-start > 8*wholeLine || start > at || end <= at {
			t.Errorf("at %d: %d to %d of %d", at, start, end, len(text))
		}
		if start, end := linesAround(text, at, at+5); end-start > 3*wholeLine {
			t.Errorf("at %d: %d bytes beside a match", at, end-start)
		}
	}
	scanned := testing.AllocsPerRun(1, func() { leaks.scan(text, secretScan{path: "a.py"}) })
	twice := testing.AllocsPerRun(1, func() { leaks.scan(text+text, secretScan{path: "a.py"}) })
	if twice > 3*scanned+100 {
		t.Errorf("%.0f allocations for a text, %.0f for twice as much", scanned, twice)
	}
}

func TestReviewEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lines := newText("a.py", strings.Repeat("token = 1\n", 1000))
	if n := len(takeApart(ctx, nil, lines)); n > 0 {
		t.Errorf("%d lines are taken apart", n)
	}
	calls := 0
	scan := secretScan{ended: func() bool { calls++; return calls == 3 }}
	if leaks.scan(strings.Repeat("token sk key ", 1000), scan); calls != 3 {
		t.Errorf("the scan went on to keyword %d", calls)
	}
	if _, err := Review(ctx, Input{Files: []File{lines}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
