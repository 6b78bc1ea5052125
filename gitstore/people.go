package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// maxContributors is how many commits Contributors reads at most.
const maxContributors = 20_000

// mailmapAt returns options that make git read the .mailmap of a commit only: a change must not decide who wrote it.
func mailmapAt(at ID) []string {
	return []string{"-c", "mailmap.file=", "-c", "mailmap.blob=" + string(at) + ":.mailmap"}
}

// Contributors returns the authors of the newest commits up to a commit, mapped by the .mailmap of that commit: each
// once, the author of the newest commit first.
func (r *Repo) Contributors(ctx context.Context, at ID) ([]Identity, error) {
	args := append(mailmapAt(at), "log", fmt.Sprintf("--max-count=%d", maxContributors), "-z", "--use-mailmap",
		"--format=%aN%n%aE",
		"--no-show-signature", "--no-notes", "--no-textconv", "--end-of-options", string(at), "--")
	out, err := r.dir.Git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read who wrote %s: %w", at.Short(), err)
	}
	var people []Identity
	seen := map[Identity]bool{}
	for _, record := range splitNUL(out) {
		name, email, _ := strings.Cut(record, "\n")
		who := Identity{Name: name, Email: email}
		if !seen[who] {
			seen[who] = true
			people = append(people, who)
		}
	}
	return people, nil
}

// Mailmapped maps people by the .mailmap of a commit and keeps their order. People that the file does not name
// stay unchanged.
func (r *Repo) Mailmapped(ctx context.Context, at ID, people []Identity) ([]Identity, error) {
	if len(people) == 0 {
		return nil, ctx.Err()
	}
	clean := each.Of(people, func(who Identity) Identity {
		return Identity{Name: gitdir.CleanIdent(who.Name), Email: gitdir.CleanIdent(who.Email)}
	})
	if _, err := r.TreeOf(ctx, at); err == nil && at != "" {
		if _, err := r.File(ctx, at, ".mailmap"); errors.Is(err, ErrNotFound) {
			return clean, nil
		}
	}
	var stdin strings.Builder
	for _, who := range clean {
		fmt.Fprintf(&stdin, "%s\n", who)
	}
	out, err := r.dir.Call(ctx, gitdir.Call{Args: append(mailmapAt(at), "check-mailmap", "--stdin"),
		Stdin: strings.NewReader(stdin.String())})
	if err != nil {
		return nil, fmt.Errorf("read .mailmap of %s: %w", at.Short(), err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(people) {
		return nil, fmt.Errorf("read .mailmap of %s: git answered %d lines for %d people", at.Short(), len(lines),
			len(people))
	}
	return each.Of(lines, ParseIdentity), nil
}

// ParseIdentity parses "Name <email>". Text without brackets is an address if it contains an @, otherwise a name.
func ParseIdentity(text string) Identity {
	text = strings.TrimSpace(text)
	if at := strings.LastIndexByte(text, '<'); at >= 0 { // a name may contain what looks like an address
		email, _, _ := strings.Cut(text[at+1:], ">")
		return Identity{Name: strings.TrimSpace(text[:at]), Email: strings.TrimSpace(email)}
	}
	if strings.Contains(text, "@") {
		return Identity{Email: text}
	}
	return Identity{Name: text}
}
