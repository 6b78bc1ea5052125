package gitstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// GapKind says why a snapshot does not have the content at a path.
type GapKind string

const (
	GapIgnored GapKind = "ignored"                     // and too large to keep
	GapNested  GapKind = "a repository of its own"     // the tree has only its commit
	GapSpecial GapKind = "a pipe, a socket, a device"  // it has no content to keep
	GapClosed  GapKind = "which cannot be read"        // by this user
	GapIndexed GapKind = "which could not be recorded" // git refused it, or it has no commit yet
)

// Gap is something in the working tree whose content a snapshot does not have.
type Gap struct {
	Path  string // a directory has a trailing slash
	Kind  GapKind
	Bytes int64
	print string // hash of the names, sizes and times of its files; "" if they were not examined
}

func (g Gap) String() string { return fmt.Sprintf("%s (%s)", g.Path, g.Kind) }

// covers reports whether a path is the gap or below it. The commit of a nested repository is not part of its gap.
func (g Gap) covers(path string) bool {
	return path == g.Path || strings.HasSuffix(g.Path, "/") && strings.HasPrefix(path, g.Path)
}

// rest is the content of a working tree outside of the tree of its snapshot: kept ignored files, and gaps.
type rest struct {
	name  string              // name of its file in keptDir; "" if nobody looked
	deep  bool                // ignored files were kept, and each gap was examined
	files map[string]keptFile // by path
	gaps  []Gap               // sorted by path
}

// has reports whether there was something at the path that is not in the tree.
func (r rest) has(path string) bool { _, kept := r.files[path]; return kept || r.inGap(path) }

func (r rest) inGap(path string) bool {
	return slices.ContainsFunc(r.gaps, func(g Gap) bool { return g.covers(path) })
}

// perms are the permissions of files and directories, which a tree does not record.
type perms struct {
	known bool
	most  [3]fs.FileMode         // the most common of files, programs and directories
	other map[string]fs.FileMode // exceptions by path; a directory has a trailing slash, and an empty one has fs.ModeDir
}

// of returns the permissions at a path with a mode in the tree: ModeFile, ModeExecutable, or "" for a directory.
func (p perms) of(path, mode string) fs.FileMode {
	if perm, ok := p.other[path]; ok {
		return perm.Perm()
	}
	return p.most[permClass(mode)]
}

func permClass(mode string) int { return slices.Index([]string{ModeFile, ModeExecutable, ""}, mode) }

// lookRound walks through a working tree to collect permissions and the rest of its snapshot.
type lookRound struct {
	w        *Worktree
	recorded map[string]bool // paths in the tree, and their directories with a trailing slash
	changed  map[string]bool // paths whose permissions may differ from those of since; nil if any may
	since    *Snapshot       // the snapshot to compare with, or nil
	deep     bool            // examine what is not recorded
	perms    [3]map[string]fs.FileMode
	empty    map[string]bool
	groups   map[string]*restGroup
}

// restGroup is a set of unrecorded files: all below the topmost directory that has no recorded file.
type restGroup struct {
	Gap
	files []string
	sum   []byte
}

// lookAround returns the permissions of what was recorded, and everything else in the working tree. found are the
// paths that git saw changed. keep is how many bytes of ignored files to keep in all; if it is negative, lookAround
// does not examine them.
func (w *Worktree) lookAround(ctx context.Context, recorded, found, gaps []string, since *Snapshot,
	keep int64) (perms, rest, error) {
	l := &lookRound{w: w, recorded: map[string]bool{}, since: since, deep: keep >= 0, empty: map[string]bool{},
		groups: map[string]*restGroup{}}
	for i := range l.perms {
		l.perms[i] = map[string]fs.FileMode{}
	}
	if since != nil && since.settled {
		l.changed = each.Set(found)
	}
	for _, name := range recorded {
		l.recorded[name] = true
		for dir := path.Dir(name); dir != "." && !l.recorded[dir+"/"]; dir = path.Dir(dir) {
			l.recorded[dir+"/"] = true
		}
	}
	if err := l.dir(ctx, "", ""); err != nil {
		return perms{}, rest{}, err
	}
	for _, name := range gaps {
		l.group(name, GapIndexed)
	}
	kept, err := l.keep(keep)
	return l.most(), kept, err
}

// dir examines a directory, whose name ends with a slash unless it is the top. group is the group that an unrecorded
// parent directory started, or "".
func (l *lookRound) dir(ctx context.Context, dir, group string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(l.w.Dir, dir))
	if err != nil {
		l.group(cmp.Or(group, dir), GapClosed)
		return nil
	}
	if len(entries) == 0 && group == "" {
		l.empty[dir] = true
	}
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case e.Name() == ".git" || l.w.isPlaced(name):
		case e.IsDir():
			err = l.subdir(ctx, name+"/", e, group)
		case l.recorded[name] && l.changed != nil && !l.changed[name]: // a chmod would show as a change
		case l.recorded[name]:
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				l.perms[permClass(fileMode(info.Mode()))][name] = info.Mode().Perm()
			}
		default:
			l.file(name, e, group)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lookRound) subdir(ctx context.Context, name string, e fs.DirEntry, group string) error {
	if info, err := e.Info(); err == nil && group == "" {
		l.perms[permClass("")][name] = info.Mode().Perm()
	}
	switch _, err := os.Lstat(filepath.Join(l.w.Dir, name, ".git")); {
	case err == nil:
		group = name
		l.group(name, GapNested)
	case group == "" && !l.recorded[name] && l.holdsFiles(name):
		group = l.top(name)
		l.group(group, GapIgnored)
	}
	if group != "" && !l.deep {
		return nil
	}
	return l.dir(ctx, name, group)
}

// holdsFiles reports whether there is anything other than directories below a directory.
func (l *lookRound) holdsFiles(name string) bool {
	entries, err := os.ReadDir(filepath.Join(l.w.Dir, name))
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() || l.holdsFiles(name+e.Name()+"/")
	})
}

// top returns the gap of the earlier snapshot that covers a path, or the path itself.
func (l *lookRound) top(name string) string {
	if l.since != nil {
		if i := slices.IndexFunc(l.since.rest.gaps, func(g Gap) bool { return g.covers(name) }); i >= 0 {
			return l.since.rest.gaps[i].Path
		}
	}
	return name
}

// file adds an unrecorded file to its group.
func (l *lookRound) file(name string, e fs.DirEntry, group string) {
	info, err := e.Info()
	if err != nil {
		return // it was removed meanwhile
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		l.group(name, GapSpecial)
		return
	}
	g := l.group(cmp.Or(group, l.top(name)), GapIgnored)
	g.Bytes += info.Size()
	if l.deep {
		sum := sha256.New()
		fmt.Fprintf(sum, "%x %s\x00%v %d %d %d", g.sum, name, info.Mode(), info.Size(), info.ModTime().UnixNano(),
			inodeChanged(filepath.Join(l.w.Dir, name)))
		g.sum = sum.Sum(nil)
	}
	g.files = append(g.files, name)
}

func (l *lookRound) group(name string, kind GapKind) *restGroup {
	g := l.groups[name]
	if g == nil {
		g = &restGroup{Gap: Gap{Path: name, Kind: kind}}
		l.groups[name] = g
	}
	if kind == GapClosed {
		g.Kind = kind
	}
	return g
}

// most returns the permissions. The most common ones are those of the earlier snapshot, if there is one.
func (l *lookRound) most() perms {
	p := perms{known: true, other: map[string]fs.FileMode{}}
	for class, all := range l.perms {
		counts := map[fs.FileMode]int{}
		for _, perm := range all {
			if counts[perm]++; counts[perm] > counts[p.most[class]] ||
				counts[perm] == counts[p.most[class]] && perm < p.most[class] {
				p.most[class] = perm
			}
		}
	}
	if l.since != nil && l.since.perms.known {
		p.most = l.since.perms.most
	}
	for class, all := range l.perms {
		for name, perm := range all {
			if l.empty[name] {
				p.other[name] = perm | fs.ModeDir
			} else if perm != p.most[class] {
				p.other[name] = perm
			}
		}
	}
	return p
}

// keep keeps ignored files up to limit bytes in all: first the groups that were kept before, then the smallest. What
// is not kept becomes a gap.
func (l *lookRound) keep(limit int64) (rest, error) {
	last, _ := safefile.ReadFile(l.w.restFile()) // if it is missing, every file is read again
	known, err := l.w.repo.readRest(strings.TrimSpace(string(last)))
	if l.since != nil {
		known = l.since.rest
	} else if err != nil {
		known = rest{} // it only saves reading the files again
	}
	wasKept := func(g *restGroup) int {
		if slices.ContainsFunc(g.files, func(name string) bool { _, ok := known.files[name]; return ok }) {
			return 0
		}
		return 1
	}
	groups := slices.SortedFunc(maps.Values(l.groups), func(a, b *restGroup) int {
		return cmp.Or(wasKept(a)-wasKept(b), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Path, b.Path))
	})
	found := rest{files: map[string]keptFile{}, deep: l.deep}
	for _, g := range groups {
		if g.Kind == GapIgnored && l.deep && l.keepGroup(g, known.files, found.files, g.Bytes <= limit) {
			limit -= g.Bytes
			continue
		}
		g.print = hex.EncodeToString(g.sum)
		found.gaps = append(found.gaps, g.Gap)
	}
	slices.SortFunc(found.gaps, func(a, b Gap) int { return strings.Compare(a.Path, b.Path) })
	if found.name, err = l.w.repo.writeRest(found); err == nil && l.deep {
		err = safefile.WriteFile(l.w.restFile(), []byte(found.name+"\n"), 0o666)
	}
	return found, err
}

// keepGroup keeps the files of a group. Without all it keeps only files that are known and unchanged.
func (l *lookRound) keepGroup(g *restGroup, known, kept map[string]keptFile, all bool) bool {
	files, err := l.w.openFiles()
	if err != nil {
		return false
	}
	defer files.Close()
	for _, name := range g.files {
		file, ok := files.asKnown(name, known[name])
		if !ok && all {
			file, err = files.keep(name)
		}
		switch {
		case errors.Is(err, fs.ErrPermission):
			g.Kind = GapClosed
			return false
		case err != nil:
			return false
		case ok || all:
			kept[name] = file
		}
	}
	return all
}

// Touched returns the gaps of s that changed or disappeared in after: their content may be lost.
func (s Snapshot) Touched(after Snapshot) (touched []Gap) {
	for _, g := range s.rest.gaps {
		i := slices.IndexFunc(after.rest.gaps, func(now Gap) bool { return now.Path == g.Path })
		if i < 0 || after.rest.gaps[i].print != g.print || after.rest.gaps[i].Kind != g.Kind {
			touched = append(touched, g)
		}
	}
	return touched
}

// KeptIgnored returns how many ignored files a snapshot keeps.
func (s Snapshot) KeptIgnored() int { return len(s.rest.files) }

// NotKept returns the gaps of a snapshot.
func (s Snapshot) NotKept() []Gap { return s.rest.gaps }

// Beside returns the paths of changes that no commit would show: ignored files that existed before, permissions and
// empty directories, and staged entries.
func (w *Worktree) Beside(ctx context.Context, before, after Snapshot) (ignored, modes, staged []string, err error) {
	for name, was := range before.rest.files {
		if now := after.rest.files[name]; now.ID != was.ID || now.Mode != was.Mode {
			ignored = append(ignored, name)
		}
	}
	slices.Sort(ignored)
	for _, name := range changedPerms(before.perms, after.perms) {
		info, err := os.Lstat(filepath.Join(w.Dir, name))
		if !before.perms.other[name].IsDir() || err != nil || info.Mode().Perm() != before.perms.other[name].Perm() {
			modes = append(modes, name)
		}
	}
	staged, err = w.stagedBetween(ctx, before, after)
	return ignored, modes, staged, err
}

// stagedBetween returns the paths whose entries in the index differ.
func (w *Worktree) stagedBetween(ctx context.Context, before, after Snapshot) ([]string, error) {
	if before.Index == after.Index {
		return nil, nil
	}
	var entries [2]map[string]string
	for i, snap := range []Snapshot{before, after} {
		index, err := snap.index(ctx, w.repo)
		if err != nil {
			return nil, err
		}
		if entries[i], err = w.indexEntries(ctx, index); err != nil {
			return nil, err
		}
	}
	return each.Where(each.Keys(entries[:]...), func(name string) bool {
		return entries[0][name] != entries[1][name]
	}), nil
}

// changedPerms returns the paths whose permissions differ, and directories that were empty and may be gone. It returns
// none unless both are known.
func changedPerms(was, is perms) []string {
	if !was.known || !is.known {
		return nil
	}
	return each.Where(each.Keys(was.other, is.other), func(name string) bool {
		mode := permMode(name, cmp.Or(is.other[name], was.other[name]))
		return was.of(name, mode) != is.of(name, mode) || was.other[name].IsDir() && !is.other[name].IsDir()
	})
}

// permMode returns the mode that a tree has for a path with permissions.
func permMode(name string, perm fs.FileMode) string {
	if strings.HasSuffix(name, "/") {
		return ""
	}
	return fileMode(perm)
}

// ofRest adds the permissions of ignored files from the rest. Their names must not get into git's objects.
func (p perms) ofRest(files map[string]keptFile) {
	for name, file := range files {
		if p.known && file.Mode != ModeSymlink && file.Perm != p.most[permClass(file.Mode)] {
			p.other[name] = file.Perm
		}
	}
}

// text returns the permissions in a snapshot's format, without those of ignored files.
func (p perms) text(ignored map[string]keptFile) []byte {
	items := []string{fmt.Sprintf("%o %o %o", p.most[0], p.most[1], p.most[2])}
	for _, name := range slices.Sorted(maps.Keys(p.other)) {
		if _, ok := ignored[name]; ok {
			continue
		}
		items = append(items, fmt.Sprintf("%o %s", p.other[name], name))
	}
	return joinNUL(items)
}

// parsePerms is the inverse of text.
func parsePerms(items []string) (perms, error) {
	p := perms{known: true, other: map[string]fs.FileMode{}}
	if len(items) == 0 {
		return perms{}, nil
	}
	if _, err := fmt.Sscanf(items[0], "%o %o %o", &p.most[0], &p.most[1], &p.most[2]); err != nil {
		return perms{}, fmt.Errorf("%w: modes %q", ErrCorrupt, items[0])
	}
	for _, item := range items[1:] {
		octal, name, _ := strings.Cut(item, " ")
		perm, err := strconv.ParseUint(octal, 8, 32)
		if err != nil {
			return perms{}, fmt.Errorf("%w: mode %q", ErrCorrupt, item)
		}
		p.other[name] = fs.FileMode(perm)
	}
	return p, nil
}
