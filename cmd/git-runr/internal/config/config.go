// Package config reads what is configured: git config, the user's file and the
// repository's .runr.toml, each key in one table with its check, its help and its
// names. What the repository's file runs is run only as the user has approved it.
package config

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Config is what is configured, from all layers. See keys for what the
// fields mean and what they are by default.
type Config struct {
	Loop struct {
		Implementer, Reviewer, Profile string
		Worktrees                      string // see Trees
		Instructions                   string // base or none
		Workflow                       []string
		MaxRetries, Parallel           int
		CommitHooks                    bool
		KeepIgnored                    int64 // bytes
		OnExhausted                    runplan.Choice
		TimeBudget, WaitForQuota       duration.Duration
		Budget                         runplan.Budget    // of a run
		Day                            runplan.DayBudget // of all in a day
		ResumeSession                  bool
		Threshold                      runplan.Threshold
	}
	Scope struct{ Allow, Deny []string }
	// worktree may be the repository's word: see Worktree.
	worktree runplan.Worktree
	Review   struct {
		Reviewer     string // one, or several with commas between
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
		Checked bool              // share what rules found nothing in
		Retire  duration.Duration // 0: never
		Since   duration.Duration // 0: everything
	}

	// Teams are names, and the people or other teams that they stand for.
	Teams map[string][]string

	steps   map[string]*runplan.WorkStep
	agents  map[string]*agentTable
	kinds   map[string]string // of reviews: the prompt of each
	checks  []checkTable      // in the order of the files
	sandbox bool              // of checks
	notify  []string          // may be the repository's word: see Notify

	// Warnings are for the user, one line each: settings of git config that mean nothing.
	Warnings []string

	repo  *gitstore.Repo
	trust approvals
	cache string // directory for what agents say of themselves

	origins    map[string]string         // key, or table such as agents.mine, to the layer that set it
	layer      string                    // that is being read
	repository bool                      // it is the repository's file
	values     map[string]any            // of origins, as they were given
	files      []layerFile               // that were read, the weaker first
	executed   map[string]map[string]any // what the repository's file runs: table such as agents.mine, then key
}

// layerFile is a file that was read.
type layerFile struct {
	layer, path string
	data        []byte
}

// agentTable is one [agents.NAME].
type agentTable struct {
	spec           agent.Spec
	backup         []string
	fromRepository bool // what it runs is the repository's word: needs trust
}

func (a *agentTable) setModel(profile, model string) {
	if a.spec.Models == nil {
		a.spec.Models = map[string]string{}
	}
	a.spec.Models[profile] = model
}

// checkTable is one [checks.NAME].
type checkTable struct {
	runplan.Check
	fromRepository bool // its command is the repository's word: needs trust
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

// The layers, as origin names them.
const (
	originDefault = "default"
	originGit     = "git config"
	originUser    = "user file "
	originFlag    = "flag"
)

// origin says which layer set key, as "loop.reviewer", or the table "agents.mine":
// "flag", "git config", "user file PATH", the path of the repository's file, or
// "default".
func (c *Config) origin(key string) string {
	if from, ok := c.origins[key]; ok {
		return from
	}
	return originDefault
}

// setting is key with its value and, for people who share the run, where it comes from:
// without the paths of this machine.
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

// ExcludedBy is the repository's file when it names what reviews leave out, else "".
func (c *Config) ExcludedBy() string {
	if c.origin("review.exclude") == FileName {
		return FileName
	}
	return ""
}

// FileName is the configuration file of a repository.
const FileName = ".runr.toml"
