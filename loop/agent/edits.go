package agent

import (
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
)

// edits collects the files that an agent reported to edit: the calls of tools that write
// files, except failed ones. Files that its shell commands changed are not included,
// because no agent reports them.
type edits struct {
	tools  map[string]string // names of tools by the ids of their calls
	begun  []edit
	failed map[string]bool // ids of calls that wrote nothing
}

type edit struct{ id, path string }

// editTools are the presets' tools that write files, in lower case.
var editTools = map[string]bool{
	"edit": true, "write": true, "multiedit": true, "notebookedit": true, // claude; opencode and pi use the first two
	"replace": true, "write_file": true, // gemini
	"patch": true, "apply_patch": true, // opencode
}

// use records a call of any tool.
func (e *edits) use(id, tool string, input any) {
	if e.tools == nil {
		e.tools = map[string]string{}
	}
	if e.tools[id] = tool; !editTools[strings.ToLower(tool)] {
		return
	}
	for _, of := range []string{"file_path", "filePath", "path", "notebook_path"} {
		e.add(id, textAt(input, of))
	}
	e.add(id, patchedFiles(textAt(input, "patchText"))...)
}

func (e *edits) add(id string, paths ...string) {
	for _, path := range paths {
		if path != "" {
			e.begun = append(e.begun, edit{id, path})
		}
	}
}

// drop records that a tool call wrote nothing.
func (e *edits) drop(id string) {
	if id == "" {
		return
	}
	if e.failed == nil {
		e.failed = map[string]bool{}
	}
	e.failed[id] = true
}

// of returns the paths of one tool call.
func (e *edits) of(id string) []string {
	calls := each.Where(e.begun, func(one edit) bool { return one.id == id })
	return each.Of(calls, func(one edit) string { return one.path })
}

// edited returns the paths as the agent named them, each once, in their order.
func (e *edits) edited() []string {
	var paths []string
	seen := map[string]bool{}
	for _, one := range e.begun {
		if !e.failed[one.id] && !seen[one.path] {
			seen[one.path] = true
			paths = append(paths, one.path)
		}
	}
	return paths
}

// patchedFiles returns the paths in a patch in the format of apply_patch.
func patchedFiles(patch string) []string {
	var paths []string
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if path, ok := strings.CutPrefix(line, mark); ok {
				paths = append(paths, strings.TrimSpace(path))
			}
		}
	}
	return paths
}

// below makes paths relative to dir, with slashes, and drops those outside it.
func below(dir string, paths []string) []string {
	tops := namesOf(dir)
	var rel []string
	for _, path := range paths {
		for _, top := range tops {
			if !filepath.IsAbs(path) {
				path = filepath.Join(top, path)
			}
			if inside, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(inside) && inside != "." {
				rel = append(rel, filepath.ToSlash(inside))
				break
			}
		}
	}
	return rel
}

// namesOf returns dir, and its real path if that differs.
func namesOf(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		return []string{dir, real}
	}
	return []string{dir}
}
