package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Value is a key with its effective value and the origin of that value.
type Value struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`           // null if there is none
	From    string `json:"from"`            // default, repository, user, git or environment
	File    string `json:"file,omitempty"`  // the file that sets it
	Line    int    `json:"line,omitempty"`  // the line in File
	Scope   string `json:"scope,omitempty"` // scope of git config
	Trusted *bool  `json:"trusted,omitempty"`
	means   string
	wants   string
}

// Effective returns all keys with their values, in the order of help, and the settings that only git config has, if
// set. of selects a key, a section, or a table such as agents.mine; "" selects all.
func (c *Config) Effective(ctx context.Context, getenv func(string) string, of string) ([]Value, error) {
	inGit, err := c.repo.Settings(ctx, "runr.")
	if err != nil {
		return nil, err
	}
	var all []Value
	for _, k := range keys {
		for _, name := range c.namesOf(k) {
			v := Value{Key: name, From: originDefault, means: k.means, wants: k.wants + "; " + k.setBy()}
			if value, ok := c.values[name]; ok {
				v.Value, v.From = value, c.origins[name]
			} else if k.def != "" {
				var table map[string]any
				toml.Decode("x = "+k.def, &table) // a test checks that each default parses
				v.Value = table["x"]
			}
			switch {
			case v.From == originGit:
				v.From, v.Scope = "git", "command" // git -c and GIT_CONFIG_COUNT are not in a file
				for _, s := range inGit {
					table, inTable := gitTableKey(s.Key)
					short := k.name == "sync.remote" && s.Key == "runr.remote"
					if known := gitKey(strings.TrimPrefix(s.Key, "runr.")); short || known != nil && known.name == k.name ||
						inTable != nil && "agents."+table+".model" == name {
						v.File, v.Scope = s.File, s.Scope
					}
				}
			case v.From != originDefault:
				for _, f := range c.files {
					if f.layer == v.From {
						v.File, v.Line = f.path, keyLine(f.data, strings.Split(v.Key, "."))
					}
				}
				v.From = map[bool]string{true: "user", false: "repository"}[strings.HasPrefix(v.From, originUser)]
			}
			if k.executable && v.From == "repository" {
				trusted := c.trusted()
				v.Trusted = &trusted
			}
			all = append(all, v)
		}
	}
	for _, g := range gitOnly {
		v := Value{Key: g.name, From: originDefault, means: g.means, wants: "only in git config"}
		for _, s := range inGit {
			if g.name != "runr.remote" && s.Key == strings.ToLower(g.name) {
				v.Value, v.From, v.File, v.Scope = s.Value, "git", s.File, s.Scope
			}
		}
		if name := getenv("GIT_RUNR_WRITER"); g.name == "runr.writer" && name != "" {
			v.Value, v.From, v.File, v.Scope = name, "environment", "GIT_RUNR_WRITER", ""
		}
		if v.Value != nil || strings.EqualFold(of, g.name) {
			all = append(all, v)
		}
	}
	return chosen(all, of)
}

// KeyNames returns the keys outside of tables that the user names.
func KeyNames() (names []string) {
	for _, k := range keys {
		if !k.named() {
			names = append(names, k.name)
		}
	}
	return names
}

// namesOf returns the names of a key in this configuration: its own, or one for each table that is configured.
func (c *Config) namesOf(k key) []string {
	if !k.named() {
		return []string{k.name}
	}
	before, after, _ := strings.Cut(k.name, "NAME")
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if strings.HasPrefix(name, before) && strings.HasSuffix(name, after) &&
			!strings.Contains(name[len(before):len(name)-len(after)], ".") {
			names = append(names, name)
		}
	}
	return names
}

func chosen(all []Value, of string) ([]Value, error) {
	name := strings.ToLower(of)
	if name == "runr.remote" {
		name = "sync.remote"
	}
	if k := gitKey(strings.TrimPrefix(name, "runr.")); k != nil { // as files or git spell it
		name = k.name
	}
	var found []Value
	var names []string
	for _, v := range all {
		if key := strings.ToLower(v.Key); of == "" || key == name || strings.HasPrefix(key, name+".") {
			found = append(found, v)
		}
		names = append(names, v.Key)
	}
	if len(found) > 0 {
		return found, nil
	}
	unknown := exit.Problemf(exit.NotFound, "key %q is not set", of)
	if near := cmp.Or(nearest.To(of, names), suggestKey(strings.Split(of, "."))); near != "" {
		unknown = exit.Problemf(exit.NotFound, "key %q is not set; did you mean %q?", of, near)
	}
	return nil, unknown.WithHint("git runr help config")
}

// Text returns the value in TOML syntax, or "" without one.
func (v Value) Text() string {
	if v.Value == nil {
		return ""
	}
	return tomlText(v.Value)
}

// tomlText returns a string, number, truth value or list of them in TOML syntax.
func tomlText(value any) string {
	text, _ := toml.Marshal(map[string]any{"x": value}) // such values can be encoded
	return strings.TrimSpace(strings.TrimPrefix(string(text), "x = "))
}

// Where describes the origin of the value for people.
func (v Value) Where() string {
	where := v.File
	if v.Line > 0 {
		where += ":" + strconv.Itoa(v.Line)
	}
	switch {
	case v.From == "environment":
		where = "environment " + v.File
	case v.From == "git" && v.Scope == "command":
		where = "git config, command line or environment"
	case v.From == "git":
		where = "git config " + v.Scope + ": " + where
	case v.From == originDefault:
		where = originDefault
	}
	if v.Trusted != nil && !*v.Trusted {
		where += ", not trusted: git runr trust"
	}
	return where
}

// Explain returns what the key means and which values it accepts.
func (v Value) Explain() string {
	return fmt.Sprintf("%s (%s)", v.means, v.wants)
}

// Initial returns the first .runr.toml of a repository, with these checks and worktree settings.
func Initial(checks []runplan.Check, given runplan.Worktree) string {
	var b strings.Builder
	b.WriteString(
		"# The review loop of this repository. git runr help config lists every key.\n\n[review]\nreviewer = \"builtin\"\n")
	if given.Setup != "" || len(given.Copy) > 0 {
		b.WriteString("\n[worktree]\n")
	}
	if given.Setup != "" {
		safetext.Fprintf(&b, "setup = %s\n", tomlText(given.Setup))
	}
	if len(given.Copy) > 0 {
		safetext.Fprintf(&b, "copy = %s\n", tomlText(given.Copy))
	}
	for _, c := range checks {
		name := c.Name
		if name == "" || strings.Trim(name, alphanumeric+"_-") != "" { // a key that needs quotes
			name = tomlText(name)
		}
		safetext.Fprintf(&b, "\n[checks.%s]\ncommand = %s\n", name, tomlText(c.Command))
	}
	return b.String()
}
