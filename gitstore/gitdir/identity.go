package gitdir

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// Identity is a name and an e-mail address, as in a commit.
type Identity struct{ Name, Email string }

// String returns "Name <email>".
func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// CleanIdent removes the characters that separate the parts of an identity in a header.
func CleanIdent(s string) string {
	s = strings.Map(func(c rune) rune {
		if c == '<' || c == '>' || c == '\n' || c == 0 {
			return -1
		}
		return c
	}, s)
	return strings.TrimSpace(s)
}

var identPattern = lazyre.Compile(`^(.*) <([^<>]*)> \d+ [-+]\d{4}\s*$`)

// plainIdent reports whether git takes a name or an address as it is: it strips punctuation at both ends.
func plainIdent(s string) bool {
	ends := strings.TrimFunc(s, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return s != "" && s == ends && s == CleanIdent(s) && utf8.ValidString(s)
}

// Identity returns who acts here: user.name and user.email, else git's own default for a
// committer. If git has none, a CI job is named after GIT_RUNR_WRITER, or "CI".
// Outside of CI that is ErrNoIdentity.
func (d *Dir) Identity(ctx context.Context) (Identity, error) {
	id := Identity{CleanIdent(d.Config.Get("user.name")), CleanIdent(d.Config.Get("user.email"))}
	if id.Name != "" && id.Email != "" {
		return id, nil
	}
	name, email := os.Getenv("GIT_COMMITTER_NAME"), os.Getenv("GIT_COMMITTER_EMAIL")
	if plainIdent(name) && plainIdent(email) {
		return Identity{name, email}, nil
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
		missing := "user.name and user.email are not set"
		switch {
		case id.Name != "":
			missing = "user.email is not set"
		case id.Email != "":
			missing = "user.name is not set"
		}
		return Identity{}, fmt.Errorf("%w: %s", ErrNoIdentity, missing)
	}
	return Identity{Name: match[1], Email: match[2]}, nil
}
