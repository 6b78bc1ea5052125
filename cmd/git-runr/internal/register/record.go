package register

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// record is what was written in a checkout. It makes the removal exact: without it, in
// another clone for instance, what is ours is still found, but not whether an empty object
// around it was there before.
type record struct {
	Files map[string]madeFile `json:"files"`
	Dirs  []string            `json:"dirs,omitempty"` // that were made
}

// madeFile is what was written in a file.
type madeFile struct {
	New   bool     `json:"new,omitempty"` // it was not there
	Tools []string `json:"tools"`         // that read what is ours in it
	// Around is how many of the objects around it each part found; nil: not known.
	Around     map[string]int `json:"around,omitempty"`
	Insertions []insertion    `json:"insertions,omitempty"` // in this order
	Sum        string         `json:"sum,omitempty"`        // of the file with them, SHA-256
	Edited     bool           `json:"edited,omitempty"`     // by somebody else between two of them, which were dropped then
}

func recordPath(gitDir string) string { return filepath.Join(gitDir, "runr", "agents.json") }

func readRecord(gitDir string) (*record, error) {
	r := &record{Files: map[string]madeFile{}}
	data, err := os.ReadFile(recordPath(gitDir))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was written for agent tools: %w", err)
	}
	if json.Unmarshal(data, r) != nil || r.Files == nil { // as without it
		return &record{Files: map[string]madeFile{}}, nil
	}
	return r, nil
}

func (r *record) save(gitDir string) error {
	if len(r.Files) == 0 {
		err := os.Remove(recordPath(gitDir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return safefile.WriteFile(recordPath(gitDir), append(data, '\n'), 0o666)
}

// set records a file; one that nothing of ours is in is forgotten.
func (r *record) set(f *change) {
	if len(f.made.Tools) == 0 {
		delete(r.Files, f.path)
		return
	}
	r.Files[f.path] = f.made
}

// noteDirs records the directories that have to be made for a file.
func (r *record) noteDirs(top, path string) {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(top, dir)); err == nil {
			return
		}
		if !slices.Contains(r.Dirs, dir) {
			r.Dirs = append(r.Dirs, dir)
		}
	}
}

// is reports whether the file is as it was left.
func (m madeFile) is(data []byte) bool { return m.Sum != "" && m.Sum == safefile.Hash(data) }

func (m *madeFile) tell(tool string) {
	if !slices.Contains(m.Tools, tool) {
		m.Tools = append(slices.Clone(m.Tools), tool)
	}
}

func (m *madeFile) forget(tool string) {
	m.Tools = slices.DeleteFunc(slices.Clone(m.Tools), func(t string) bool { return t == tool })
}

// put records what is put into a file.
func (m *madeFile) put(p part, f *change, made []insertion) {
	switch {
	case m.is(f.after):
	case f.existed && len(f.after) > 0 && len(m.Tools) > 0: // somebody edited it, or it came from another clone
		*m = madeFile{New: m.New, Tools: m.Tools, Around: m.Around, Edited: true}
	default:
		*m = madeFile{New: !f.existed || m.New && len(f.after) == 0}
	}
	m.Around = maps.Clone(m.Around)
	if m.Around == nil {
		m.Around = map[string]int{}
	}
	m.Around[p.key] = p.around(f.before)
	if !m.Edited {
		m.Insertions = append(slices.Clone(m.Insertions), made...)
		m.Sum = safefile.Hash(insertAll(f.after, made))
	}
}

// undo is the file as it was before the insertions, where it is as they left it.
func (m madeFile) undo(data []byte) (before []byte, ok bool) {
	if !m.is(data) {
		return nil, false
	}
	for _, in := range slices.Backward(m.Insertions) {
		end := in.At + len(in.Text)
		if in.At < 0 || end > len(data) || string(data[in.At:end]) != in.Text {
			return nil, false
		}
		data = slices.Concat(data[:in.At], data[end:])
	}
	return data, true
}

// mayGo reports whether the file may go once it says nothing.
func (m madeFile) mayGo() bool { return m.New || m.Around == nil }
