package gitstore

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What changed a working tree or a branch for good is recorded, so that it can be
// taken back: a ref for each, numbered by worktree, at a commit whose parents are the
// snapshots before and after, and whose message is the Operation:
//
//	refs/runr-local/undo/main/00000007             of the main worktree, or of a bare repository
//	refs/runr-local/undo/worktrees/ID/00000001     of the linked worktree of that id
const undoPrefix = "refs/runr-local/undo/"

// Kinds of operations.
const (
	OpLand    = "land"
	OpRevert  = "revert"  // an attempt was taken back
	OpResume  = "resume"  // what an unfinished attempt had done was taken back
	OpRestore = "restore" // files of a snapshot were put back

	opLanding = "landing" // one that has not ended, in a journal
)

// Operation is something that is done to a working tree, or to a branch that is not
// checked out.
type Operation struct {
	Kind string // one of the Op constants
	Run  string // that it is done for, "" for none
	What string // one line for people, such as "on main"
	Back bool   // it was taken back
}

// String is the operation in one line, as parseOperation reads it: "undo land RUN: on main".
func (o Operation) String() string {
	line := o.Kind
	if o.Back {
		line = "undo " + line
	}
	if o.Run != "" {
		line += " " + o.Run
	}
	return line + ": " + strings.Join(strings.Fields(o.What), " ")
}

// parseOperation is the inverse of String. Any other line is a revert that says it.
func parseOperation(line string) Operation {
	head, what, ok := strings.Cut(line, ": ")
	words := strings.Split(head, " ")
	op := Operation{What: what}
	if words[0] == "undo" && len(words) > 1 {
		op.Back, words = true, words[1:]
	}
	op.Kind = words[0]
	if len(words) == 2 {
		op.Run = words[1]
	}
	known := slices.Contains([]string{OpLand, OpRevert, OpResume, OpRestore, opLanding}, op.Kind)
	if !ok || !known || len(words) > 2 {
		return Operation{Kind: OpRevert, What: line}
	}
	return op
}

// opposite is the operation that takes this one back.
func (o Operation) opposite() Operation {
	o.Back = !o.Back
	return o
}

// Recorded is an operation that can be taken back.
type Recorded struct {
	Operation
	Name          string    // such as main/00000007, below refs/runr-local/undo/; "" for one that is not recorded
	Branch        string    // the branch that alone was moved, "" for an operation on a working tree
	When          time.Time // in whole seconds
	Before, After ID        // snapshots; of a branch they hold what it was at
}

// TakenBack is the operation that takes r back, unrecorded.
func (r Recorded) TakenBack() Recorded {
	return Recorded{Operation: r.opposite(), Branch: r.Branch, Before: r.After, After: r.Before}
}

// undoStack is where the operations on this worktree are recorded.
func (r *Repo) undoStack() string {
	if r.GitDir == r.CommonDir {
		return "main"
	}
	return "worktrees/" + filepath.Base(r.GitDir)
}

// Operations are those that were recorded in this worktree, newest first.
func (r *Repo) Operations(ctx context.Context) ([]Recorded, error) {
	return r.operations(ctx, r.undoStack())
}

// AllOperations are those of all worktrees, also of those that are gone, newest first
// in each.
func (r *Repo) AllOperations(ctx context.Context) ([]Recorded, error) {
	return r.operations(ctx, "")
}

func (r *Repo) operations(ctx context.Context, stack string) ([]Recorded, error) {
	refs, err := r.Refs(ctx, undoPrefix+stack)
	if err != nil {
		return nil, fmt.Errorf("list operations: %w", err)
	}
	var list []Recorded
	for _, ref := range slices.Backward(slices.Sorted(maps.Keys(refs))) {
		op, err := r.readOperation(ctx, ref, refs[ref])
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil { // which does not keep the others from being undone
			op = Recorded{Operation: Operation{Kind: OpRevert, What: err.Error()}, Name: strings.TrimPrefix(ref, undoPrefix)}
		}
		list = append(list, op)
	}
	return list, nil
}

const branchTrailer = "\n\nRunr-Branch: "

func (r *Repo) readOperation(ctx context.Context, ref string, id ID) (Recorded, error) {
	commit, err := r.ReadCommit(ctx, id)
	if err == nil && len(commit.Parents) != 2 {
		err = fmt.Errorf("%w: it has %d parents", ErrCorrupt, len(commit.Parents))
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("read %s: %w", ref, err)
	}
	line, branch, _ := strings.Cut(strings.TrimSuffix(commit.Message, "\n"), branchTrailer)
	return Recorded{
		Operation: parseOperation(line), Name: strings.TrimPrefix(ref, undoPrefix), Branch: branch,
		When: commit.AuthorWhen.UTC(), Before: commit.Parents[0], After: commit.Parents[1],
	}, nil
}

// record keeps an operation on this worktree, or on a branch. The caller holds the
// worktree's lock. One that a killed process has recorded already is not recorded again.
func (r *Repo) record(ctx context.Context, op Operation, branch string, before, after Snapshot) (Recorded, error) {
	refs, err := r.Refs(ctx, undoPrefix+r.undoStack())
	if err != nil {
		return Recorded{}, fmt.Errorf("record %s: %w", op.Kind, err)
	}
	number := 0
	if len(refs) > 0 {
		newest := slices.Max(slices.Collect(maps.Keys(refs)))
		if last, err := r.readOperation(ctx, newest, refs[newest]); err == nil && last.Before == before.ID {
			return last, nil
		}
		if number, err = strconv.Atoi(newest[strings.LastIndex(newest, "/")+1:]); err != nil {
			return Recorded{}, fmt.Errorf("record %s: %q is no number of an operation", op.Kind, newest)
		}
	}
	tree, err := r.EmptyTree(ctx)
	if err != nil {
		return Recorded{}, err
	}
	message := op.String()
	if branch != "" {
		message += branchTrailer + branch
	}
	id, err := r.toolCommit(ctx, tree, message, time.Now().UTC(), before.ID, after.ID)
	if err != nil {
		return Recorded{}, err
	}
	ref := fmt.Sprintf("%s%s/%08d", undoPrefix, r.undoStack(), number+1)
	if err := r.refs.SwapAny(ctx, ref, id, ""); err != nil {
		return Recorded{}, fmt.Errorf("record %s: %w", op.Kind, err)
	}
	return r.readOperation(ctx, ref, id)
}

// DropOperation forgets an operation: it cannot be taken back any more.
func (r *Repo) DropOperation(ctx context.Context, op Recorded) error {
	return r.DropRefs(ctx, []string{undoPrefix + op.Name})
}
