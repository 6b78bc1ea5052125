// Package runplan is what a run is told when it starts, and decides by: its task, its workflow and limits with
// where they come from, and what it may change.
package runplan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
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
	Match   []string          `json:"match,omitempty"`     // more words by which a request means this check
	Timeout duration.Duration `json:"timeout_ms,omitzero"` // 0: the default, 10 minutes
}

// Worktree is what is put into each worktree that the tool makes before anything runs in it: what git does not carry.
type Worktree struct {
	Setup        string            // run by sh -c at the top of the tree; "" is nothing
	Timeout      duration.Duration // of Setup; 0: as of a check
	Inputs       []string          // globs of the files that Setup depends on
	Copy, Link   []string          // patterns of files of the user's checkout
	PostCheckout bool              // run the user's post-checkout hook in a run's worktree
}

// Plan is the payload of run_started: everything that the run decides by.
type Plan struct {
	Entity       Entity          `json:"entity"`
	Task         string          `json:"task"` // what the implementer is told
	DoneCriteria string          `json:"done_criteria,omitempty"`
	References   string          `json:"references,omitempty"` // passed on to every prompt as it is
	Base         gitstore.ID     `json:"base"`
	Branch       string          `json:"branch"`           // the run's own, refs/heads/runr/…
	Target       string          `json:"target,omitempty"` // the branch that was checked out
	Implementer  string          `json:"implementer,omitempty"`
	Reviewer     string          `json:"reviewer"`
	Profile      string          `json:"profile"`
	Checks       []Check         `json:"checks,omitempty"`
	NoChecks     bool            `json:"no_checks,omitempty"`    // whoever began it wanted none
	Exclude      []string        `json:"exclude,omitempty"`      // globs left out of review
	Generated    bool            `json:"generated,omitempty"`    // generated and vendored files are reviewed as well
	Instructed   bool            `json:"instructed,omitempty"`   // reviewers are told what the base's project says to them
	Uninstructed bool            `json:"uninstructed,omitempty"` // implementers are not, and are kept from it
	Scope        Scope           `json:"scope,omitzero"`
	TaskScope    Scope           `json:"task_scope,omitzero"`   // of the task file: what it allows must be in Scope as well
	Tier         string          `json:"tier,omitempty"`        // of verification that the task file asks for
	DoneChecks   []string        `json:"done_checks,omitempty"` // commands that the task file's done criteria name
	Policy       Policy          `json:"policy"`
	Settings     []Setting       `json:"settings,omitempty"` // the limits of Policy, and where they come from
	InPlace      bool            `json:"in_place,omitempty"`
	CommitHooks  bool            `json:"commit_hooks,omitempty"`   // the user's pre-commit hook is run as a check
	KeepSessions bool            `json:"resume_session,omitempty"` // a fix goes on with its agent's session
	Checkout     string          `json:"checkout,omitempty"`       // the linked worktree that the run was started from, as git calls it; "" is the main one
	Context      *Context        `json:"context,omitempty"`        // an executor's finished work to start from
	FromReview   string          `json:"from_review,omitempty"`    // a submitted review whose findings are to be fixed
	Findings     []reply.Finding `json:"findings,omitempty"`       // those findings
	Part         bool            `json:"part,omitempty"`           // they alone: what else the review asks for is left
	Requests     []string        `json:"requests,omitempty"`
	Said         []reply.Words   `json:"said,omitempty"`          // its reviewers' own words
	FailedChecks []string        `json:"failed_checks,omitempty"` // names of checks that failed in that review: they are to be mended
	Imported     string          `json:"imported_from,omitempty"` // id of the run in another system's timeline
}

// Context is the finished work that a run starts from at its review.
type Context struct {
	ExecutorResult string      `json:"executor_result"`
	Files          []string    `json:"files_modified"`     // the executor's, of those that differ
	Commit         gitstore.ID `json:"commit"`             // the work, as a commit on the run's base
	Message        string      `json:"message,omitempty"`  // of Commit, where the executor made it
	Snapshot       gitstore.ID `json:"snapshot,omitempty"` // of the checkout that it was taken from, "" when it was committed already
	Before         gitstore.ID `json:"before,omitempty"`   // the same with Files as they were before the executor; "" where Snapshot is
}

// Name is what people call the entity: its identifier and its title.
func (e Entity) Name() string {
	return strings.Trim(e.Identifier+": "+e.Title, ": ")
}

// BranchRef is the full name of the run's own branch.
func (p Plan) BranchRef() string { return "refs/heads/" + p.Branch }

// Commits are the messages of the commits that somebody else made for the run.
func (p Plan) Commits() []reply.Words {
	if p.Context == nil || p.Context.Message == "" {
		return nil
	}
	return []reply.Words{{By: "commit " + p.Context.Commit.Short(), Text: p.Context.Message}}
}

// CheckFor is the check that runs command, by its command or its name.
func (p Plan) CheckFor(command string) (Check, bool) {
	i := slices.IndexFunc(p.Checks, func(c Check) bool { return prose.OneRow(c.Command) == prose.OneRow(command) || c.Name == command })
	if i < 0 {
		return Check{}, false
	}
	return p.Checks[i], true
}

// ScopeText says what may be changed; "" when that is everything.
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

// Outside are the files that an implementer may not change: the configuration and the
// task must both allow them.
func (p Plan) Outside(files []string) []string {
	configured, asked := p.Scope.allows(), p.TaskScope.allows()
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return configured(f) && asked(f) })
}

// Why is the rule that keeps an implementer from changing file; "" when it may.
func (p Plan) Why(file string) string {
	if why := p.Scope.Why(file); why != "" {
		return why
	}
	if why := p.TaskScope.Why(file); why != "" {
		return why + " of the task"
	}
	return ""
}

// Violations names files and the rules that they break, the first few.
func (p Plan) Violations(files []string) string {
	const most = 5
	var parts []string
	for _, f := range files[:min(len(files), most)] {
		parts = append(parts, safetext.Line(f)+" is "+p.Why(f))
	}
	if more := len(files) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %s more", prose.Count(more, "file")))
	}
	return strings.Join(parts, "; ")
}

// Setting is the one called name as the plan has it, or else with the value alone.
func (p Plan) Setting(name, value string) *Setting {
	for _, s := range p.Settings {
		if s.Name == name {
			return &s
		}
	}
	return &Setting{Name: name, Value: value}
}

// ScopeSetting is the list of patterns that keeps the first of files that it does from
// being changed.
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

// Unchanged are the names in the list of an executor in dir that stand for no file of
// its work.
func (c *Context) Unchanged(listed []string, dir string) []string {
	return slices.DeleteFunc(slices.Clone(listed), func(name string) bool {
		return slices.ContainsFunc(c.Files, func(file string) bool { return Lists(name, dir, file) })
	})
}

// Covers reports whether a claim means a file: it names the file, or a directory that
// the file is in.
func Covers(claim, file string) bool {
	return claim == file || strings.HasPrefix(file, strings.TrimSuffix(claim, "/")+"/")
}

// Lists reports whether an executor in dir means a file by a name in its list.
func Lists(name, dir, file string) bool {
	return Covers(path.Clean(strings.TrimPrefix(name, dir+"/")), file)
}
