// Package runplan is the plan with which a run starts and from which it decides: its task, its workflow, its limits and
// their origin, and what it may change.
package runplan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Entity is what a run works on.
type Entity struct {
	Type       string `json:"type"` // task, subtask, plan or review
	Identifier string `json:"identifier"`
	Title      string `json:"title"`
}

// Check is a configured verification command with a name.
type Check struct {
	Name    string            `json:"name"`
	Command string            `json:"command"`             // run by sh -c at the top of the tree
	Match   []string          `json:"match,omitempty"`     // more words that name this check in a request
	Timeout duration.Duration `json:"timeout_ms,omitzero"` // 0: the default, 10 minutes
}

// Worktree configures what each worktree made by this program gets before anything runs in it: what git does not carry.
type Worktree struct {
	Setup        string            // run by sh -c at the top of the tree; "" is nothing
	Timeout      duration.Duration // of Setup; 0: as for a check
	Inputs       []string          // globs of the files that Setup depends on
	Copy, Link   []string          // patterns of files of the user's checkout
	PostCheckout bool              // run the user's post-checkout hook in a run's worktree
}

// Plan is the payload of run_started: everything that the run's decisions depend on.
type Plan struct {
	Entity       Entity          `json:"entity"`
	Task         string          `json:"task"` // the implementer's task
	DoneCriteria string          `json:"done_criteria,omitempty"`
	References   string          `json:"references,omitempty"` // copied to every prompt
	Base         gitstore.ID     `json:"base"`
	Branch       string          `json:"branch"`           // the run's own, refs/heads/runr/…
	Target       string          `json:"target,omitempty"` // the branch that was checked out
	Implementer  string          `json:"implementer,omitempty"`
	Reviewer     string          `json:"reviewer"`
	Profile      string          `json:"profile"`
	Checks       []Check         `json:"checks,omitempty"`
	NoChecks     bool            `json:"no_checks,omitempty"`    // the user asked for none
	Exclude      []string        `json:"exclude,omitempty"`      // globs left out of review
	Generated    bool            `json:"generated,omitempty"`    // review generated and vendored files as well
	Instructed   bool            `json:"instructed,omitempty"`   // reviewers get the project's instructions at the base
	Uninstructed bool            `json:"uninstructed,omitempty"` // implementers do not, and are kept from them
	Scope        Scope           `json:"scope,omitzero"`
	TaskScope    Scope           `json:"task_scope,omitzero"`   // of the task file; files must be in Scope as well
	Tier         string          `json:"tier,omitempty"`        // of verification that the task file requires
	DoneChecks   []string        `json:"done_checks,omitempty"` // commands that the task file's done criteria name
	Policy       Policy          `json:"policy"`
	Settings     []Setting       `json:"settings,omitempty"` // the limits of Policy, and their origin
	InPlace      bool            `json:"in_place,omitempty"`
	CommitHooks  bool            `json:"commit_hooks,omitempty"`   // run the user's pre-commit hook as a check
	KeepSessions bool            `json:"resume_session,omitempty"` // a fix continues its agent's session
	Checkout     string          `json:"checkout,omitempty"`       // name of the linked worktree of its start, or ""
	Context      *Context        `json:"context,omitempty"`        // an executor's finished work to start from
	FromReview   string          `json:"from_review,omitempty"`    // a submitted review whose findings the run fixes
	Findings     []reply.Finding `json:"findings,omitempty"`       // those findings
	Part         bool            `json:"part,omitempty"`           // only them: the rest of the review is left alone
	Requests     []string        `json:"requests,omitempty"`
	Said         []reply.Words   `json:"said,omitempty"`          // its reviewers' own words
	FailedChecks []string        `json:"failed_checks,omitempty"` // checks that failed in that review and must pass
	Imported     string          `json:"imported_from,omitempty"` // id of the run in another system's timeline
	ImportedBase gitstore.ID     `json:"imported_base,omitempty"` // as that timeline names it; need not be here
}

// Context is finished work with which a run starts, at its review.
type Context struct {
	ExecutorResult string      `json:"executor_result"`
	Files          []string    `json:"files_modified"`     // the executor's files that differ
	Commit         gitstore.ID `json:"commit"`             // the work, as a commit on the run's base
	Message        string      `json:"message,omitempty"`  // of Commit, if the executor made it
	Snapshot       gitstore.ID `json:"snapshot,omitempty"` // of the checkout with the work; "" if it was committed
	Before         gitstore.ID `json:"before,omitempty"`   // the same without the changes to Files; "" if Snapshot is
}

// Name returns the entity's identifier and title.
func (e Entity) Name() string {
	return strings.Trim(e.Identifier+": "+e.Title, ": ")
}

// BranchRef returns the full name of the run's own branch.
func (p Plan) BranchRef() string { return "refs/heads/" + p.Branch }

// Commits returns the messages of commits that somebody else made for the run.
func (p Plan) Commits() []reply.Words {
	if p.Context == nil || p.Context.Message == "" {
		return nil
	}
	return []reply.Words{{By: "commit " + p.Context.Commit.Short(), Text: p.Context.Message}}
}

// CheckFor returns the check with the given command or name.
func (p Plan) CheckFor(command string) (Check, bool) {
	return each.First(p.Checks, func(c Check) bool {
		return prose.OneRow(c.Command) == prose.OneRow(command) || c.Name == command
	})
}

// ScopeText describes what may be changed; "" means everything.
func (p Plan) ScopeText() string {
	var lines []string
	add := func(format string, globs []string) {
		if len(globs) > 0 {
			lines = append(lines, fmt.Sprintf(format, prose.Names(globs)))
		}
	}
	add("Only files that match one of these may be changed: %s", p.Scope.Allow)
	add("The task itself is limited to these: %s", p.TaskScope.Allow)
	add("These may not be changed: %s", slices.Concat(p.Scope.Deny, p.TaskScope.Deny))
	return strings.Join(lines, "\n")
}

// Outside returns the files that an implementer may not change: the configuration and the task must both allow a file.
func (p Plan) Outside(files []string) []string {
	configured, asked := p.Scope.allows(), p.TaskScope.allows()
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return configured(f) && asked(f) })
}

// Why returns the rule that keeps an implementer from changing file, or "".
func (p Plan) Why(file string) string {
	if why := p.Scope.Why(file); why != "" {
		return why
	}
	if why := p.TaskScope.Why(file); why != "" {
		return why + " of the task"
	}
	return ""
}

// Violations names files and the rules that they break, at most a few.
func (p Plan) Violations(files []string) string {
	const most = 5
	parts := each.Of(files[:min(len(files), most)], func(f string) string { return safetext.Line(f) + " is " + p.Why(f) })
	if more := len(files) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %s more", prose.Count(more, "file")))
	}
	return strings.Join(parts, "; ")
}

// Setting returns the plan's setting called name, or one with just this value.
func (p Plan) Setting(name, value string) *Setting {
	if s, ok := each.First(p.Settings, func(s Setting) bool { return s.Name == name }); ok {
		return &s
	}
	return &Setting{Name: name, Value: value}
}

// ScopeSetting returns the list of patterns that forbids changing the first forbidden file of files.
func (p Plan) ScopeSetting(files []string) *Setting {
	outside := p.Scope.Outside(files)
	if len(outside) == 0 {
		return nil
	}
	name, globs := SettingAllow, p.Scope.Allow
	if gitstore.CompileGlobs(p.Scope.Deny).Match(outside[0]) {
		name, globs = SettingDeny, p.Scope.Deny
	}
	return p.Setting(name, GlobList(globs))
}

// Unchanged returns the names in an executor's list that match no file of its work. dir is the executor's directory.
func (c *Context) Unchanged(listed []string, dir string) []string {
	return slices.DeleteFunc(slices.Clone(listed), func(name string) bool {
		return slices.ContainsFunc(c.Files, func(file string) bool { return Lists(name, dir, file) })
	})
}

// Covers reports whether a claim names a file, or a directory that contains it.
func Covers(claim, file string) bool {
	return claim == file || strings.HasPrefix(file, strings.TrimSuffix(claim, "/")+"/")
}

// Lists reports whether a name in the list of an executor in dir means file.
func Lists(name, dir, file string) bool {
	return Covers(path.Clean(strings.TrimPrefix(name, dir+"/")), file)
}
