package hooks

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

func TestPushed(t *testing.T) {
	one, two, none := strings.Repeat("1", 40), strings.Repeat("2", 64), strings.Repeat("0", 40)
	in := "refs/heads/a " + one + " refs/heads/b " + none + "\n(delete) " + none + " refs/tags/t " + two + "\n"
	got, err := Pushed(strings.NewReader(in))
	want := []Push{{"refs/heads/a", gitstore.ID(one), "refs/heads/b", ""},
		{"(delete)", "", "refs/tags/t", gitstore.ID(two)}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"x\n", "a " + one + " b\n", "a " + one + " b " + one[1:] + "\n",
		"a " + one + " b --option-of-forty-bytes-that-is-no-id----\n"} {
		if _, err := Pushed(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// FuzzRewritten: whatever the input is, the result consists of pairs of ids, and parsing them again returns the same.
func FuzzRewritten(f *testing.F) {
	f.Add(strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + "\n")
	f.Add(strings.Repeat("a", 64) + " " + strings.Repeat("b", 64) + " more\n\n")
	f.Add("-x " + strings.Repeat("b", 40))
	f.Fuzz(func(t *testing.T, in string) {
		pairs, err := Rewritten(strings.NewReader(in))
		if err != nil {
			return
		}
		var again strings.Builder
		for _, p := range pairs {
			if !isID(string(p.From)) || !isID(string(p.To)) {
				t.Fatalf("read %+v", p)
			}
			fmt.Fprintf(&again, "%s %s\n", p.From, p.To)
		}
		if same, err := Rewritten(strings.NewReader(again.String())); err != nil || !reflect.DeepEqual(same, pairs) {
			t.Errorf("%q came back as %+v, %v", again.String(), same, err)
		}
	})
}
