package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/safetext"
)

// errPresent means that there is nothing to add, errAbsent that there is nothing to remove.
var (
	errPresent = errors.New("present")
	errAbsent  = errors.New("absent")
)

// States of an item; in a plan, the states that will result.
const (
	Added   = "added"
	Present = "present" // already
	Removed = "removed"
	Absent  = "absent"  // already
	Kept    = "kept"    // another tool reads it too
	Refused = "refused" // the file is left alone
)

// Item is the result for one entry of ours.
type Item struct {
	Tools  []string `json:"tools"`
	What   string   `json:"what"` // Skill, Server or Hooks
	File   string   `json:"file"` // slash-separated, relative to the top of the checkout
	State  string   `json:"state"`
	Detail string   `json:"detail,omitempty"` // why it is refused
}

// Place is a checkout.
type Place struct {
	Top    string
	GitDir string // of this worktree; it holds the record of what is written
}

// Plan is what to write, so that it can be shown before it is written.
type Plan struct {
	Items []Item
	place Place
	made  *record
	files []*change
}

// change is a file to write or remove.
type change struct {
	path          string
	before, after []byte
	existed, gone bool
	made          madeFile // its new record
}

// Adding returns a plan that adds git-runr to the files of these tools.
func Adding(place Place, names []string, wish Wish) (*Plan, error) {
	return planned(place, parts(place.Top, names, wish), false)
}

// Removing returns a plan that removes git-runr from the files of these tools.
func Removing(place Place, names []string) (*Plan, error) {
	return planned(place, parts(place.Top, names, Wish{Hooks: true}), true)
}

func planned(place Place, all []part, removing bool) (*Plan, error) {
	made, err := readRecord(place.GitDir)
	if err != nil {
		return nil, err
	}
	p := &Plan{Items: []Item{}, place: place, made: made}
	files := map[string][]part{}
	for _, part := range all {
		files[part.path] = append(files[part.path], part)
	}
	for _, part := range all {
		if here := files[part.path]; here != nil { // the first part of its file
			p.file(part.path, here, removing)
			files[part.path] = nil
		}
	}
	return p, nil
}

// file plans the changes for all parts of one file, or for none if there is an error.
func (p *Plan) file(path string, parts []part, removing bool) {
	var states []string
	var f *change
	data, existed, err := p.content(path)
	if err == nil && len(data) > maxFile {
		err = errors.New("it is too large")
	}
	if err == nil {
		f = &change{path: path, before: data, after: data, existed: existed, made: p.made.Files[path]}
		step := f.add
		if removing {
			step = f.remove
		}
		states, err = step(parts)
	}
	_, known := p.made.Files[path]
	ours := known || f != nil && bytes.Contains(f.before, []byte("runr")) // it may contain something of ours
	if err != nil && removing && !ours {
		f, states, err = nil, slices.Repeat([]string{Absent}, len(parts)), nil
	}
	for i, part := range parts {
		item := Item{Tools: []string{part.tool}, What: part.what, File: path, State: Refused}
		if err != nil {
			item.Detail = err.Error()
		} else {
			item.State = states[i]
		}
		p.tell(item)
	}
	if err == nil && f != nil {
		p.files = append(p.files, f)
	}
}

// tell adds an item, or merges it with the item for the same thing in the same file. Of several hooks, one that changes
// decides the state.
func (p *Plan) tell(item Item) {
	at := slices.IndexFunc(p.Items, func(i Item) bool { return i.What == item.What && i.File == item.File })
	if at < 0 {
		p.Items = append(p.Items, item)
		return
	}
	told := &p.Items[at]
	told.Tools = each.Once(told.Tools, item.Tools[0])
	if item.State == Added || item.State == Removed {
		told.State = item.State
	}
}

// maxFile is the maximum size in bytes of a file that is edited.
const maxFile = 1 << 20

// content reads a file inside the repository.
func (p *Plan) content(path string) (data []byte, existed bool, err error) {
	if err := p.checkLinks(path); err != nil {
		return nil, false, err
	}
	data, err = os.ReadFile(p.abs(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, true, plainError(err)
}

func (p *Plan) abs(path string) string { return filepath.Join(p.place.Top, filepath.FromSlash(path)) }

// plainError removes the path from a file error, because the path is printed beside it.
func plainError(err error) error {
	if in := (*fs.PathError)(nil); errors.As(err, &in) {
		return in.Err
	}
	return err
}

// checkLinks returns an error if path is behind a symbolic link: the repository's author decides where it leads,
// perhaps outside.
func (p *Plan) checkLinks(path string) error {
	for path := p.abs(path); path != filepath.Clean(p.place.Top); path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return errors.New("it is behind a symbolic link")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return plainError(err)
		}
	}
	return nil
}

// add adds parts to the file and returns the state of each.
func (f *change) add(parts []part) (states []string, err error) {
	if before, ok := f.made.undo(f.after); ok && parts[0].what == Skill && !bytes.Equal(f.after, skill) {
		f.after = before // replaces the text of another version
	}
	begun := false
	for _, part := range parts {
		after, err := part.add(f.after)
		if err != nil && !errors.Is(err, errPresent) {
			return nil, err
		}
		state := Present
		if err == nil {
			if !begun {
				f.made.begin(f.before, f.existed)
			}
			f.after, state, begun = after, Added, true
		}
		f.made.tell(part.tool)
		states = append(states, state)
	}
	if begun && f.made.Sum != "" {
		f.made.Sum = safefile.Hash(f.after)
	}
	return states, nil
}

// remove removes parts from the file and returns the state of each. If the file is as we wrote it, it gets its earlier
// content back; if somebody has edited it, remove takes out only what is ours.
func (f *change) remove(parts []part) (states []string, err error) {
	for _, part := range parts {
		f.made.Tools = slices.DeleteFunc(slices.Clone(f.made.Tools), func(t string) bool { return t == part.tool })
	}
	if len(f.made.Tools) > 0 {
		return slices.Repeat([]string{Kept}, len(parts)), nil
	}
	if before, ok := f.made.undo(f.after); ok {
		f.after, f.gone = before, f.made.New
		return slices.Repeat([]string{Removed}, len(parts)), nil
	}
	for _, part := range slices.Backward(parts) {
		after, err := part.remove(f.after, f.made.Before)
		switch {
		case errors.Is(err, errAbsent):
			states = append(states, Absent)
			continue
		case err != nil:
			return nil, err
		}
		f.after = after
		states = append(states, Removed)
	}
	slices.Reverse(states)
	text := strings.TrimSpace(strings.TrimPrefix(string(f.after), byteOrderMark))
	f.gone = f.changes() && (f.made.New || f.made.Before == nil) && (text == "" || text == "{}")
	return states, nil
}

// changes reports whether the file must be written.
func (f *change) changes() bool { return f.gone || !bytes.Equal(f.before, f.after) }

// Empty reports whether there is nothing to write.
func (p *Plan) Empty() bool { return !slices.ContainsFunc(p.files, (*change).changes) }

// Left returns the files that are left alone, each with the reason.
func (p *Plan) Left() []string {
	var left []string
	for _, item := range p.Items {
		line := item.File + ": " + item.Detail
		if item.State == Refused && !slices.Contains(left, line) {
			left = append(left, line)
		}
	}
	return left
}

// Diff returns the planned changes as a patch for people.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, f := range p.files {
		from, to := "a/"+f.path, "b/"+f.path
		if !f.existed {
			from = "/dev/null"
		}
		if f.gone {
			to = "/dev/null"
		}
		text := diff.Diff(from, f.before, to, f.after)
		_, text, _ = bytes.Cut(text, []byte("\n")) // the line with both names
		safetext.Fprintf(&b, "%s", safetext.Block(text))
	}
	return b.String()
}

// Write carries out the plan. It leaves a file alone that somebody changed since it was read, or that cannot be
// written, and records that in its items.
func (p *Plan) Write() error {
	for _, f := range p.files {
		err := p.write(f)
		for i := range p.Items {
			if err != nil && p.Items[i].File == f.path {
				p.Items[i].State, p.Items[i].Detail = Refused, err.Error()
			}
		}
	}
	return p.made.save(p.place.GitDir)
}

func (p *Plan) write(f *change) error {
	now, existed, err := p.content(f.path)
	if err != nil {
		return err
	}
	if existed != f.existed || !bytes.Equal(now, f.before) {
		return errors.New("it was just changed; try again")
	}
	if f.gone {
		return p.delete(f.path)
	}
	if p.made.set(f); !f.changes() {
		return nil
	}
	p.made.noteDirs(p.place.Top, f.path)
	if err := p.made.save(p.place.GitDir); err != nil { // first, because a kill can come at any moment
		return fmt.Errorf("record what is written: %w", err)
	}
	path := p.abs(f.path)
	info, err := os.Stat(path)
	if err != nil {
		return plainError(safefile.WriteFile(path, f.after, 0o666))
	}
	return plainError(safefile.WriteExact(path, f.after, info.Mode().Perm()))
}

// delete removes a file, and the directories that were made for it if they are empty.
func (p *Plan) delete(path string) error {
	if err := os.Remove(p.abs(path)); err != nil {
		return plainError(err)
	}
	_, known := p.made.Files[path]
	delete(p.made.Files, path)
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if known && !slices.Contains(p.made.Dirs, dir) { // git removes empty directories of a file that it brought
			break
		}
		if os.Remove(p.abs(dir)) != nil {
			break
		}
		p.made.Dirs = slices.DeleteFunc(p.made.Dirs, func(d string) bool { return d == dir })
	}
	return nil
}

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
	data, _ := json.MarshalIndent(r, "", " ") // our own types can be encoded
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
		r.Dirs = each.Once(r.Dirs, dir)
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
