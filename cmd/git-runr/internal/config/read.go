package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Read reads all layers of the configuration of repo.
func Read(ctx context.Context, repo *gitstore.Repo, getenv func(string) string) (*Config, error) {
	in := input{Git: repo.Config, RepoPath: FileName, UserPath: userPath(getenv)}
	var err error
	if in.RepoFile, _, err = repoFile(ctx, repo); err != nil {
		return nil, exit.Problemf(exit.Usage, "read %s: %w", FileName, err)
	}
	if in.UserPath != "" {
		in.UserFile, err = os.ReadFile(in.UserPath)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, exit.Problemf(exit.Usage, "read configuration: %w", err)
		}
	}
	c, err := load(in)
	if err != nil {
		return nil, err
	}
	c.serve(ctx, repo, getenv)
	return c, nil
}

// Defaults returns the configuration that repo would have without any file or setting.
func Defaults(ctx context.Context, repo *gitstore.Repo, getenv func(string) string) *Config {
	c := defaults()
	c.serve(ctx, repo, getenv)
	return c
}

// serve sets what a configuration knows of its repository and user besides the settings.
func (c *Config) serve(ctx context.Context, repo *gitstore.Repo, getenv func(string) string) {
	c.repo, c.trust, c.userPath = repo, newApprovals(getenv), userPath(getenv)
	c.trust.Altered = func(dir string) bool { return repo.AlteredBelow(ctx, dir) }
	c.cache = UnderHome(getenv, "XDG_CACHE_HOME", ".cache", "git-runr/agents")
}

// repoFile reads the repository's configuration from the user's checkout, or from HEAD in a bare repository. It never
// reads what is under review: in the working tree of a run, where an agent can write, it reads the file of the user's
// checkout.
func repoFile(ctx context.Context, repo *gitstore.Repo) (data []byte, name string, err error) {
	dir := repo.WorkTree
	if repo.IsOwnWorktree() {
		if dir = path.Dir(repo.CommonDir); path.Base(repo.CommonDir) != ".git" {
			return nil, "", nil
		}
	}
	if dir != "" {
		name = path.Join(dir, FileName)
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, "", nil
		case err == nil && !info.Mode().IsRegular(): // an agent may put a pipe there, which would block forever
			err = errors.New("not a regular file")
		case err == nil:
			data, err = os.ReadFile(name)
		}
		return data, name, err
	}
	head, err := repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	data, err = repo.Blob(ctx, head, FileName)
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil, "", nil
	}
	return data, "HEAD:" + FileName, err
}

// input is the sources of the configuration. A missing file is nil.
type input struct {
	RepoFile []byte
	RepoPath string // the name in messages
	UserFile []byte
	UserPath string
	Git      map[string][]string // git config: key to values in order; only runr.* is used
}

// load reads all layers, weakest first. An error is a usage problem of one line with the file, the line and the
// allowed values.
func load(in input) (*Config, error) {
	c := defaults()
	c.layer, c.repository = in.RepoPath, true
	if err := c.readFile(in.RepoPath, in.RepoFile); err != nil {
		return nil, err
	}
	c.layer, c.repository = originUser+in.UserPath, false
	if err := c.readFile(in.UserPath, in.UserFile); err != nil {
		return nil, err
	}
	if err := c.readGit(in.Git); err != nil {
		return nil, err
	}
	return c, c.checkBackups()
}

// defaults returns the configuration with the default of every key outside of tables that the user names.
func defaults() *Config {
	c := &Config{
		steps: map[string]*runplan.WorkStep{}, agents: map[string]*agentTable{}, kinds: map[string]string{},
		Teams:   map[string][]string{},
		origins: map[string]string{}, values: map[string]any{}, executed: map[string]map[string]any{},
	}
	var text strings.Builder
	for i, k := range keys {
		if k.def != "" && !k.named() {
			safetext.Fprintf(&text, "%d = %s\n", i, k.def)
		}
	}
	var values map[string]any
	toml.Decode(text.String(), &values) // a test checks that each default parses
	for i, k := range keys {
		if raw, ok := values[strconv.Itoa(i)]; ok {
			k.take(c, "", raw)
		}
	}
	return c
}

// SetFlag sets the value of a flag, the strongest layer. name is that of the flag and of the key in section.
func (c *Config) SetFlag(section, name, value string) error {
	k := gitKey(section + "." + name)
	raw := k.text([]string{value})
	if !k.take(c, "", raw) {
		return wrongValue("--"+name, *k, raw)
	}
	c.set(k.name, originFlag, raw)
	return nil
}

// Set sets a key in the repository's git config. It returns an error for keys and values that have no meaning there.
func (c *Config) Set(ctx context.Context, name, value string) error {
	setting, table := strings.TrimPrefix(name, "runr."), ""
	k := gitKey(setting)
	if k != nil {
		setting = gitName(k.name)
	} else if table, k = gitTableKey("runr." + setting); k != nil && (isTeam(k) || c.ownTable(table)) {
		setting = "runr." + setting
	} else if known, _ := findKey(strings.Split(setting, ".")); known != nil {
		return exit.Problemf(exit.Usage, "%s cannot be set in git config; it belongs in %s", name, FileName).
			WithHint("git runr help config")
	} else {
		return exit.Problemf(exit.Usage, "%s", unknownSetting("runr."+setting)).WithHint("git runr help config")
	}
	raw := k.text([]string{value})
	if !k.take(c, table, raw) {
		return wrongValue(name, *k, raw)
	}
	c.set(strings.Replace(k.name, "NAME", table, 1), originGit, raw)
	return c.repo.SetConfig(ctx, setting, value)
}

// set records the layer and the value of a key.
func (c *Config) set(key, layer string, raw any) { c.origins[key], c.values[key] = layer, raw }

// readGit reads the runr.* settings of git config. An unknown name is only a warning, because git ignores unknown
// names too. Case matters in subsections.
func (c *Config) readGit(settings map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		setting, ours := strings.CutPrefix(name, "runr.")
		if setting == "remote" {
			setting = "sync.remote"
		}
		elsewhere := slices.ContainsFunc(gitOnly, func(g gitSetting) bool {
			return strings.EqualFold(g.name, "runr."+setting)
		})
		if !ours || elsewhere || len(settings[name]) == 0 {
			continue
		}
		table, k := gitTableKey(name)
		if k == nil || !isTeam(k) && !c.ownTable(table) {
			table, k = "", gitKey(setting)
		}
		if sub := setting[:max(0, strings.LastIndex(setting, "."))]; k == nil || table == "" && sub != strings.ToLower(sub) {
			c.Warnings = append(c.Warnings, unknownSetting(name))
			continue
		}
		raw := k.text(settings[name])
		if !k.take(c, table, raw) {
			return wrongValue("git config "+name, *k, raw)
		}
		if table != "" && !isTeam(k) {
			c.agents[table].Models = nil // those of a file are weaker
		}
		c.set(strings.Replace(k.name, "NAME", table, 1), originGit, raw)
	}
	return nil
}

// gitTableKey returns the key and the table for a setting of git config such as runr.agents.NAME.model. Case matters
// in NAME alone.
func gitTableKey(name string) (table string, _ *key) {
	for i, k := range keys {
		section, rest, _ := strings.Cut("runr."+k.name, "NAME")
		inside := len(name) - len(section) - len(rest)
		if k.inGit && inside > 0 && name[:len(section)] == section && strings.EqualFold(name[len(section)+inside:], rest) {
			return name[len(section) : len(section)+inside], &keys[i]
		}
	}
	return "", nil
}

// isTeam reports whether a key defines a team, whose name is free.
func isTeam(k *key) bool { return k.name == "teams.NAME" }

// ownTable reports whether name is an agent, and creates the table of a preset so that its keys can be set.
func (c *Config) ownTable(name string) bool {
	spec, _, known := c.agent(name)
	if known && c.agents[name] == nil && spec.Name == name {
		c.agents[name] = &agentTable{Spec: spec}
	}
	return c.agents[name] != nil
}

// gitKey returns the key for a setting of git config, which has no underscores and ignores case.
func gitKey(setting string) *key {
	for i, k := range keys {
		if !k.named() && squash(k.name) == squash(setting) {
			return &keys[i]
		}
	}
	return nil
}

func squash(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

func unknownSetting(name string) string {
	known := each.Of(KeyNames(), gitName)
	for _, g := range gitOnly {
		known = append(known, g.name)
	}
	if near := nearest.To(name, known); near != "" {
		return fmt.Sprintf("unknown git config key %s; did you mean %s?", name, near)
	}
	return fmt.Sprintf("unknown git config key %s", name)
}

func wrongValue(where string, k key, raw any) error {
	return exit.Problemf(exit.Usage, "%s: must be %s, not %s", where, k.wants, describe(raw))
}

// userPath returns the path of the user's configuration file, or "" without a home directory.
func userPath(getenv func(string) string) string {
	return UnderHome(getenv, "XDG_CONFIG_HOME", ".config", "git-runr/config.toml")
}

// DefaultTrees returns the default directory for worktrees: in the user's cache. "" means below the git directory, if
// no home directory is known.
func DefaultTrees(getenv func(string) string) string {
	return UnderHome(getenv, "XDG_CACHE_HOME", ".cache", "git-runr/worktrees")
}

// Trees returns the directory in which worktrees are created.
func (c *Config) Trees(ctx context.Context, getenv func(string) string) (gitstore.TreePlace, error) {
	path, from := c.Loop.Worktrees, c.origin("loop.worktrees")
	if path == "" {
		return gitstore.TreePlace{Root: DefaultTrees(getenv)}, nil
	}
	place := gitstore.TreePlace{Name: "loop.worktrees (" + from + ")"}
	rest, home := strings.CutPrefix(path, "~")
	switch {
	case from == FileName && !besides(path):
		return place, exit.Problemf(exit.Usage,
			"%s: %q: a repository can name a directory below its top, or ../NAME beside it", place.Name, path).
			WithHint("git config runr.loop.worktrees PATH")
	case home && (rest == "" || rest[0] == '/'):
		if path = UnderHome(getenv, "", rest, ""); path == "" {
			return place, exit.Problemf(exit.Usage, "%s: %q: HOME is not set", place.Name, c.Loop.Worktrees)
		}
	case !filepath.IsAbs(path):
		top, err := c.repo.Top(ctx)
		if err != nil {
			return place, err
		}
		path = filepath.Join(top, path)
	}
	if place.Root = filepath.Clean(path); from == FileName {
		return place, c.staysBeside(ctx, place)
	}
	return place, nil
}

// besides reports whether path is below its base directory, or a directory beside it that is not hidden. It limits
// where a repository's file can make the program write.
func besides(path string) bool {
	name, beside := strings.CutPrefix(filepath.ToSlash(filepath.Clean(path)), "../")
	return filepath.IsLocal(name) && (!beside || !strings.Contains(name, "/") && !strings.HasPrefix(name, "."))
}

// staysBeside returns an error if symbolic links lead a directory named by a repository elsewhere.
func (c *Config) staysBeside(ctx context.Context, place gitstore.TreePlace) error {
	top, err := c.repo.Top(ctx)
	if err != nil {
		return err
	}
	want, err := filepath.Rel(top, place.Root)
	if err != nil {
		return err
	}
	for dir := place.Root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if is, _ := filepath.Rel(realPath(top), filepath.Join(real, strings.TrimPrefix(place.Root, dir))); is != want {
			return exit.Problemf(exit.Usage, "%s: %q: symbolic links lead it to %q", place.Name, c.Loop.Worktrees, real).
				WithHint("git config runr.loop.worktrees PATH")
		}
		return nil
	}
	return nil
}
