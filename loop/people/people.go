// Package people finds the people whom a review asks, and tells people apart. A person is identified by an email
// address, as mapped by .mailmap; names only help to find one.
package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
)

// Person is somebody who writes or reviews. Email is the address after .mailmap.
type Person = gitstore.Identity

// Same reports whether a and b are one person: whether they have the same address, ignoring case.
func Same(a, b Person) bool { return a.Email != "" && strings.EqualFold(a.Email, b.Email) }

// MayBeOne reports whether a and b may be one person: whether they have the same address or full name, ignoring case.
// So a person with two addresses that .mailmap does not join counts once.
func MayBeOne(a, b Person) bool {
	return Same(a, b) || a.Name != "" && strings.EqualFold(a.Name, b.Name)
}

// Directory holds the people known in a repository.
type Directory struct {
	// Contributors are the authors of its history, most recent first.
	Contributors []Person
	// Teams maps names to people or other teams: "core", or "@ada" for a name on a forge. A member is an address,
	// "Name <address>", or the name of a team.
	Teams map[string][]string
}

// UnknownError reports a name that fits nobody or several people.
type UnknownError struct {
	Name       string
	Candidates []Person // empty: nobody
}

func (e *UnknownError) Error() string {
	if len(e.Candidates) == 0 {
		return fmt.Sprintf("no author of a commit here is called %q: give an email address, or name a team in [teams]",
			e.Name)
	}
	who := each.Of(e.Candidates, func(p Person) string { return p.String() })
	return fmt.Sprintf("%q may be %s: give the email address", e.Name, strings.Join(who, " or "))
}

// Find returns the people that a name means: a team, an address, "Name <address>", a full name, a first name or the
// part of an address before the @. It returns an *UnknownError for nobody or several people. Unknown addresses are
// accepted.
func (d Directory) Find(name string) ([]Person, error) { return d.find(name, nil) }

// find is Find inside the teams within, which a team must not contain again.
func (d Directory) find(name string, within []string) ([]Person, error) {
	if members, ok := d.team(name); ok && !slices.Contains(within, strings.ToLower(name)) {
		var all []Person
		for _, member := range members {
			found, err := d.find(member, append(slices.Clip(within), strings.ToLower(name)))
			if err != nil {
				return nil, fmt.Errorf("team %q: %w", name, err)
			}
			all = addPeople(all, found)
		}
		return all, nil
	}
	asked := gitstore.ParseIdentity(strings.TrimPrefix(name, "@"))
	if asked.Email != "" {
		return []Person{d.known(asked)}, nil
	}
	for _, means := range []func(Person, string) bool{byFullName, byPart} {
		found := addPeople(nil, each.Where(d.Contributors, func(p Person) bool { return means(p, asked.Name) }))
		if len(found) == 1 {
			return found, nil
		}
		if len(found) > 1 {
			return nil, &UnknownError{name, found}
		}
	}
	return nil, &UnknownError{Name: name}
}

func (d Directory) team(name string) ([]string, bool) {
	for team, members := range d.Teams {
		if strings.EqualFold(team, name) {
			return members, true
		}
	}
	return nil, false
}

// known returns the contributor with the address of p, else p with a name derived from the address if it has none.
func (d Directory) known(p Person) Person {
	if c, known := each.First(d.Contributors, func(c Person) bool { return Same(c, p) }); known {
		return c
	}
	if p.Name == "" {
		p.Name, _, _ = strings.Cut(p.Email, "@")
	}
	return p
}

func byFullName(p Person, name string) bool { return strings.EqualFold(p.Name, name) }

func byPart(p Person, name string) bool {
	local, _, _ := strings.Cut(p.Email, "@")
	first, _, _ := strings.Cut(p.Name, " ")
	return strings.EqualFold(first, name) || strings.EqualFold(local, name)
}

// addPeople appends the people who are not in all yet.
func addPeople(all, more []Person) []Person {
	for _, p := range more {
		if !slices.ContainsFunc(all, func(o Person) bool { return Same(o, p) }) {
			all = append(all, p)
		}
	}
	return all
}

// CoAuthors returns the people in the Co-authored-by and Co-developed-by trailers of a commit message. A line may name
// several, and may be indented.
func CoAuthors(message string) []Person {
	var all []Person
	for line := range strings.Lines(message) {
		name, who, ok := strings.Cut(line, ":")
		if !ok || !slices.Contains(coAuthors, strings.ToLower(strings.TrimSpace(name))) {
			continue
		}
		for one := range strings.SplitSeq(strings.ReplaceAll(who, ">", ">,"), ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, gitstore.ParseIdentity(one))
			}
		}
	}
	return all
}

var coAuthors = []string{"co-authored-by", "co-developed-by"}
