package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Consent is what the user has allowed to run besides the commands themselves: whose code. A trusted command such as
// "sh check.sh" runs whatever a commit has there.
type Consent struct {
	// Standard allows the checks that are detected in the project. Declined means that the user refused them at a
	// terminal.
	Standard bool `json:"standard_checks,omitempty"`
	Declined bool `json:"declined,omitempty"`
	// Known are the commits that were checked out when the user trusted the repository. They and their ancestors may
	// run.
	Known []gitstore.ID `json:"known,omitempty"`
	// CodeOf are names or addresses of other people, as commits claim them, whose commits may run; or "all".
	CodeOf []string `json:"code_of,omitempty"`
}

// all means everybody in CodeOf.
const all = "all"

const (
	maxKnown    = 16   // maximum length of Known; older ones are mostly ancestors
	maxWritings = 5000 // maximum number of commits whose authors are examined
)

func (c Consent) named(who gitstore.Identity) bool {
	return slices.ContainsFunc(c.CodeOf, func(name string) bool {
		return name != "" && (name == who.Name || strings.EqualFold(name, who.Email))
	})
}

// Consent returns the user's consent. It is empty if none of the Known commits is in this repository, because then
// another repository has taken the path of the approved one.
func (c *Config) Consent(ctx context.Context) Consent {
	trusted, err := c.trust.read(c.repo.CommonDir)
	if err != nil || len(trusted.Known) > 0 && len(c.here(ctx, trusted.Known)) == 0 {
		return Consent{}
	}
	return trusted.Consent
}

// here returns the ids of commits that this repository has.
func (c *Config) here(ctx context.Context, ids []gitstore.ID) []gitstore.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id gitstore.ID) bool {
		_, err := c.repo.ReadCommit(ctx, id)
		return err != nil
	})
}

// SetCodeOf adds names to the people whose code may run, or with away removes them.
func (c *Config) SetCodeOf(ctx context.Context, names []string, away bool, now time.Time) error {
	consent := c.Consent(ctx)
	consent.CodeOf = slices.DeleteFunc(slices.Clone(consent.CodeOf), func(name string) bool {
		return slices.Contains(names, name)
	})
	if away {
		c.trust.forgetCleared(c.repo.CommonDir)
	} else {
		consent.CodeOf = append(consent.CodeOf, names...)
	}
	return c.trust.approve(c.repo.CommonDir, c.approved(), consent, now)
}

// Stranger returns why the code of tips must not run here, and what to type, or "" if it may. It may if each of their
// commits is known, was made in this clone by its user, or is by somebody in CodeOf.
func (c *Config) Stranger(ctx context.Context, tips ...gitstore.ID) (string, error) {
	for _, tip := range tips {
		if _, err := c.repo.ReadCommit(ctx, tip); err != nil {
			return "", err
		}
	}
	consent, cleared := c.Consent(ctx), c.trust.cleared(c.repo.CommonDir)
	if len(tips) == 0 || slices.Contains(consent.CodeOf, all) {
		return "", nil
	}
	found, err := c.repo.Writings(ctx, tips, c.here(ctx, append(slices.Clone(consent.Known), cleared...)), maxWritings)
	if err != nil {
		return "", err
	}
	var strangers []gitstore.Identity
	for _, w := range found {
		if !w.Own && !consent.named(w.Author) {
			strangers = each.Once(strangers, w.Author)
		}
		if w.Committer != w.Author && !w.Here && !consent.named(w.Committer) {
			strangers = each.Once(strangers, w.Committer)
		}
	}
	switch {
	case len(strangers) > 0:
		head, _ := c.repo.Head(ctx)
		here, err := c.repo.IsAncestor(ctx, tips[len(tips)-1], head)
		return c.tellStrangers(ctx, strangers, len(consent.Known) == 0 && err == nil && here), nil
	case len(found) == maxWritings:
		return "this history is not trusted here; type: git runr trust", nil
	case len(found) > 0:
		c.trust.writeCleared(c.repo.CommonDir, append(slices.Clone(tips), cleared...))
	}
	return "", nil
}

// tellStrangers returns the message that names the authors of code that does not run. The command to type is git runr
// trust alone if the code is checked out and nothing has been trusted yet.
func (c *Config) tellStrangers(ctx context.Context, strangers []gitstore.Identity, checkedOut bool) string {
	slices.SortFunc(strangers, func(a, b gitstore.Identity) int { return cmp.Compare(a.String(), b.String()) })
	user, _ := c.repo.Identity(ctx)
	names, args := []string{}, []string{"git", "runr", "trust"}
	for _, who := range strangers {
		name := cmp.Or(who.Name, who.Email, "nobody")
		if who == user {
			name += " (not known to be from this clone)"
		}
		names, args = append(names, name), append(args, "--code-of", cmp.Or(who.Name, who.Email))
	}
	line, ok := safetext.CommandLine(args...)
	const shown = 3
	if len(names) > shown || !ok {
		line = "git runr trust --code-of " + all
	}
	if checkedOut {
		line = "git runr trust"
	}
	return fmt.Sprintf("code of %s is not trusted here; type: %s", prose.FirstNames(names, shown), line)
}

// Vouch returns a function to call after the landing of run. It records that the landed commit may run, because no
// reflog shows who made that commit. It does so only if run is of this clone, and its work and the branch may run
// here.
func (c *Config) Vouch(ctx context.Context, run record.Run) func(gitstore.Landed) {
	why, err := "", error(nil)
	if run.Commit != "" {
		why, err = c.Stranger(ctx, run.Commit)
	}
	return func(landed gitstore.Landed) {
		if err != nil || why != "" {
			return
		}
		if landed.Old != "" {
			if why, err := c.Stranger(ctx, landed.Old); err != nil || why != "" {
				return
			}
		}
		if c.repo.Owns(run.Writer) && landed.Commit != "" {
			c.trust.writeCleared(c.repo.CommonDir, append([]gitstore.ID{landed.Commit}, c.trust.cleared(c.repo.CommonDir)...))
		}
	}
}

// MayRun returns the checks that may run on the code of tips, and why others do not.
func (c *Config) MayRun(ctx context.Context, run []runplan.Check, not []string,
	tips ...gitstore.ID) ([]runplan.Check, []string) {
	if len(run) == 0 {
		return nil, not
	}
	why, err := c.Stranger(ctx, tips...)
	if err != nil {
		why = err.Error()
	}
	if why == "" {
		return run, not
	}
	for _, check := range run {
		not = append(not, check.Name+": "+why)
	}
	return nil, not
}

// checkedTips returns the commits whose code the checks of a review run: the base and the change. It omits a change in
// this clone's working tree, which is the user's own. A request of another clone can name any tree, so that one
// counts.
func checkedTips(store *store.Store, review record.Review) (tips []gitstore.ID) {
	subject := review.Request.Subject
	if subject.Base != "" && subject.Base != store.Repo.EmptyTreeID() {
		tips = append(tips, subject.Base)
	}
	if subject.Commit != "" || !store.Repo.Owns(review.Writer) {
		tips = append(tips, subject.Tree)
	}
	return tips
}

// clearedFile returns the path of the list of commits whose code Stranger has found to be allowed. Reflogs expire,
// this list does not.
func (t approvals) clearedFile(identity string) string {
	return strings.TrimSuffix(t.file(identity), ".json") + ".cleared"
}

func (t approvals) cleared(identity string) (ids []gitstore.ID) {
	data, err := safefile.ReadFile(t.clearedFile(identity))
	if t.Dir == "" || err != nil {
		return nil
	}
	for id := range strings.FieldsSeq(string(data)) {
		ids = append(ids, gitstore.ID(id))
	}
	return ids
}

// writeCleared records commits whose code may run. If that fails, the next check only takes longer.
func (t approvals) writeCleared(identity string, ids []gitstore.ID) {
	var lines strings.Builder
	for _, id := range ids[:min(len(ids), maxKnown)] {
		lines.WriteString(string(id) + "\n")
	}
	if t.Dir == "" || os.MkdirAll(t.Dir, 0o700) != nil {
		return
	}
	_ = safefile.WriteFile(t.clearedFile(identity), []byte(lines.String()), 0o600)
}

func (t approvals) forgetCleared(identity string) {
	if err := os.Remove(t.clearedFile(identity)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.writeCleared(identity, nil)
	}
}
