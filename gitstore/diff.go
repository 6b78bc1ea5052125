package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// DiffSpec describes a difference of two trees or commits, or a part of it.
type DiffSpec struct {
	From, To ID       // From "" is the empty tree
	Paths    []string // from the top of the tree, literal; empty: all
	Exclude  []string // globs of paths to leave out: see Globs
	Context  int      // unchanged lines around a change; 0: three, as git does
	MaxBytes int64    // of the patch; 0: no limit
	// IgnoreSpace ignores lines that differ only in white space. It is for patches that people
	// read: counts, records and reviews include every line.
	IgnoreSpace bool
	LargeBinary bool // describe files of more than PatchBounds.FileBytes as binary: git would hold all their lines
	NoRenames   bool // show a moved file as a deletion and an addition, with all its lines
}

// FileStat is one file of a difference.
type FileStat struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"` // before a rename
	Added   int    `json:"added"`              // lines; 0 for a binary file
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// Change is one path that differs between two trees. A rename is a deletion and
// an addition.
type Change struct {
	Status           string // A, M, D or T
	Path             string
	OldMode, NewMode string // "" on a side without the path; so is the id
	OldID, NewID     ID
}

// pathspecs returns git's pathspecs for Paths and Exclude. A path with U+FFFD also stands for the one that odb.Named
// finds for it, because git compares bytes.
func (r *Repo) pathspecs(ctx context.Context, spec DiffSpec) []string {
	var specs []string
	for _, p := range spec.Paths {
		specs = append(specs, ":(top,literal)"+p)
		for _, side := range []ID{spec.From, spec.To} {
			if whole := r.RealPath(ctx, side, p); whole != p {
				specs = append(specs, ":(top,literal)"+whole)
			}
		}
	}
	if len(specs) == 0 {
		specs = append(specs, ":(top)")
	}
	for _, glob := range spec.Exclude {
		for _, g := range anchored(glob) {
			specs = append(specs, ":(top,exclude,glob)"+g)
		}
	}
	return specs
}

// diffTree compares two trees and writes git's output to out. Trees have no filters, no
// text conversion and no hooks, so git runs nothing that the repository configures. The
// project's .gitattributes files are ignored: a change must not be able
// to hide a file from its review by declaring it binary.
func (r *Repo) diffTree(ctx context.Context, out io.Writer, spec DiffSpec, options ...string) error {
	args := append([]string{"--no-literal-pathspecs", "diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv",
		"--no-color"}, options...)
	if spec.NoRenames {
		args = append(args, "--no-renames")
	}
	if spec.LargeBinary {
		args = slices.Insert(args, 0, "-c", fmt.Sprintf("core.bigFileThreshold=%d", PatchBounds.FileBytes))
	}
	ends, err := r.ends(spec)
	if err != nil {
		return err
	}
	args = slices.Concat(args, ends, r.pathspecs(ctx, spec))
	if _, err = r.dir.Call(ctx, gitdir.Call{Args: args, Stdout: out, Env: r.noAttributes()}); err != nil {
		return fmt.Errorf("compare %s with %s: %w", spec.From.Short(), spec.To.Short(), err)
	}
	return nil
}

// noAttributes points git to an index that does not exist, because git would read .gitattributes
// from the index.
func (r *Repo) noAttributes() []string {
	return []string{"GIT_INDEX_FILE=" + filepath.Join(r.StateDir(), "no-index")}
}

// Diff returns the difference as a unified patch with full object ids and with a/ and b/
// before the paths. If the patch is longer than MaxBytes, it is cut after a line and
// truncated is true.
func (r *Repo) Diff(ctx context.Context, spec DiffSpec) (patch []byte, truncated bool, err error) {
	out := &gitdir.LimitWriter{Left: cmp.Or(max(spec.MaxBytes, 0), math.MaxInt64)}
	err = r.WriteDiff(ctx, spec, out)
	patch = out.Kept.Bytes()
	if out.Full { // git was stopped, so its status means nothing
		return patch[:bytes.LastIndexByte(patch, '\n')+1], true, nil
	}
	return patch, false, err
}

// WriteDiff writes the patch of Diff to out, whatever its length. If out fails, git is stopped and
// WriteDiff returns an error.
func (r *Repo) WriteDiff(ctx context.Context, spec DiffSpec, out io.Writer) error {
	lines := cmp.Or(max(spec.Context, 0), 3)
	options := []string{"-p", "--full-index", "-U" + strconv.Itoa(lines), "--src-prefix=a/", "--dst-prefix=b/"}
	if spec.IgnoreSpace {
		options = append(options, "-w")
	}
	return r.diffTree(ctx, out, spec, options...)
}

// DiffStat lists the files of the difference with their numbers of lines.
func (r *Repo) DiffStat(ctx context.Context, spec DiffSpec) ([]FileStat, error) {
	var out bytes.Buffer
	if err := r.diffTree(ctx, &out, spec, "--numstat", "-z"); err != nil {
		return nil, err
	}
	return parseNumstat(out.String())
}

// Differs reports whether there is any difference. It reads only trees, except in a partial clone:
// there it runs DiffStat, so that an object that the remote does not provide is an error.
func (r *Repo) Differs(ctx context.Context, spec DiffSpec) (bool, error) {
	promises := func(remote string) bool { return r.Config.Bool("remote." + remote + ".promisor") }
	if r.Config.Get("extensions.partialclone") != "" || slices.ContainsFunc(r.Remotes(), promises) {
		stats, err := r.DiffStat(ctx, spec)
		return len(stats) > 0, err
	}
	if len(spec.Paths) == 0 && len(spec.Exclude) == 0 {
		changes, err := r.Changed(ctx, r.orEmptyTree(spec.From), r.orEmptyTree(spec.To))
		return len(changes) > 0, err
	}
	var out bytes.Buffer
	err := r.diffTree(ctx, &out, spec, "--no-renames", "--name-only", "-z")
	return out.Len() > 0, err
}

// parseNumstat parses `--numstat -z`: ADDED TAB DELETED TAB PATH NUL. A rename has an empty path,
// followed by its two names.
func parseNumstat(listing string) ([]FileStat, error) {
	stats := []FileStat{}
	items := strings.Split(strings.TrimSuffix(listing, "\x00"), "\x00")
	for i := 0; i < len(items) && items[i] != ""; i++ {
		counts := strings.SplitN(items[i], "\t", 3)
		if len(counts) != 3 {
			return nil, fmt.Errorf("read numstat: %q", items[i])
		}
		stat := FileStat{Path: counts[2], Binary: counts[0] == "-"}
		stat.Added, _ = strconv.Atoi(counts[0]) // "-" is 0
		stat.Deleted, _ = strconv.Atoi(counts[1])
		if stat.Path == "" && i+2 < len(items) {
			stat.OldPath, stat.Path = items[i+1], items[i+2]
			i += 2
		}
		stats = append(stats, stat)
	}
	return stats, nil
}

// HeadOrEmpty returns HEAD's commit, or the empty tree if there is none yet.
func (r *Repo) HeadOrEmpty(ctx context.Context) (ID, error) {
	head, err := r.Head(ctx)
	if errors.Is(err, ErrUnborn) {
		return r.EmptyTreeID(), nil
	}
	return head, err
}

// Named returns a *MissingError if id is no object id, as an event of somebody else may have it.
func (r *Repo) Named(id ID) error {
	if r.objects.ValidID(id) {
		return nil
	}
	return odb.NewMissing(fmt.Sprintf("%q is not the name of a tree or a commit", id), "", ErrNotFound, nil)
}

// ends returns the arguments of git that name the two sides of a difference, which Named checks.
func (r *Repo) ends(spec DiffSpec) ([]string, error) {
	from := r.orEmptyTree(spec.From)
	if err := cmp.Or(r.Named(from), r.Named(spec.To)); err != nil {
		return nil, err
	}
	return []string{"--end-of-options", string(from), string(spec.To), "--"}, nil
}

func changedPaths(changed []Change) []string {
	return each.Of(changed, func(c Change) string { return c.Path })
}

func (r *Repo) orEmptyTree(id ID) ID {
	return cmp.Or(id, r.objects.EmptyTreeID())
}

func (r *Repo) treeOrEmpty(ctx context.Context, id ID) (ID, error) {
	if id == "" {
		return r.EmptyTreeID(), nil
	}
	return r.refs.TreeOf(ctx, id)
}

// DiffLook is the format in which DiffShown shows a difference.
type DiffLook struct {
	Colours bool // as configured by color.diff and diff.colorMoved
	Stat    bool // one line for each file
	Columns int  // width of a Stat
}

// DiffShown returns the difference as git shows it to its user. The user's settings apply: context,
// prefixes, algorithm, order of files. The lines are the same with colours and without.
func (r *Repo) DiffShown(ctx context.Context, spec DiffSpec, look DiffLook) ([]byte, error) {
	args := []string{"--no-literal-pathspecs", "diff", "--no-ext-diff", "--no-textconv", "--no-relative", "--color=never"}
	if look.Colours {
		args = append(args, "--color=always")
	}
	if look.Stat {
		args = append(args, "--stat="+strconv.Itoa(look.Columns))
	}
	ends, err := r.ends(spec)
	if err != nil {
		return nil, err
	}
	args = slices.Concat(args, ends, r.pathspecs(ctx, spec))
	out, err := r.dir.Call(ctx, gitdir.Call{Args: args, Env: r.noAttributes()})
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", spec.From.Short(), spec.To.Short(), err)
	}
	return out, nil
}
