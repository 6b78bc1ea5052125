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
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

const (
	maxFile   = 1 << 20 // bytes
	maxTables = 1000    // such as [checks.NAME], of one kind in one file
)

// file is one file while its values go into config.
type file struct {
	*Config
	path string
	data []byte
	rank map[string]int // place in the file of each key and table
	runs map[string]any // of the table being read: what decides what is run
}

// readFile takes the values of one file over what is there. nil is no file.
func (c *Config) readFile(path string, data []byte) error {
	if data == nil {
		return nil
	}
	f := file{Config: c, path: path, data: data}
	c.files = append(c.files, layerFile{c.layer, path, data})
	if len(data) > maxFile {
		return exit.Problemf(exit.Usage, "%s: larger than 1 MiB", f.path)
	}
	if line := tooDeep(data); line > 0 {
		return exit.Problemf(exit.Usage, "%s:%d: keys or brackets within more than %d others", f.path, line, maxNesting)
	}
	var top map[string]any
	md, err := toml.Decode(string(data), &top)
	if err != nil {
		return f.syntaxError(err)
	}
	f.rank = ranks(md.Keys())
	return f.entries(nil, top)
}

func (f *file) syntaxError(err error) error {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return exit.Problemf(exit.Usage, "%s: %s", f.path, err)
	}
	return exit.Problemf(exit.Usage, "%s:%d: %s", f.path, parse.Position.Line, parse.Message)
}

// entries takes a table in the order of the file, so that the first mistake is
// reported and checks keep their order.
func (f *file) entries(path []string, table map[string]any) error {
	inOrder := func(a, b string) int {
		return cmp.Or(cmp.Compare(f.rank[pathID(path, a)], f.rank[pathID(path, b)]), cmp.Compare(a, b))
	}
	for _, name := range slices.SortedFunc(maps.Keys(table), inOrder) {
		if err := f.entry(append(slices.Clone(path), name), table[name]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) entry(path []string, raw any) error {
	key, within := findKey(path)
	switch {
	case key != nil:
		return f.value(path, *key, raw)
	case !within:
		return f.unknownKey(path)
	}
	table, ok := raw.(map[string]any)
	if !ok {
		return f.errorAt(path, "%q must be a table, not %s", strings.Join(path, "."), describeTable(raw))
	}
	if len(path) == 2 && path[0] != "review" {
		return f.namedTable(path, table)
	}
	if len(table) > maxTables {
		return f.errorAt(path, "%q has more than %d entries", strings.Join(path, "."), maxTables)
	}
	return f.entries(path, table)
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
		f.noteKey(path, raw)
	case key.executable || key.shapes:
		f.runs[strings.Join(path[2:], ".")] = raw
	}
	return nil
}

// noteKey keeps what a key outside of any table with a name of its own runs, for trust.
func (f *file) noteKey(path []string, raw any) {
	if !f.repository {
		return
	}
	section := path[0]
	if f.executed[section] == nil {
		f.executed[section] = map[string]any{}
	}
	f.executed[section][strings.Join(path[1:], ".")] = raw
}

// namedTable takes a table such as [agents.mine]. It replaces what a weaker layer
// has under the name as a whole, so that no command of one layer is run with the
// arguments or the environment of another.
func (f *file) namedTable(path []string, table map[string]any) error {
	section, name := path[0], path[1]
	if wrong := wrongName(section, name); wrong != "" {
		return f.errorAt(path, "%s %q %s", strings.TrimSuffix(section, "s"), name, wrong)
	}
	id := section + "." + name
	if f.origins[id] != "" {
		maps.DeleteFunc(f.origins, func(key, _ string) bool { return strings.HasPrefix(key, id+".") })
		maps.DeleteFunc(f.values, func(key string, _ any) bool { return strings.HasPrefix(key, id+".") })
	}
	f.origins[id] = f.layer
	f.runs = map[string]any{}
	f.begin(section, name)
	if err := f.entries(path, table); err != nil {
		return err
	}
	if wrong := f.finish(section, name); wrong != "" {
		return f.errorAt(path, "%q %s", id, wrong)
	}
	return nil
}

func wrongName(section, name string) string {
	switch {
	case section == "checks" && !isCheckName(name), section != "checks" && !isName(name):
		return "is not a name: letters, digits, dots, underscores and dashes, at most 100"
	case section == "agents" && role.Reserved(name):
		return "is built in and cannot be redefined"
	case section == "steps" && slices.ContainsFunc(runplan.DefaultWorkflow(), func(s runplan.WorkStep) bool { return s.Name == name }):
		return "is built in and cannot be redefined"
	}
	return ""
}

func (f *file) begin(section, name string) {
	switch section {
	case "steps":
		f.steps[name] = &runplan.WorkStep{Name: name, Kind: runplan.StepAgent}
	case "agents":
		f.agents[name] = &agentTable{spec: agent.Spec{Name: name}}
	case "checks":
		*f.checkTable(name) = checkTable{Check: runplan.Check{Name: name}}
	}
}

// finish says what is wrong with a table as a whole, and notes what it runs.
func (f *file) finish(section, name string) string {
	switch section {
	case "steps":
		return finishStep(f.steps[name])
	case "agents":
		f.agents[name].fromRepository = f.noteRuns("agents." + name)
		return finishAgent(f.agents[name].spec)
	}
	check := f.checkTable(name)
	check.fromRepository = f.noteRuns("checks." + name)
	if check.Command == "" {
		return "needs a command"
	}
	return ""
}

// noteRuns keeps what a table of the repository's file runs, for trust.
func (f *file) noteRuns(table string) bool {
	executes := slices.ContainsFunc([]string{"command", "protocol", "args", "reviewer_args", "implementer_args", "requires", "aside", "env"}, func(key string) bool { return f.runs[key] != nil })
	if !f.repository || !executes {
		return false
	}
	f.executed[table] = f.runs
	return true
}

func finishAgent(spec agent.Spec) string {
	preset := slices.Contains(agent.Presets(), spec.Name)
	switch {
	case preset && spec.Preset != "" && spec.Preset != spec.Name:
		return "has the name of another preset"
	case !preset && spec.Preset == "" && spec.Command == nil:
		return "needs a command or a preset"
	}
	return ""
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

// findKey finds the key with path, and whether keys are within path.
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

// fits reports whether path is pattern or the beginning of it.
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

func (f *file) unknownKey(path []string) error {
	key := strings.Join(path, ".")
	if near := suggestKey(path); near != "" {
		return f.errorAt(path, "unknown key %q; did you mean %q?", key, near)
	}
	return f.errorAt(path, "unknown key %q", key)
}

// suggestKey is what path was probably meant to be: a key of the same table, or
// one of that name elsewhere.
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

func describeTable(raw any) string {
	if _, ok := raw.([]map[string]any); ok {
		return "a list of tables: write one pair of brackets"
	}
	return describe(raw)
}

func (f *file) errorAt(path []string, format string, args ...any) error {
	place := f.path
	if line := keyLine(f.data, path); line > 0 {
		place += ":" + strconv.Itoa(line)
	}
	return exit.Problemf(exit.Usage, "%s: "+format, append([]any{place}, args...)...)
}

// ranks numbers keys and the tables they are in by first appearance.
func ranks(keys []toml.Key) map[string]int {
	rank := map[string]int{}
	for i, key := range keys {
		for n := 1; n <= min(len(key), 4); n++ {
			if id := pathID(key[:n-1], key[n-1]); rank[id] == 0 {
				rank[id] = i + 1
			}
		}
	}
	return rank
}

func pathID(path []string, name string) string {
	return strings.Join(path, "\x00") + "\x00" + name
}

// keyLine is the line of a key or table, 0 when it is not to be found. A table
// without a line of its own is where the first key within it is.
func keyLine(data []byte, path []string) int {
	var top map[string]toml.Primitive
	md, err := toml.Decode(string(data), &top)
	if err != nil {
		return 0
	}
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

// lineProbe refuses every value: the library then tells where the value's key is.
type lineProbe struct{}

var errProbe = errors.New("probe")

func (lineProbe) UnmarshalTOML(any) error { return errProbe }

func primitiveLine(md toml.MetaData, table map[string]toml.Primitive, path []string) int {
	for _, name := range path[:len(path)-1] {
		var inner map[string]toml.Primitive
		if err := md.PrimitiveDecode(table[name], &inner); err != nil {
			return 0
		}
		table = inner
	}
	value, ok := table[path[len(path)-1]]
	if !ok {
		return 0
	}
	var parse toml.ParseError
	if !errors.As(md.PrimitiveDecode(value, &lineProbe{}), &parse) {
		return 0
	}
	return parse.Position.Line
}

// maxNesting is how deep keys and brackets may stand within others: the TOML
// library takes quadratic time and memory in the depth, gigabytes for 20 KB.
const maxNesting = 8

// tooDeep is the first line that nests deeper than maxNesting, 0 when none does.
func tooDeep(data []byte) int {
	line, brackets, dots := 1, 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"', '\'':
			end := stringEnd(data, i)
			line += bytes.Count(data[i:end], []byte("\n"))
			i = end - 1
		case '#':
			i += lineLength(data[i:]) - 1
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

// lineLength is the number of bytes before the line feed.
func lineLength(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i
	}
	return len(data)
}

// stringEnd is where the string that begins at data[start] is over. Strings of one
// quote end with their line at the latest.
func stringEnd(data []byte, start int) int {
	quote := data[start]
	long := bytes.HasPrefix(data[start:], []byte{quote, quote, quote})
	i := start + 1
	if long {
		i = start + 3
	}
	for ; i < len(data); i++ {
		switch {
		case quote == '"' && data[i] == '\\':
			i++
		case long && bytes.HasPrefix(data[i:], []byte{quote, quote, quote}):
			return afterQuotes(data, i+3, quote)
		case !long && data[i] == quote:
			return i + 1
		case !long && data[i] == '\n':
			return i
		}
	}
	return len(data)
}

// afterQuotes skips the one or two quotes that may stand before the closing three.
func afterQuotes(data []byte, i int, quote byte) int {
	for end := min(i+2, len(data)); i < end && data[i] == quote; i++ {
	}
	return i
}
