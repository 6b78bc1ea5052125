package people

import (
	"errors"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	d := Directory{
		Contributors: []Person{
			{Name: "Ada Lovelace", Email: "ada@example.org"}, {Name: "Bob Stone", Email: "rstone@example.org"},
			{Name: "Bob Wood", Email: "bwood@example.org"}, {Name: "carol", Email: "carol@example.org"},
			{Name: "Carol King", Email: "king@example.org"},
		},
		Teams: map[string][]string{
			"core": {"ada@example.org", "Bob Wood <bwood@example.org>"}, "all": {"core", "carol@example.org", "ALL"},
			"@ada-l": {"ada@example.org"},
			"odd":    {"nobody"},
		},
	}
	cases := []struct{ name, want string }{
		{"ada", "Ada Lovelace"},
		{"ADA LOVELACE", "Ada Lovelace"},
		{"Ada@Example.org", "Ada Lovelace"},
		{"rstone", "Bob Stone"},
		{"@rstone", "Bob Stone"},
		{"bob", `"bob" may be Bob Stone <rstone@example.org> or Bob Wood <bwood@example.org>: give the email address`},
		{"carol", "carol"}, // a full name comes before a first name
		{"new@example.org", "new"},
		{"New One <new@example.org>", "New One"},
		{"Core", "Ada Lovelace, Bob Wood"},
		{"all", `team "all": no author of a commit here is called "ALL": give an email address, or name a team in [teams]`},
		{"@ada-l", "Ada Lovelace"},
		{"odd", `team "odd": no author of a commit here is called "nobody": give an email address, or name a team in [teams]`},
		{"nobody", `no author of a commit here is called "nobody": give an email address, or name a team in [teams]`},
	}
	for _, c := range cases {
		found, err := d.Find(c.name)
		var names []string
		for _, p := range found {
			names = append(names, p.Name)
		}
		got := strings.Join(names, ", ")
		if err != nil {
			got = err.Error()
			if !errors.As(err, new(*UnknownError)) {
				t.Errorf("%s: %T", c.name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestCoAuthors(t *testing.T) {
	got := CoAuthors("subject\n\nCo-Authored-By: Ada <ada@example.org>\nco-authored-by: bob@example.org\nNot-by: x@y\n")
	if len(got) != 2 || got[0].Email != "ada@example.org" || got[1].Email != "bob@example.org" {
		t.Errorf("%+v", got)
	}
	got = CoAuthors("x\n\n Co-authored-by : Cy Q <cy@x>, bob@x, Dee <dee@x> Eve <eve@x>\n")
	if len(got) != 4 || got[0].Email != "cy@x" || got[1].Email != "bob@x" || got[2].Name != "Dee" ||
		got[3].Email != "eve@x" {
		t.Errorf("%+v", got)
	}
	if Same(Person{Name: "A"}, Person{Name: "A"}) || !Same(Person{Email: "A@x"}, Person{Name: "B", Email: "a@X"}) {
		t.Error("people are told apart by something else than their addresses")
	}
}
