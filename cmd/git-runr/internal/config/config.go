// Package config reads the configuration for all commands: the repository's .runr.toml, the user's file and git
// config. One table, keys, defines each key with its names, its check, its default and its help. Commands that only
// the repository's file names run only after the user has approved them.
package config

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Config is the configuration of all layers together. See keys for the meaning and the default of each field.
type Config struct {
	Secrets *builtin.Secrets // with which the built-in reviewer searches; who reads the configuration sets it
	Loop    struct {
		Implementer, Reviewer, Profile string
		Worktrees                      string // see the method Trees
		Instructions                   string // base or none
		Workflow                       []string
		MaxRetries, Parallel           int
		CommitHooks                    bool
		KeepIgnored                    int64 // bytes
		OnExhausted                    runplan.Choice
		TimeBudget, WaitForQuota       duration.Duration
		Budget                         runplan.Budget    // budget of a run
		Day                            runplan.DayBudget // budget of all runs and reviews in a day
		ResumeSession                  bool
		Threshold                      runplan.Threshold
	}
	Scope struct{ Allow, Deny []string }
	// worktree may come from the repository's file and then requires trust; see Worktree.
	worktree runplan.Worktree
	Review   struct {
		Reviewer     string // a name, or several separated by commas
		Exclude      []string
		Generated    bool
		DetectChecks bool
		MaxBytes     int
		MaxParts     int
		Quorum       int
		Judge        string
		Instructions string // none or base
		Owners       bool
	}
	Hooks struct {
		PostCommit     string // review or off
		PrePush        string // off, warn or refuse
		PrePushRequire string // one of Levels
		Scope          string // commit or branch
		Debounce       duration.Duration
		Skip           intake.Skip
		Desktop        bool
	}
	Inbox struct {
		Retention duration.Duration
		Closing   closing.Rule
	}
	Sync struct {
		Remote  string
		Private []string // globs of branches
		Notes   bool
		Verify  string            // off, warn or require
		Signers string            // a path in the base
		Checked bool              // share results of rules that found nothing
		Retire  duration.Duration // 0: never
	}

	// Teams maps the name of a team to its people and other teams.
	Teams map[string][]string

	steps   map[string]*runplan.WorkStep
	agents  map[string]*agentTable
	kinds   map[string]string // kind of review to its prompt
	checks  []checkTable      // in the order of the files
	sandbox bool              // run checks in a sandbox
	notify  []string          // may come from the repository's file; see Notify

	// Warnings are for the user, one line each: settings of git config that are unknown.
	Warnings []string

	repo     *gitstore.Repo
	trust    approvals
	userPath string // the user's configuration file; "" without a home directory
	cache    string // directory for what agents report about themselves

	// key, such as loop.reviewer, or table, such as agents.mine, to the layer that set it
	origins    map[string]string
	layer      string                    // layer that is being read
	repository bool                      // that layer is the repository's file
	values     map[string]any            // key to its value, before parsing
	files      []layerFile               // files that were read, weakest first
	executed   map[string]map[string]any // what the repository's file runs: table to key to value
}

// layerFile is a configuration file that was read.
type layerFile struct {
	layer, path string
	data        []byte
}

// agentTable is the content of one [agents.NAME].
type agentTable struct {
	agent.Spec
	Backup         []string
	fromRepository bool // its command comes from the repository's file: requires trust
}

// checkTable is the content of one [checks.NAME].
type checkTable struct {
	runplan.Check
	fromRepository bool // its command comes from the repository's file: requires trust
}

func (c *Config) checkTable(name string) *checkTable {
	i := slices.IndexFunc(c.checks, func(t checkTable) bool { return t.Name == name })
	if i < 0 {
		c.checks = append(c.checks, checkTable{})
		i = len(c.checks) - 1
		c.checks[i].Name = name
	}
	return &c.checks[i]
}

// The layers as origin returns them. The repository's file is FileName.
const (
	originDefault = "default"
	originGit     = "git config"
	originUser    = "user file "
	originFlag    = "flag"
)

// origin returns the layer that set a key, such as "loop.reviewer", or a table, such as "agents.mine": "flag", "git
// config", "user file PATH", the path of the repository's file, or "default".
func (c *Config) origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return originDefault
}

// setting returns a key with its value and its layer. It omits paths of this machine, because runs are shared.
func (c *Config) setting(key, value string) runplan.Setting {
	from := c.origin(key)
	switch {
	case from == originFlag:
		_, name, _ := strings.Cut(key, ".")
		from = "--" + strings.ReplaceAll(name, "_", "-")
	case strings.HasPrefix(from, originUser):
		from = "the user's file"
	}
	return runplan.Setting{Name: key, Value: value, From: from}
}

// FileName is the name of a repository's configuration file.
const FileName = ".runr.toml"
