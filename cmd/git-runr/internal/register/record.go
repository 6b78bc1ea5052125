package register

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// record lists what was written in a checkout, so that its removal is exact. Without it, for example in another clone,
// our entries are still found, but not whether an empty object around them existed before.
type record struct {
	Files map[string]madeFile `json:"files"`
	Dirs  []string            `json:"dirs,omitempty"` // directories that were made
}

// madeFile is a file that contains something of ours.
type madeFile struct {
	Tools  []string `json:"tools"`         // the tools that read it
	New    bool     `json:"new,omitempty"` // it did not exist before
	Before []byte   `json:"before"`        // its content before; nil if unknown
	Sum    string   `json:"sum,omitempty"` // SHA-256 of our version; "" once somebody else has edited it
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
	if json.Unmarshal(data, r) != nil || r.Files == nil { // treat it as missing
		return &record{Files: map[string]madeFile{}}, nil
	}
	return r, nil
}

// save writes the record, readable by its owner only: settings of agents may contain secrets.
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
	return safefile.WriteExact(recordPath(gitDir), append(data, '\n'), 0o600)
}

// set records a file, or removes it from the record if it has nothing of ours.
func (r *record) set(f *change) {
	if len(f.made.Tools) == 0 {
		delete(r.Files, f.path)
		return
	}
	r.Files[f.path] = f.made
}

// noteDirs records the directories that must be made for a file.
func (r *record) noteDirs(top, path string) {
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if isThere(filepath.Join(top, dir)) {
			return
		}
		if !slices.Contains(r.Dirs, dir) {
			r.Dirs = append(r.Dirs, dir)
		}
	}
}

// undo returns the file's earlier content, if that is known and data is our version.
func (m madeFile) undo(data []byte) (before []byte, ok bool) {
	return m.Before, m.Sum != "" && m.Sum == safefile.Hash(data) && (m.New || m.Before != nil)
}

// begin prepares the record for additions to a file with content before.
func (m *madeFile) begin(before []byte, existed bool) {
	if _, ok := m.undo(before); ok {
		return
	}
	if existed && len(before) > 0 && len(m.Tools) > 0 { // somebody edited it, or it came from another clone
		m.Sum = ""
		return
	}
	*m = madeFile{New: !existed || m.New && len(before) == 0, Before: append([]byte{}, before...), Sum: "to come"}
}

// tell records that a tool reads the file.
func (m *madeFile) tell(tool string) {
	if !slices.Contains(m.Tools, tool) {
		m.Tools = append(slices.Clone(m.Tools), tool)
	}
}
