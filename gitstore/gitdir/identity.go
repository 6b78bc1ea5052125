package gitdir

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// Identity is a name and an e-mail address, as in a commit.
type Identity struct{ Name, Email string }

// String returns "Name <email>".
func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

var identPattern = lazyre.Compile(`^(.*) <([^<>]*)> \d+ [-+]\d{4}\s*$`)

// Identity returns who acts here: user.name and user.email, else git's own default for a
// committer. If git has none, a CI job is named after GIT_RUNR_WRITER, or "CI".
// Outside of CI that is ErrNoIdentity.
func (d *Dir) Identity(ctx context.Context) (Identity, error) {
	id := Identity{Name: d.Config.Get("user.name"), Email: d.Config.Get("user.email")}
	if id.Name != "" && id.Email != "" {
		return id, nil
	}
	c := Call{Args: []string{"var", "GIT_COMMITTER_IDENT"}}
	for _, name := range []string{"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		if value := os.Getenv(name); value != "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	out, err := d.Call(ctx, c)
	match := identPattern().FindStringSubmatch(string(out))
	if err != nil || match == nil {
		if job := cmp.Or(os.Getenv("GIT_RUNR_WRITER"), os.Getenv("CI")); job != "" {
			return Identity{Name: cmp.Or(os.Getenv("GIT_RUNR_WRITER"), "CI"), Email: "runr@localhost"}, nil
		}
		return Identity{}, fmt.Errorf("%w: user.name and user.email are not set", ErrNoIdentity)
	}
	return Identity{Name: match[1], Email: match[2]}, nil
}
