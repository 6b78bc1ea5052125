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

// Each completed change of a working tree or a branch is recorded, so that it can be undone.
// The record is a ref, numbered by worktree, to a commit whose parents are the
// snapshots before and after, and whose message is the Operation:
//
//	refs/runr-local/undo/main/00000007             of the main worktree, or of a bare repository
//	refs/runr-local/undo/worktrees/ID/00000001     of the linked worktree of that id
const undoPrefix = "refs/runr-local/undo/"

// Kinds of operations.
const (
	OpLand    = "land"
	OpRevert  = "revert"  // undid an attempt
	OpResume  = "resume"  // undid what an unfinished attempt had done
	OpRestore = "restore" // restored files of a snapshot

	opLanding = "landing" // an unfinished landing, in a journal
)

// Operation is a change of a working tree, or of a branch that is not checked out.
type Operation struct {
	Kind   string // one of the Op constants
	Run    string // the run for which it was done, or ""
	What   string // one line for people, such as "on main"
	Undoes bool   // it takes an earlier operation of this Kind back
}

// String formats the operation in one line for parseOperation: "undo land RUN: on main".
func (o Operation) String() string {
	line := o.Kind
	if o.Undoes {
		line = "undo " + line
	}
	if o.Run != "" {
		line += " " + o.Run
	}
	return line + ": " + strings.Join(strings.Fields(o.What), " ")
}

// parseOperation is the inverse of String. It returns any other line as the text of a revert.
func parseOperation(line string) Operation {
	head, what, ok := strings.Cut(line, ": ")
	words := strings.Split(head, " ")
	op := Operation{What: what}
	if words[0] == "undo" && len(words) > 1 {
		op.Undoes, words = true, words[1:]
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

// opposite returns the operation that undoes this one.
func (o Operation) opposite() Operation {
	o.Undoes = !o.Undoes
	return o
}

// Recorded is an operation that can be undone.
type Recorded struct {
	Operation
	Name          string    // such as main/00000007, below refs/runr-local/undo/; "" if it is not recorded
	Branch        string    // the only thing moved: a branch; "" for an operation on a working tree
	When          time.Time // in whole seconds
	Before, After ID        // snapshots; for a branch they hold its commit
}

// TakenBack returns the operation that undoes r, not recorded.
func (r Recorded) TakenBack() Recorded {
	return Recorded{Operation: r.opposite(), Branch: r.Branch, Before: r.After, After: r.Before}
}

// undoStack returns the part of the refs' names for operations on this worktree.
func (r *Repo) undoStack() string {
	if r.GitDir == r.CommonDir {
		return "main"
	}
	return "worktrees/" + filepath.Base(r.GitDir)
}

// Operations returns the recorded operations of this worktree, newest first.
func (r *Repo) Operations(ctx context.Context) ([]Recorded, error) {
	return r.operations(ctx, r.undoStack())
}

// AllOperations returns the recorded operations of all worktrees, including removed ones, newest
// first for each.
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
			return nil, ctx.Err()
		}
		if err != nil { // the others can still be undone
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

// record records an operation on this worktree, or on a branch. The caller holds the
// worktree's lock. It does nothing if a killed process has recorded the operation already.
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
			return Recorded{}, fmt.Errorf("record %s: %q is not the number of an operation", op.Kind, newest)
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

// DropOperation deletes the record of an operation, which then cannot be undone.
func (r *Repo) DropOperation(ctx context.Context, op Recorded) error {
	return r.DropRefs(ctx, []string{undoPrefix + op.Name})
}
