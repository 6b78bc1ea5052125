package agent

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// edits are the files that an agent said to edit, as it worked: the uses of its
// tools that write files, but for those that failed. What a command that it ran did
// to files is not among them, for no agent tells that.
type edits struct {
	begun  []edit
	failed map[string]bool // ids of uses that wrote nothing
}

type edit struct{ id, path string }

// editTools are the tools of the presets that write files, in lower case.
var editTools = map[string]bool{
	"edit": true, "write": true, "multiedit": true, "notebookedit": true, // claude; the first two are opencode's and pi's, too
	"replace": true, "write_file": true, // gemini
	"patch": true, "apply_patch": true, // opencode
}

// use takes the use of any tool: its id, name and input.
func (e *edits) use(id, tool string, input json.RawMessage) {
	if !editTools[strings.ToLower(tool)] {
		return
	}
	var in struct {
		FilePath string `json:"file_path"`
		Camel    string `json:"filePath"`
		Path     string `json:"path"`
		Notebook string `json:"notebook_path"`
		Patch    string `json:"patchText"`
	}
	_ = json.Unmarshal(input, &in) // an input of another shape only tells less
	e.add(id, in.FilePath, in.Camel, in.Path, in.Notebook)
	e.add(id, patchedFiles(in.Patch)...)
}

func (e *edits) add(id string, paths ...string) {
	for _, path := range paths {
		if path != "" {
			e.begun = append(e.begun, edit{id, path})
		}
	}
}

// drop says that the use of a tool wrote nothing.
func (e *edits) drop(id string) {
	if id == "" {
		return
	}
	if e.failed == nil {
		e.failed = map[string]bool{}
	}
	e.failed[id] = true
}

// of are the paths of one use.
func (e *edits) of(id string) []string {
	var paths []string
	for _, one := range e.begun {
		if one.id == id {
			paths = append(paths, one.path)
		}
	}
	return paths
}

// edited are the paths as the agent named them, each once, in their order.
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

// patchedFiles are the paths in a patch of the form that apply_patch takes.
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

// below makes paths relative to dir, with slashes, and drops those outside of it.
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

// namesOf are dir and, where it is reached through a link, its real path.
func namesOf(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		return []string{dir, real}
	}
	return []string{dir}
}
