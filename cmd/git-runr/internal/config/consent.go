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
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Consent is what the user has said about running a repository's code, beside its commands: a trusted command
// such as "sh check.sh" runs whatever the commit has there.
type Consent struct {
	// Standard lets the checks run that are found in the project; Declined is a no on the terminal.
	Standard bool `json:"standard_checks,omitempty"`
	Declined bool `json:"declined,omitempty"`
	// Known are the commits that were checked out when the user trusted: they and all before them may run.
	Known []gitstore.ID `json:"known,omitempty"`
	// CodeOf are names or addresses of others whose commits may run, as commits claim them, or all.
	CodeOf []string `json:"code_of,omitempty"`
}

// all is everybody, for CodeOf.
const all = "all"

const (
	maxKnown    = 16   // commits from which on the history is known; older ones are most often among their ancestors
	maxWritings = 5000 // commits whose writers are looked at
)

func (c Consent) named(who gitstore.Identity) bool {
	return slices.ContainsFunc(c.CodeOf, func(name string) bool {
		return name != "" && (name == who.Name || strings.EqualFold(name, who.Email))
	})
}

// Consent is what the user has said, nothing where what was known then is not in this repository: another one may
// lie where the first was.
func (c *Config) Consent(ctx context.Context) Consent {
	trusted, err := c.trust.read(c.repo.CommonDir)
	if err != nil || len(trusted.Known) > 0 && len(c.here(ctx, trusted.Known)) == 0 {
		return Consent{}
	}
	return trusted.Consent
}

// here are those of some commits that this repository has.
func (c *Config) here(ctx context.Context, ids []gitstore.ID) []gitstore.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id gitstore.ID) bool {
		_, err := c.repo.ReadCommit(ctx, id)
		return err != nil
	})
}

// SetCodeOf adds names to those whose code may run, or takes them away.
func (c *Config) SetCodeOf(ctx context.Context, names []string, away bool, now time.Time) error {
	consent := c.Consent(ctx)
	consent.CodeOf = slices.DeleteFunc(slices.Clone(consent.CodeOf), func(name string) bool { return slices.Contains(names, name) })
	if away {
		c.trust.forgetCleared(c.repo.CommonDir)
	} else {
		consent.CodeOf = append(consent.CodeOf, names...)
	}
	return c.trust.approve(c.repo.CommonDir, c.approved(), consent, now)
}

// approved are the commands that were approved, be they those of now or not.
func (c *Config) approved() []byte {
	if was, err := c.trust.read(c.repo.CommonDir); err == nil {
		return was.Approved
	}
	return []byte("{}")
}

// Decline keeps that the user did not want the standard checks to run.
func (c *Config) Decline(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Declined = true
	return c.trust.approve(c.repo.CommonDir, c.approved(), consent, now)
}

// Stranger says why the code of some commits does not run here, and what to type; "" where it may: all that they have
// is known, was made here by this clone's user, or is of somebody whose code may run.
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
		for who, may := range map[gitstore.Identity]bool{
			w.Author:    w.Own || consent.named(w.Author),
			w.Committer: w.Here && (w.Author != w.Committer || w.Own) || consent.named(w.Committer),
		} {
			if !may && !slices.Contains(strangers, who) {
				strangers = append(strangers, who)
			}
		}
	}
	switch {
	case len(strangers) > 0:
		head, _ := c.repo.Head(ctx)
		here, err := c.repo.IsAncestor(ctx, tips[len(tips)-1], head)
		return c.tellStrangers(ctx, strangers, len(consent.Known) == 0 && err == nil && here), nil
	case len(found) == maxWritings:
		return "nobody has said that this history may run; type: git runr trust", nil
	case len(found) > 0:
		c.trust.clear(c.repo.CommonDir, append(slices.Clone(tips), cleared...))
	}
	return "", nil
}

// tellStrangers names who wrote what does not run. Where nobody has trusted anything and it is what is checked
// out, trust is what changes that.
func (c *Config) tellStrangers(ctx context.Context, strangers []gitstore.Identity, checkedOut bool) string {
	slices.SortFunc(strangers, func(a, b gitstore.Identity) int { return cmp.Compare(a.String(), b.String()) })
	user, _ := c.repo.Identity(ctx)
	names, args := []string{}, []string{"git", "runr", "trust"}
	for _, who := range strangers {
		name := cmp.Or(who.Name, who.Email, "nobody")
		if who == user {
			name += " (not known to be made here)"
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

// Vouch gives what a landing is told to: what a run of this clone came to runs here, where the run's work and the
// branch do. No reflog has the commits that a landing makes.
func (c *Config) Vouch(ctx context.Context, run record.Run) func(gitstore.Landed) {
	why, err := "", error(nil)
	if run.Commit != "" {
		why, err = c.Stranger(ctx, run.Commit)
	}
	return func(landed gitstore.Landed) {
		if err == nil && why == "" && landed.Old != "" {
			why, err = c.Stranger(ctx, landed.Old)
		}
		if err == nil && why == "" && run.Writer == c.repo.Writer() && landed.Commit != "" {
			c.trust.clear(c.repo.CommonDir, append([]gitstore.ID{landed.Commit}, c.trust.cleared(c.repo.CommonDir)...))
		}
	}
}

// MayRun are those of some checks that may run on the code of some commits, and why others do not.
func (c *Config) MayRun(ctx context.Context, run []runplan.Check, not []string, tips ...gitstore.ID) ([]runplan.Check, []string) {
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

// codeOf are the commits whose code runs with the checks of a review: of the change, unless it is what this clone's
// user has in the working tree, and of what it is compared with. What another clone recorded may name any.
func codeOf(ctx context.Context, store *store.Store, review record.Review) (tips []gitstore.ID, err error) {
	empty, err := store.Repo.EmptyTree(ctx)
	subject := review.Request.Subject
	if subject.Base != "" && subject.Base != empty {
		tips = append(tips, subject.Base)
	}
	if subject.Commit != "" || review.Writer != store.Repo.Writer() {
		tips = append(tips, subject.Tree)
	}
	return tips, err
}

// clearedFile keeps the commits whose code was found to run by the consent of then: reflogs forget.
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

// clear keeps what was found. Without it the next look is a longer one.
func (t approvals) clear(identity string, ids []gitstore.ID) {
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
		t.clear(identity, nil)
	}
}
