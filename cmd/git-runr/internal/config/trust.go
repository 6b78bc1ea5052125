package config

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Reviewer returns the reviewer called name, or why it cannot run.
func (c *Config) Reviewer(name string) (role.Reviewer, *record.Failure) {
	if name == role.Builtin {
		return builtin.Reviewer{Repo: c.repo, Secrets: c.Secrets}, nil
	}
	caller, failure := c.caller(name, agent.Reviewer)
	if failure != nil {
		return nil, failure
	}
	return caller.Reviewer(), nil
}

// Implementer returns the implementer called name, or why it cannot run.
func (c *Config) Implementer(name string) (role.Implementer, *record.Failure) {
	caller, failure := c.caller(name, agent.Implementer)
	if failure != nil {
		return nil, failure
	}
	return caller.Implementer(), nil
}

// caller returns the agent called name, or why it cannot run as what. Its program must be installed. An agent that
// only the repository's file defines requires trust.
func (c *Config) caller(name string, what agent.Role) (agent.Caller, *record.Failure) {
	if name == record.Human {
		return agent.Caller{}, &record.Failure{Reason: record.ReasonHuman, Detail: "a person has to take the next step"}
	}
	spec, fromRepository, known := c.agent(name)
	switch {
	case !known:
		return agent.Caller{}, &record.Failure{Reason: record.ReasonAgentNotFound,
			Detail: fmt.Sprintf("no agent %q is configured", name)}
	case fromRepository && !c.trusted():
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted,
			Detail: fmt.Sprintf("agent %q: the repository's command for it is not trusted here; type: git runr trust",
				name)}
	case !fromRepository && c.agents[spec.Name] != nil && c.userPath != "" && c.trust.altered(c.userPath):
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted, Detail: fmt.Sprintf(
			"agent %q: your own configuration was changed while an agent worked here; type: git runr guard", name)}
	}
	_, model, _ := strings.Cut(name, "@")
	caller := agent.Caller{
		Spec: spec, Profile: c.Loop.Profile, Model: model, Cache: c.cache,
		Bounds:  role.Limits{MaxBytes: int64(c.Review.MaxBytes), MaxParts: c.Review.MaxParts},
		Setting: func(key, value string) runplan.Setting { return c.setting("agents."+spec.Name+"."+key, value) },
	}
	return caller, caller.Ready(what, os.Environ())
}

// agent returns how to run the agent called name or NAME@MODEL, as configured or by its preset. fromRepository means
// that its command requires trust. known is false for people and the built-in reviewer, which are not agents.
func (c *Config) agent(name string) (spec agent.Spec, fromRepository, known bool) {
	name, model, chosen := strings.Cut(name, "@")
	if chosen && !isModel(model) {
		return agent.Spec{Name: name}, false, false
	}
	if table, ok := c.agents[name]; ok {
		return table.Spec, table.fromRepository, true
	}
	return agent.Spec{Name: name}, false, slices.Contains(agent.Presets(), name)
}

// WithModel returns name with model, unless model is "" or name has a model already. It returns an error for people
// and the built-in reviewer.
func WithModel(name, model string) (string, error) {
	switch {
	case model == "" || strings.Contains(name, "@"):
		return name, nil
	case role.Reserved(name):
		return "", exit.Problemf(exit.Usage, "--model: %s takes no model; NAME@MODEL sets that of one agent", name)
	}
	return name + "@" + model, nil
}

// CheckModel returns an error if model cannot be the name of a model.
func CheckModel(flag, model string) error {
	if model == "" || isModel(model) {
		return nil
	}
	return exit.Problemf(exit.Usage, "%s: must be %s, not %s", flag, modelKind.wants, describe(model))
}

// KnownAgent returns an error unless name is an agent, builtin or human, or if it has a model and its agent accepts
// none. what says in the message what the name is for.
func (c *Config) KnownAgent(what, name string) error {
	spec, _, known := c.agent(name)
	if _, _, chosen := strings.Cut(name, "@"); known && chosen && !spec.TakesModel() {
		return exit.Problemf(exit.Usage, "%s: %s takes no model%s", what, spec.Name,
			map[bool]string{true: ": put {model} into its command"}[len(spec.Command) > 0])
	}
	if known || role.Reserved(name) {
		return nil
	}
	all := append(c.AgentNames(), role.Builtin, record.Human)
	unknown := exit.Problemf(exit.Usage, "%s: there is no agent %q", what, name)
	if near := nearest.To(name, all); near != "" {
		unknown = exit.Problemf(exit.Usage, "%s: there is no agent %q; did you mean %q?", what, name, near)
	}
	slices.Sort(all)
	return unknown.WithHint("agents are "+strings.Join(all, ", "), "git runr help config")
}

// Checks returns the configured checks that may run, and why others may not.
func (c *Config) Checks() (run []runplan.Check, not []string) {
	for _, check := range c.checks {
		if check.fromRepository && !c.trusted() {
			not = append(not, fmt.Sprintf("check %s: .runr.toml is not trusted; type: git runr trust", check.Name))
			continue
		}
		run = append(run, check.Check)
	}
	return run, not
}

// Worktree returns the settings for worktrees. If some are from the repository's file and that is not trusted, it
// returns none, and the reason.
func (c *Config) Worktree() (given runplan.Worktree, not []string) {
	if c.executed["worktree"] != nil && !c.trusted() {
		return given, []string{"[worktree]: .runr.toml is not trusted; type: git runr trust"}
	}
	return c.worktree, nil
}

// Notify returns the command that is notified of reviews, or nil if it requires trust and is not trusted.
func (c *Config) Notify() []string {
	if c.origin("hooks.notify") == FileName && !c.trusted() {
		return nil
	}
	return c.notify
}

// Trust returns the user's decision on the repository's commands as they are now. news lists what is new or changed
// since that decision, one line each.
func (c *Config) Trust() (state TrustState, news []string) {
	state, approved := c.trust.status(c.repo.CommonDir, c.commands())
	return state, trustDiff(approved, c.executables())
}

// Commands returns a line for each setting of the repository's file that names what it executes.
func (c *Config) Commands() (lines []string) {
	for _, line := range trustDiff(nil, c.executables()) {
		lines = append(lines, strings.TrimPrefix(line, "+ "))
	}
	return lines
}

func (c *Config) trusted() bool {
	state, _ := c.Trust()
	return state == Trusted
}

// Approve trusts the repository's commands as they are now and its standard checks, on the code that is checked out.
func (c *Config) Approve(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Standard, consent.Declined = true, false
	if head, err := c.repo.Head(ctx); err == nil {
		consent.Known = slices.DeleteFunc(consent.Known, func(id gitstore.ID) bool { return id == head })
		consent.Known = append([]gitstore.ID{head}, consent.Known[:min(len(consent.Known), maxKnown-1)]...)
	}
	return c.trust.approve(c.repo.CommonDir, c.commands(), consent, now)
}

// commands returns executables, or an empty object without any.
func (c *Config) commands() []byte {
	if commands := c.executables(); commands != nil {
		return commands
	}
	return []byte("{}")
}

// Revoke removes the approval of the repository's commands.
func (c *Config) Revoke() error { return c.trust.revoke(c.repo.CommonDir) }

func (c *Config) Executes() bool { return len(c.executed) > 0 }

// executables returns what the repository's file runs as canonical JSON, table to key to value, or nil if it runs
// nothing. This is what the user approves. Equal commands give equal bytes, however the file is formatted.
func (c *Config) executables() []byte {
	if len(c.executed) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(c.executed) // strings and lists of strings can be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// approvals stores which commands of which repository the user has approved, one file per repository outside of all
// repositories. Nothing else can grant trust: no variable, key or ref.
type approvals struct {
	Dir string // "" without a home directory: then nothing is trusted
	// Altered reports whether an agent, a check or a hook of this repository changed a file below a directory, and
	// nobody has accepted that. Then nothing is trusted.
	Altered func(dir string) bool
}

// TrustState is the user's decision on a repository's commands.
type TrustState string

const (
	Trusted   TrustState = "trusted"
	Untrusted TrustState = "untrusted" // never approved
	changed   TrustState = "changed"   // other commands were approved
)

// trustRecord is the content of such a file. It has the approved commands as text, so that a change of them can be
// shown, and a hash that binds them to the repository.
type trustRecord struct {
	V          int             `json:"v"`
	Repository string          `json:"repository"`
	Approved   json.RawMessage `json:"approved"`
	SHA256     string          `json:"sha256"`
	At         time.Time       `json:"at"`
	Consent
}

// newApprovals returns the approvals under XDG_STATE_HOME, else ~/.local/state.
func newApprovals(getenv func(string) string) approvals {
	return approvals{Dir: UnderHome(getenv, "XDG_STATE_HOME", filepath.FromSlash(".local/state"), "git-runr/trust")}
}

// status reports whether canonical, the result of Config.executables, is approved for a repository. identity is its
// common git directory, which its worktrees share and other clones do not. approved is what was last approved, or
// nil. An unreadable record counts as no approval.
func (t approvals) status(identity string, canonical []byte) (state TrustState, approved []byte) {
	record, err := t.read(identity)
	if err != nil {
		return Untrusted, nil
	}
	if record.SHA256 == trustHash(identity, canonical) {
		return Trusted, record.Approved
	}
	return changed, record.Approved
}

// altered reports whether Altered says so of a file or directory.
func (t approvals) altered(path string) bool { return t.Altered != nil && t.Altered(path) }

// approve replaces the record of a repository: canonical is approved, and consent says whose code may run.
func (t approvals) approve(identity string, canonical []byte, consent Consent, now time.Time) error {
	if t.Dir == "" {
		return exit.Problemf(exit.Untrusted, "cannot store trust: neither XDG_STATE_HOME nor HOME is an absolute path").
			WithHint("HOME=/home/you git runr trust")
	}
	if !filepath.IsAbs(identity) || !json.Valid(canonical) {
		return fmt.Errorf("approve %q: not an absolute path with canonical JSON", identity)
	}
	var record bytes.Buffer
	enc := json.NewEncoder(&record)
	enc.SetEscapeHTML(false) // the record must have the bytes that were hashed
	err := enc.Encode(trustRecord{
		V: 1, Repository: realPath(identity), Approved: canonical,
		SHA256: trustHash(identity, canonical), At: now.UTC().Truncate(time.Second),
		Consent: consent,
	})
	if err != nil {
		return fmt.Errorf("encode trust: %w", err)
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	if err := safefile.WriteDurable(t.file(identity), record.Bytes(), 0o600); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	return nil
}

// revoke deletes the record of a repository.
func (t approvals) revoke(identity string) error {
	if t.Dir == "" {
		return nil
	}
	t.forgetCleared(identity)
	if err := os.Remove(t.file(identity)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revoke trust: %w", err)
	}
	return nil
}

func (t approvals) read(identity string) (trustRecord, error) {
	var record trustRecord
	if t.Dir == "" || !filepath.IsAbs(identity) {
		return record, fs.ErrNotExist
	}
	info, err := os.Lstat(t.file(identity))
	if err != nil {
		return record, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTrustFile {
		return record, fmt.Errorf("read trust: not a record of git-runr")
	}
	data, err := os.ReadFile(t.file(identity))
	if err != nil {
		return record, err
	}
	if t.altered(t.Dir) {
		return record, fmt.Errorf("read trust: it was changed while an agent, a check or a hook worked")
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("read trust: %w", err)
	}
	if record.V != 1 || record.SHA256 != trustHash(identity, record.Approved) {
		return record, fmt.Errorf("read trust: the record is inconsistent")
	}
	return record, nil
}

// Outside returns the files outside of the repository that determine what runs: the user's configuration and the
// approvals. They are watched while an agent works.
func Outside(getenv func(string) string, commonDir string) []string {
	files := []string{userPath(getenv), newApprovals(getenv).file(commonDir)}
	return slices.DeleteFunc(files, func(path string) bool { return !filepath.IsAbs(path) })
}

// file returns the path of the record of a repository. A new approval replaces the old one.
func (t approvals) file(identity string) string {
	return filepath.Join(t.Dir, safefile.Hash([]byte(realPath(identity)))+".json")
}

// trustHash returns the hash of the commands and the repository. The NUL separates them, because a path contains
// none.
func trustHash(identity string, canonical []byte) string {
	h := sha256.New()
	h.Write([]byte(realPath(identity) + "\x00"))
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// realPath resolves symbolic links, so that two paths to one directory compare equal.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// trustDiff returns the difference between two approvals, in the order of keys: "- KEY = VALUE" for a removed value,
// "+ KEY = VALUE" for a new one. Without an old approval it lists everything.
func trustDiff(old, new []byte) []string {
	before, after := trustLines(old), trustLines(new)
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	lines := []string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, is := before[key], after[key] // JSON is never ""
		if was != is && was != "" {
			lines = append(lines, safetext.Line("- "+key+" = "+was))
		}
		if was != is && is != "" {
			lines = append(lines, safetext.Line("+ "+key+" = "+is))
		}
	}
	return lines
}

// trustLines converts canonical JSON to a map from key to value. The map is empty for invalid JSON.
func trustLines(canonical []byte) map[string]string {
	var tables map[string]map[string]json.RawMessage
	lines := map[string]string{}
	if json.Unmarshal(canonical, &tables) != nil {
		return lines
	}
	for table, keys := range tables {
		for key, value := range keys {
			lines[table+"."+key] = string(bytes.TrimSpace(value))
		}
	}
	return lines
}

// maxTrustFile is the maximum size of a record in bytes.
const maxTrustFile = 2 << 20

// UnderHome returns rest below the directory in the variable xdg, or else below other in the home directory. It
// ignores relative paths, and returns "" if it has neither.
func UnderHome(getenv func(string) string, xdg, other, rest string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, other, filepath.FromSlash(rest))
	}
	return ""
}

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

// approved returns the commands that were approved last, even if they have changed since.
func (c *Config) approved() []byte {
	if was, err := c.trust.read(c.repo.CommonDir); err == nil {
		return was.Approved
	}
	return []byte("{}")
}

// Decline records that the user refused the standard checks.
func (c *Config) Decline(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Declined = true
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
		return "this history is not trusted here; type: git runr trust", nil
	case len(found) > 0:
		c.trust.clear(c.repo.CommonDir, append(slices.Clone(tips), cleared...))
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
			c.trust.clear(c.repo.CommonDir, append([]gitstore.ID{landed.Commit}, c.trust.cleared(c.repo.CommonDir)...))
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

// codeOf returns the commits whose code the checks of a review run: the base and the change. It omits a change in
// this clone's working tree, which is the user's own. A request of another clone can name any tree, so that one
// counts.
func codeOf(ctx context.Context, store *store.Store, review record.Review) (tips []gitstore.ID, err error) {
	empty, err := store.Repo.EmptyTree(ctx)
	subject := review.Request.Subject
	if subject.Base != "" && subject.Base != empty {
		tips = append(tips, subject.Base)
	}
	if subject.Commit != "" || !store.Repo.Owns(review.Writer) {
		tips = append(tips, subject.Tree)
	}
	return tips, err
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

// clear records commits whose code may run. If that fails, the next check only takes longer.
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
