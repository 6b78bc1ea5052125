package hooks

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// writeManaged adds calls to the files of the managers that have hooks without one.
func (s *site) writeManaged() error {
	missing := map[string][]string{} // hooks by manager
	managers := map[string]*manager{}
	for _, hook := range names {
		p, err := s.look(hook)
		if err != nil {
			return fmt.Errorf("%s hook: %w", hook, err)
		}
		if p.State == Managed && s.wants(hook) {
			missing[p.Manager] = append(missing[p.Manager], hook)
			managers[p.Manager] = p.by
		}
	}
	for name, m := range managers {
		if m.add == nil {
			continue // what to add is told
		}
		if err := m.add(missing[name]); err != nil {
			return fmt.Errorf("add to the files of %s: %w", name, err)
		}
	}
	return nil
}

// unwriteManaged takes out what writeManaged wrote.
func (s *site) unwriteManaged() error {
	for _, hook := range names {
		p, err := s.look(hook)
		if err != nil || p.by == nil {
			continue // which is told of with the hooks
		}
		for _, path := range p.by.files {
			if p.by.name == "husky" || isYAML(path) {
				err = errors.Join(err, removeBlock(path))
			}
		}
		if err != nil {
			return fmt.Errorf("%s hook: %w", hook, err)
		}
	}
	return nil
}

func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".yaml")
}

// putText replaces a file, or makes it.
func putText(path string, f file, text string) error {
	mode := f.mode
	if !f.exists {
		mode = 0o644
	}
	return safefile.WriteExact(path, []byte(text), mode)
}

// addToHusky puts the block into each of husky's scripts.
func addToHusky(dir string, hooks []string) error {
	for _, hook := range hooks {
		path := filepath.Join(dir, hook)
		f, err := readFile(path)
		if err != nil {
			return err
		}
		if f.problem != nil {
			return fmt.Errorf("%q is left alone: %w: %w", path, f.problem, ErrByHand)
		}
		text := f.text
		if !f.exists {
			text, f.exists, f.mode = skeleton, true, 0o755
		}
		if text, err = withBlock(text, block(hook, "")); err != nil {
			return fmt.Errorf("%q: %w: %w", path, err, ErrByHand)
		}
		if err := putText(path, f, text); err != nil {
			return err
		}
	}
	return nil
}

// inMarks is text between our marker lines, which are comments in YAML as well.
func inMarks(text string) string {
	return beginMark + " \"git runr hooks uninstall\" takes this out\n" + text + endMark + "\n"
}

// openYAML reads a file of a manager's without our block, what it says, and the hooks that
// the block had.
func openYAML(path string) (f file, text string, values map[string]any, had []string, err error) {
	if f, err = readFile(path); err != nil {
		return f, "", nil, nil, err
	}
	for _, hook := range names {
		if span, _ := findBlock(f.text); span != nil && strings.Contains(f.text[span.start:span.end], "hooks run "+hook) {
			had = append(had, hook)
		}
	}
	if text, err = withoutBlock(f.text); err != nil {
		return f, "", nil, nil, fmt.Errorf("%q: %w: %w", path, err, ErrByHand)
	}
	values, err = decodeYAML(path, text)
	return f, text, values, had, err
}

// union is both lists in the order of names.
func union(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(names[:]), func(hook string) bool {
		return !slices.Contains(a, hook) && !slices.Contains(b, hook)
	})
}

// addToLefthook appends the hooks to the file that is the user's alone, where it says
// nothing of them yet.
func addToLefthook(configs []string, hooks []string) error {
	path, err := lefthookLocal(configs)
	if err != nil {
		return err
	}
	f, text, before, had, err := openYAML(path)
	if err != nil {
		return err
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	entries := ""
	for _, hook := range union(hooks, had) {
		if _, there := before[hook]; there {
			return fmt.Errorf("%q says something of %s already: %w", path, hook, ErrByHand)
		}
		entries += lefthookEntry(hook)
	}
	text += inMarks(entries)
	after, err := decodeYAML(path, text)
	if err != nil {
		return err
	}
	for _, hook := range union(hooks, had) {
		if after[hook] == nil {
			return unedited(path)
		}
		delete(after, hook)
	}
	if !sameYAML(before, after) {
		return unedited(path)
	}
	return putText(path, f, text)
}

// lefthookLocal is the user's own file beside lefthook's.
func lefthookLocal(configs []string) (string, error) {
	for _, path := range configs {
		if strings.Contains(filepath.Base(path), "lefthook-local.") {
			if !isYAML(path) {
				return "", fmt.Errorf("%q is not YAML: %w", path, ErrByHand)
			}
			return path, nil
		}
	}
	if len(configs) == 0 {
		return "", fmt.Errorf("lefthook has no configuration here: %w", ErrByHand)
	}
	stem := strings.TrimSuffix(filepath.Base(configs[0]), filepath.Ext(configs[0]))
	return filepath.Join(filepath.Dir(configs[0]), stem+"-local.yml"), nil
}

// decodeYAML reads the first mapping of a file; an empty file is an empty one.
func decodeYAML(path, text string) (map[string]any, error) {
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		return nil, fmt.Errorf("%q cannot be read: %s: %w", path, strings.ReplaceAll(err.Error(), "\n", " "), ErrByHand)
	}
	return values, nil
}

func sameYAML(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

func unedited(path string) error {
	return fmt.Errorf("%q is written in a way that is not edited here: %w", path, ErrByHand)
}

const installTypes = "default_install_hook_types"

// addToPreCommit adds a local repository with the hooks before the others, and has
// pre-commit install them. pre-push is told of one ref alone, and stays to be added by hand.
func addToPreCommit(path string, hooks []string) error {
	hooks = slices.DeleteFunc(slices.Clone(hooks), func(hook string) bool { return hook == PrePush })
	if len(hooks) == 0 {
		return nil
	}
	f, text, before, had, err := openYAML(path)
	if err != nil {
		return err
	}
	hooks = union(hooks, had)
	edited, ok := editPreCommit(text, hooks)
	if !ok {
		return unedited(path)
	}
	after, err := decodeYAML(path, edited)
	if err != nil {
		return err
	}
	repos, _ := after["repos"].([]any)
	types, _ := after[installTypes].([]any)
	installs := func(hook string) bool { return slices.Contains(types, any(hook)) }
	if len(repos) == 0 || slices.ContainsFunc(hooks, func(hook string) bool { return !installs(hook) }) {
		return unedited(path)
	}
	after["repos"] = repos[1:]
	delete(before, installTypes)
	delete(after, installTypes)
	if !sameYAML(before, after) {
		return unedited(path)
	}
	return putText(path, f, edited)
}

// editPreCommit puts the lines in; ok is false where the file has them in no form that it knows.
func editPreCommit(text string, hooks []string) (edited string, ok bool) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || doc.Content[0].Style == yaml.FlowStyle {
		return "", false
	}
	root := doc.Content[0]
	repos, types := valueOf(root, "repos"), valueOf(root, installTypes)
	if repos == nil || repos.Kind != yaml.SequenceNode || repos.Style == yaml.FlowStyle || len(repos.Content) == 0 {
		return "", false
	}
	lines := slices.Collect(strings.Lines(text))
	indent := strings.Repeat(" ", repos.Column-1)
	entry := indent + "- repo: local\n" + indent + "  hooks:\n"
	for _, hook := range hooks {
		for line := range strings.Lines(preCommitEntry(hook)) {
			entry += indent + line
		}
	}
	type edit struct {
		line int // from 1: text goes before it
		text string
	}
	edits := []edit{{repos.Line, inMarks(entry)}}
	switch {
	case types == nil:
		edits = append(edits, edit{root.Content[0].Line, installTypes + ": [" + strings.Join(append([]string{"pre-commit"}, hooks...), ", ") + "]\n"})
	case types.Kind != yaml.SequenceNode:
		return "", false
	case types.Style == yaml.FlowStyle:
		line := &lines[types.Line-1]
		at := strings.LastIndex(*line, "]")
		if at < 0 || len(types.Content) == 0 {
			return "", false
		}
		for _, hook := range missingIn(types, hooks) {
			*line = (*line)[:at] + ", " + hook + (*line)[at:]
			at += len(", " + hook)
		}
	default:
		for _, hook := range missingIn(types, hooks) {
			edits = append(edits, edit{types.Line, strings.Repeat(" ", types.Column-1) + "- " + hook + "\n"})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return b.line - a.line })
	for _, e := range edits {
		lines = slices.Insert(lines, e.line-1, e.text)
	}
	return strings.Join(lines, ""), true
}

// missingIn are those of hooks that a sequence does not name.
func missingIn(sequence *yaml.Node, hooks []string) []string {
	return slices.DeleteFunc(slices.Clone(hooks), func(hook string) bool {
		return slices.ContainsFunc(sequence.Content, func(n *yaml.Node) bool { return n.Value == hook })
	})
}

// valueOf is the value of a key of a mapping, nil without one.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
