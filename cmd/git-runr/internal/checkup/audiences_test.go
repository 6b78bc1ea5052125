package checkup

import (
	"strings"
	"testing"
)

func TestPushes(t *testing.T) {
	for specs, want := range map[string]string{
		"+refs/heads/*:refs/heads/*":             "",
		":":                                      "",
		"HEAD":                                   "",
		"+refs/*:refs/*":                         "local log",
		"refs/*:refs/* ^refs/runr-local/*":       "log",
		"refs/*:refs/* ^refs/runr-local/pins":    "local log",
		"refs/runr/*:refs/runr/*":                "log",
		"refs/runr/log/a:refs/heads/a":           "log",
		"refs/runr/log/b:refs/heads/a":           "",
		"refs/runr-local/pins:refs/heads/pins":   "local",
		"refs/runr-local/private/*:refs/heads/*": "local",
		"^refs/runr/* refs/r*:refs/r* ^refs/runr-local/private/*": "local",
	} {
		got := []string{}
		for name, ref := range map[string]string{"local": "refs/runr-local/", "log": "refs/runr/log/a"} {
			if pushes(strings.Fields(specs), ref) {
				got = append(got, name)
			}
		}
		if len(got) != len(strings.Fields(want)) || len(got) == 1 && got[0] != want {
			t.Errorf("%s pushes %q, want %q", specs, got, want)
		}
	}
}
