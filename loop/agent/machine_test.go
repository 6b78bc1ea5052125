package agent

import (
	"os"
	"testing"
)

func TestWithoutMachine(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	env := []string{"HOME=/home/zenobia", "TMPDIR=/scratch/zt", "PATH=/home/zenobia/bin:/usr/bin"}
	for _, test := range []struct{ text, want string }{
		{"/checkouts/review-1/src/a.js:3: bad", "src/a.js:3: bad"},
		{"in /checkouts/review-1: bad", "in .: bad"},
		{"/checkouts/review-12/a.js:3: bad", "/checkouts/review-12/a.js:3: bad"},
		{"cannot open /scratch/zt/go-build77/b001", "cannot open <tmp>/go-build77/b001"},
		{"no x in /home/zenobia/bin:/usr/bin", "no x in <PATH>"},
		{"/home/zenobia/go/pkg/mod/x.go:3", "~/go/pkg/mod/x.go:3"},
		{"HOME=/home/zenobia", "HOME=~"},
		{"drwx zenobia staff", "drwx <user> staff"},
		{"/home/zenobias/x", "/home/zenobias/x"},
		{"--- FAIL: TestHome (0.01s)", "--- FAIL: TestHome (0.01s)"},
	} {
		if got := WithoutMachine(test.text, "/checkouts/review-1", env); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	if got := WithoutMachine("a root of tests", "/x", []string{"HOME=/root"}); got != "a root of tests" {
		t.Errorf("%q", got)
	}
	if len(host) > 3 && WithoutMachine("on "+host, "/x", env) == "on "+host {
		t.Errorf("the host's name %q stays", host)
	}
}
