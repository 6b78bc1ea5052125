package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/owners"
	"github.com/git-runr/git-runr/loop/people"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
)

// RequestFor is RequestOf with names that may also be people or teams.
func (c *Config) RequestFor(ctx context.Context, names []string, kind string) (record.ReviewRequest, error) {
	if len(names) == 0 {
		return c.RequestOf(nil, kind)
	}
	var asked []people.Person
	var agents []string
	for name := range strings.SplitSeq(strings.Join(names, ","), ",") {
		isAgent, err := c.meansAgent(ctx, name)
		if err != nil {
			return record.ReviewRequest{}, err
		}
		if isAgent {
			agents = append(agents, name)
			continue
		}
		found, err := c.FindPeople(ctx, name, "git", "runr", "review", "--reviewer")
		if err != nil {
			return record.ReviewRequest{}, err
		}
		asked = append(asked, found...)
	}
	if len(asked) > 0 && !slices.Contains(agents, record.Human) {
		agents = append(agents, record.Human)
	}
	request, err := c.RequestOf(agents, kind)
	request.People = PeopleTexts(asked)
	request.Each = len(request.People) > 1
	return request, err
}

// meansAgent reports whether a name of --reviewer is that of an agent, maybe with a model after "@". The address of a
// contributor is that person's.
func (c *Config) meansAgent(ctx context.Context, name string) (bool, error) {
	before, _, _ := strings.Cut(name, "@")
	if _, _, known := c.agent(before); name == "" || !known && !role.Reserved(before) {
		return name == "", nil
	}
	if !isAddress().MatchString(name) {
		return true, nil
	}
	directory, err := c.directory(ctx)
	return !slices.ContainsFunc(directory.Contributors, func(p people.Person) bool {
		return strings.EqualFold(p.Email, name)
	}), err
}

// RequestOn returns the request of RequestFor for a subject, completed by Invite.
func (c *Config) RequestOn(ctx context.Context, names []string, kind string,
	subject record.Subject) (record.ReviewRequest, error) {
	request, err := c.RequestFor(ctx, names, kind)
	if request.Subject = subject; err == nil {
		_, _, err = c.Invite(ctx, &request)
	}
	return request, err
}

// isAddress matches what can be the address of a person who is unknown here. NAME@MODEL cannot: its last part has no
// dot.
var isAddress = lazyre.Compile(`^[^@\s<>]+@([\pL\pN-]+\.)+\pL[\pL\pN-]+$`)

// FindPeople returns the people that a name means. The error is an exit.Problem with the candidates. ask is the command
// line that asks people, up to their names.
func (c *Config) FindPeople(ctx context.Context, name string, ask ...string) ([]people.Person, error) {
	directory, err := c.directory(ctx)
	if err != nil {
		return nil, err
	}
	found, err := directory.Find(name)
	unknown := new(people.UnknownError)
	switch {
	case errors.As(err, &unknown) && len(unknown.Candidates) == 0 && unknown.Name == name:
		return nil, c.nobody(name, ask).WithHint(unknown.Error())
	case err != nil:
		return nil, exit.Problemf(exit.Usage, "reviewer: %w", err)
	}
	written := strings.HasSuffix(name, ">") // as git writes people, which no agent is called
	for _, p := range found {
		known := slices.ContainsFunc(directory.Contributors, func(o people.Person) bool { return people.Same(o, p) })
		printable := record.CheckActor(name) == nil
		if known || printable && (isAddress().MatchString(p.Email) || written && strings.Contains(p.Email, "@")) {
			continue
		}
		problem := c.nobody(name, ask)
		if !printable {
			return nil, problem.WithHint("type the name or the address without the characters shown as escapes")
		}
		if written {
			return nil, problem
		}
		line := safetext.ShellLine(append(ask, "NAME <"+name+">")...)
		return nil, problem.WithHint(line + "   asks a person with that address")
	}
	return found, nil
}

// nobody returns the error for a name that means neither a person nor, where ask can name agents, an agent.
func (c *Config) nobody(name string, ask []string) *exit.Problem {
	problem := exit.Problemf(exit.Usage, "nobody who is known here is called %q", name)
	if slices.Contains(ask, "--reviewer") {
		errors.As(c.KnownAgent("reviewer", name), &problem)
	}
	return problem
}

// directory returns the people who are known at HEAD.
func (c *Config) directory(ctx context.Context) (people.Directory, error) {
	head, err := c.repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return people.Directory{Teams: c.Teams}, nil
	}
	if err != nil {
		return people.Directory{}, err
	}
	contributors, err := c.repo.Contributors(ctx, head)
	return people.Directory{Contributors: contributors, Teams: c.Teams}, err
}

// Invite fills in whom a request to a person asks. If it names nobody, these are the code owners of the changed files,
// by the CODEOWNERS of lineage.PushedBase. Invite also adds the approvals that this repository requires. unknown are
// the owners that match no known person, unless owners are neither asked nor have to approve. wrote are the owners
// whose required approval nobody can give, because the author of the change is the only one of them who is known.
func (c *Config) Invite(ctx context.Context, request *record.ReviewRequest) (unknown, wrote []string, err error) {
	subject := request.Subject
	if !slices.Contains(request.Reviewers(), record.Human) {
		return nil, nil, nil
	}
	base, err := lineage.PushedBase(ctx, c.repo, subject)
	if err != nil {
		return nil, nil, err
	}
	bar, _, err := c.KnownBar(ctx, c.Hooks.PrePushRequire, base)
	if err != nil {
		return nil, nil, err
	}
	if c.Hooks.PrePush != "off" && bar.Level == lineage.LevelApproved {
		request.Approvals = []record.Quota{{Need: max(1, bar.Approvals)}}
	}
	if base == "" || len(request.People) > 0 && !bar.Owners {
		return nil, nil, nil
	}
	rules, err := lineage.OwnersAt(ctx, c.repo, base)
	if err != nil || rules == nil {
		return nil, nil, err
	}
	changes, err := c.repo.Changed(ctx, subject.Base, subject.Tree, subject.Paths...)
	if err != nil {
		return nil, nil, err
	}
	groups := rules.OfAll(each.Of(changes, func(c gitstore.Change) string { return c.Path }))
	if len(groups) == 0 {
		return nil, nil, nil
	}
	directory, err := c.directory(ctx)
	if err != nil {
		return nil, nil, err
	}
	var asked []people.Person
	for _, group := range groups {
		of := ownersIn(directory, group, gitstore.ParseIdentity(subject.Author))
		asked = append(asked, of.others...)
		for _, owner := range of.unknown {
			unknown = each.Once(unknown, owner)
		}
		if !bar.Owners || group.Need == 0 {
			continue
		}
		if len(of.others) == 0 {
			wrote = append(wrote, of.authors...)
			continue
		}
		request.Approvals = append(request.Approvals,
			record.Quota{People: PeopleTexts(of.others), Need: min(group.Need, len(of.others))})
	}
	if len(request.People) == 0 { // else the owners must approve too, but only the named people are asked
		request.People = PeopleTexts(asked)
	}
	return unknown, wrote, nil
}

// groupOwners are the owners of a group of CODEOWNERS.
type groupOwners struct {
	others  []people.Person // who are known here and did not write the change
	unknown []string        // who match no known person
	authors []string        // among whom is the author of the change
}

func ownersIn(directory people.Directory, group owners.Group, author people.Person) (of groupOwners) {
	for _, owner := range group.Owners {
		found, err := directory.Find(owner)
		if err != nil {
			of.unknown = append(of.unknown, owner)
		}
		before := len(found)
		found = slices.DeleteFunc(slices.Clone(found), func(p people.Person) bool { return people.Same(p, author) })
		if len(found) < before {
			of.authors = append(of.authors, owner)
		}
		of.others = append(of.others, found...)
	}
	return of
}

// PeopleTexts returns people as "Name <address>", without duplicates.
func PeopleTexts(all []people.Person) (texts []string) {
	for _, p := range all {
		texts = each.Once(texts, fmt.Sprintf("%s <%s>", p.Name, p.Email))
	}
	return texts
}
