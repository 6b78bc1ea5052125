package config

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

const (
	maxFile   = 1 << 20 // bytes
	maxTables = 1000    // tables such as [checks.NAME] in one file
)

// file is a configuration file while its values are stored in Config.
type file struct {
	*Config
	path   string
	data   []byte
	begun  [][]string                // tables such as [agents.mine], in file order
	tables map[string]map[string]any // table to its keys that trust covers
	runs   map[string]any            // the same for the table being read
}

// readFile stores the values of a file in c, over those of weaker layers. data is nil if there is no file.
func (c *Config) readFile(path string, data []byte) error {
	if data == nil {
		return nil
	}
	f := file{Config: c, path: path, data: data, tables: map[string]map[string]any{}}
	c.files = append(c.files, layerFile{c.layer, path, data})
	if len(data) > maxFile {
		return exit.Problemf(exit.Usage, "%s: larger than 1 MiB", f.path)
	}
	if line := tooDeep(data); line > 0 {
		return exit.Problemf(exit.Usage, "%s:%d: keys or brackets within more than %d others", f.path, line, maxNesting)
	}
	var top map[string]any
	md, err := toml.Decode(string(data), &top)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return exit.Problemf(exit.Usage, "%s:%d: %s", f.path, parse.Position.Line, parse.Message)
	}
	if err != nil {
		return exit.Problemf(exit.Usage, "%s: %s", f.path, err)
	}
	for _, path := range md.Keys() { // in file order: the first mistake is reported, and checks keep their order
		table := top
		for _, name := range path[:len(path)-1] {
			table, _ = table[name].(map[string]any)
		}
		if err := f.entry(path, table[path[len(path)-1]]); err != nil {
			return err
		}
	}
	for _, path := range f.begun {
		f.runs = f.tables[strings.Join(path, ".")]
		if wrong := f.finish(path[0], path[1]); wrong != "" {
			return f.errorAt(path, "%q %s", strings.Join(path, "."), wrong)
		}
	}
	return nil
}

// formerKeys are keys of earlier versions. A file may still set them; they have no effect.
var formerKeys = []string{"sync.since"}

func (f *file) entry(path []string, raw any) error {
	key, within := findKey(path)
	if slices.Contains(formerKeys, strings.Join(path, ".")) {
		return nil
	}
	if key == nil && !within {
		return f.unknownKey(path)
	}
	if len(path) > 1 && slices.Contains([]string{"agents", "checks", "steps"}, path[0]) { // the user names these tables
		if err := f.beginTable(path[0], path[1]); err != nil {
			return err
		}
	}
	if key != nil {
		return f.value(path, *key, raw)
	}
	if table, ok := raw.(map[string]any); !ok {
		what := describe(raw)
		if _, ok := raw.([]map[string]any); ok {
			what = "a list of tables: write one pair of brackets"
		}
		return f.errorAt(path, "%q must be a table, not %s", strings.Join(path, "."), what)
	} else if len(table) > maxTables {
		return f.errorAt(path, "%q has more than %d entries", strings.Join(path, "."), maxTables)
	}
	return nil
}

func (f *file) value(path []string, key key, raw any) error {
	name := path[1]
	if at := slices.Index(strings.Split(key.name, "."), "NAME"); at > 1 {
		if name = path[at]; !isName(name) {
			return f.errorAt(path, "%q is not a name: letters, digits, dots, underscores and dashes, at most 100", name)
		}
	}
	if !key.take(f.Config, name, raw) {
		return f.errorAt(path, "%q must be %s, not %s", strings.Join(path, "."), key.wants, describe(raw))
	}
	f.set(strings.Join(path, "."), f.layer, raw)
	switch {
	case key.executable && !key.named():
		if f.repository && f.executed[path[0]] == nil {
			f.executed[path[0]] = map[string]any{}
		}
		if f.repository { // trust covers it
			f.executed[path[0]][strings.Join(path[1:], ".")] = raw
		}
	case key.executable || key.shapes:
		f.runs[strings.Join(path[2:], ".")] = raw
	}
	return nil
}

// beginTable starts a table such as [agents.mine] at its first key in the file. It replaces the whole table of a
// weaker layer, so that a command of one layer never runs with the arguments or environment of another.
func (f *file) beginTable(section, name string) error {
	path, id := []string{section, name}, section+"."+name
	f.runs = f.tables[id]
	if f.runs != nil {
		return nil
	}
	if wrong := wrongName(section, name); wrong != "" {
		return f.errorAt(path, "%s %q %s", strings.TrimSuffix(section, "s"), name, wrong)
	}
	if len(f.begun) >= maxTables {
		return f.errorAt([]string{section}, "%q has more than %d entries", section, maxTables)
	}
	if f.origins[id] != "" {
		maps.DeleteFunc(f.origins, func(key, _ string) bool { return strings.HasPrefix(key, id+".") })
		maps.DeleteFunc(f.values, func(key string, _ any) bool { return strings.HasPrefix(key, id+".") })
	}
	f.origins[id] = f.layer
	f.runs = map[string]any{}
	f.tables[id], f.begun = f.runs, append(f.begun, path)
	f.begin(section, name)
	return nil
}

func wrongName(section, name string) string {
	switch {
	case section == "checks" && !isCheckName(name), section != "checks" && !isName(name):
		return "is not a name: letters, digits, dots, underscores and dashes, at most 100"
	case section == "agents" && role.Reserved(name):
		return "is built in and cannot be redefined"
	case section == "steps" && slices.ContainsFunc(runplan.DefaultWorkflow(), func(s runplan.WorkStep) bool {
		return s.Name == name
	}):
		return "is built in and cannot be redefined"
	}
	return ""
}

func (f *file) begin(section, name string) {
	switch section {
	case "steps":
		f.steps[name] = &runplan.WorkStep{Name: name, Kind: runplan.StepAgent}
	case "agents":
		f.agents[name] = &agentTable{Spec: agent.Spec{Name: name}}
	case "checks":
		*f.checkTable(name) = checkTable{Check: runplan.Check{Name: name}}
	}
}

// finish returns what is wrong with a table as a whole, "" for nothing, and records what it runs.
func (f *file) finish(section, name string) string {
	switch section {
	case "steps":
		return finishStep(f.steps[name])
	case "agents":
		f.agents[name].fromRepository = f.noteRuns("agents." + name)
		spec, preset := f.agents[name].Spec, slices.Contains(agent.Presets(), name)
		switch {
		case preset && spec.Preset != "" && spec.Preset != name:
			return "has the name of another preset"
		case !preset && spec.Preset == "" && spec.Command == nil:
			return "needs a command or a preset"
		}
		return ""
	}
	check := f.checkTable(name)
	check.fromRepository = f.noteRuns("checks." + name)
	if check.Command == "" {
		return "needs a command"
	}
	return ""
}

// noteRuns records for trust what a table of the repository's file runs, and reports whether it recorded anything.
func (f *file) noteRuns(table string) bool {
	executes := slices.ContainsFunc([]string{"command", "protocol", "args", "reviewer_args", "implementer_args",
		"requires", "aside", "env"}, func(key string) bool { return f.runs[key] != nil })
	if !f.repository || !executes {
		return false
	}
	f.executed[table] = f.runs
	return true
}

func finishStep(step *runplan.WorkStep) string {
	forAgent := step.Agent != "" || step.Prompt != "" || step.Kind == runplan.StepReview
	switch {
	case len(step.Checks) == 0 && !forAgent:
		return "needs an agent, a prompt or a check"
	case len(step.Checks) > 0 && forAgent:
		return "has a check, so it cannot have agent, prompt or review"
	case len(step.Checks) > 0:
		step.Kind = runplan.StepCheck
	}
	return ""
}

// findKey returns the key with path, if any, and reports whether path is a table that contains keys.
func findKey(path []string) (key *key, within bool) {
	for i := range keys {
		pattern := strings.Split(keys[i].name, ".")
		if !fits(pattern, path) {
			continue
		}
		if len(pattern) == len(path) {
			return &keys[i], false
		}
		within = true
	}
	return nil, within
}

// fits reports whether path matches pattern or the beginning of it.
func fits(pattern, path []string) bool {
	if len(path) > len(pattern) {
		return false
	}
	for i, name := range path {
		if pattern[i] != name && pattern[i] != "NAME" {
			return false
		}
	}
	return true
}

// unknownKey returns the error for the outermost unknown part of path.
func (f *file) unknownKey(path []string) error {
	for len(path) > 1 {
		if _, within := findKey(path[:len(path)-1]); within {
			break
		}
		path = path[:len(path)-1]
	}
	key := strings.Join(path, ".")
	if near := suggestKey(path); near != "" {
		return f.errorAt(path, "unknown key %q; did you mean %q?", key, near)
	}
	return f.errorAt(path, "unknown key %q", key)
}

// suggestKey returns the key that path probably means: one of the same table, or one of that name in another.
func suggestKey(path []string) string {
	parent, last := path[:len(path)-1], path[len(path)-1]
	var siblings []string
	elsewhere := ""
	for _, k := range keys {
		pattern := strings.Split(k.name, ".")
		if len(pattern) > len(parent) && fits(pattern, parent) && pattern[len(parent)] != "NAME" {
			siblings = append(siblings, pattern[len(parent)])
		}
		if pattern[len(pattern)-1] == last && elsewhere == "" {
			elsewhere = k.name
		}
	}
	return cmp.Or(nearest.To(last, siblings), elsewhere)
}

func (f *file) errorAt(path []string, format string, args ...any) error {
	place := f.path
	if line := keyLine(f.data, path); line > 0 {
		place += ":" + strconv.Itoa(line)
	}
	return exit.Problemf(exit.Usage, "%s: "+format, append([]any{place}, args...)...)
}

// keyLine returns the line of a key or table, or 0 if it cannot be found. For a table without a line of its own it
// returns the line of its first key.
func keyLine(data []byte, path []string) int {
	var top map[string]toml.Primitive
	md, _ := toml.Decode(string(data), &top) // what cannot be read has no keys
	if line := primitiveLine(md, top, path); line > 0 {
		return line
	}
	for _, key := range md.Keys() {
		if len(key) > len(path) && slices.Equal(key[:len(path)], path) {
			return primitiveLine(md, top, key)
		}
	}
	return 0
}

// lineProbe rejects every value, so that the TOML library returns an error with the line of the key.
type lineProbe struct{}

var errProbe = errors.New("probe")

func (lineProbe) UnmarshalTOML(any) error { return errProbe }

func primitiveLine(md toml.MetaData, table map[string]toml.Primitive, path []string) int {
	for _, name := range path[:len(path)-1] {
		var inner map[string]toml.Primitive
		_ = md.PrimitiveDecode(table[name], &inner) // what is no table has nothing in it
		table = inner
	}
	value, ok := table[path[len(path)-1]]
	if !ok {
		return 0
	}
	var parse toml.ParseError
	errors.As(md.PrimitiveDecode(value, &lineProbe{}), &parse)
	return parse.Position.Line
}

// maxNesting is the maximum depth of nested keys and brackets. The TOML library takes quadratic time and memory in
// the depth, gigabytes for 20 KB.
const maxNesting = 8

// unnested matches the parts of a TOML file whose dots and brackets do not nest: strings and comments.
var unnested = lazyre.Compile(`"""(?s:\\.|[^\\])*?"""{1,3}|'''(?s:.)*?'''{1,3}|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*`)

// tooDeep returns the first line that nests deeper than maxNesting, or 0 if there is none.
func tooDeep(data []byte) int {
	line, brackets, dots := 1, 0, 0
	lines := func(text []byte) []byte { return bytes.Repeat([]byte{'\n'}, bytes.Count(text, []byte{'\n'})) }
	for _, c := range unnested().ReplaceAllFunc(data, lines) {
		switch c {
		case '\n':
			line, dots = line+1, 0
		case '.':
			dots++
		case '[', '{':
			brackets, dots = brackets+1, 0
		case ']', '}':
			brackets, dots = max(brackets-1, 0), 0
		case '=', ',':
			dots = 0
		}
		if brackets > maxNesting || dots > maxNesting {
			return line
		}
	}
	return 0
}
