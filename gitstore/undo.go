package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-runr/gitstore/refdb"
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
	message, now := op.String(), time.Now().UTC()
	if branch != "" {
		message += branchTrailer + branch
	}
	id, err := r.objects.WriteCommit(ctx, Commit{
		Tree: tree, Parents: []ID{before.ID, after.ID}, Message: message,
		Author: toolIdentity, Committer: toolIdentity, AuthorWhen: now, CommitterWhen: now,
	})
	if err != nil {
		return Recorded{}, err
	}
	ref := fmt.Sprintf("%s%s/%08d", undoPrefix, r.undoStack(), number+1)
	if err := r.refs.SwapAny(ctx, ref, id, ""); err != nil {
		return Recorded{}, fmt.Errorf("record %s: %w", op.Kind, err)
	}
	return r.readOperation(ctx, ref, id)
}

// recordRevert records what a revert did, if it changed anything.
func (w *Worktree) recordRevert(ctx context.Context, job revertJob, done *Reverted) (err error) {
	done.Operation.Operation = parseOperation(job.why)
	if done.Before.ID != done.After.ID {
		done.Operation, err = w.repo.record(ctx, done.Operation.Operation, "", done.Before, done.After)
	}
	return err
}

// Undo takes back an operation on this worktree, file by file as Revert does: a path
// that was changed since is a conflict and is left alone. A branch that the operation
// moved is moved back first; when it is no longer where the operation put it, or HEAD
// is elsewhere, that is ErrConflict and nothing is changed; when it is where it was
// before, ErrNoChange. The undo is an operation itself, which can be taken back.
func (w *Worktree) Undo(ctx context.Context, op Recorded) (Reverted, error) {
	base, err := w.repo.ReadSnapshot(ctx, op.Before)
	if err != nil {
		return Reverted{}, fmt.Errorf("undo: %w", err)
	}
	end, err := w.repo.ReadSnapshot(ctx, op.After)
	if err != nil {
		return Reverted{}, fmt.Errorf("undo: %w", err)
	}
	job := revertJob{base: base, end: end, why: op.opposite().String()}
	if job.movesHead() {
		there, err := w.isAt(ctx, base)
		if err == nil && there {
			err = fmt.Errorf("%s is where it was before: %w", headName(base.HeadRef), ErrNoChange)
		}
		if err == nil {
			err = w.mayMoveHead(ctx, end)
		}
		if err != nil {
			return Reverted{}, fmt.Errorf("undo: %w", err)
		}
	}
	return w.Revert(ctx, base, end, Because(job.why))
}

// opposite is the operation that takes this one back.
func (o Operation) opposite() Operation {
	o.Back = !o.Back
	return o
}

// movesHead reports whether the job is a landing that is taken back, or done again.
func (j revertJob) movesHead() bool {
	return parseOperation(j.why).Kind == OpLand && j.base.Head != j.end.Head
}

// mayMoveHead is an error when HEAD is not where a snapshot has it, or in use.
func (w *Worktree) mayMoveHead(ctx context.Context, from Snapshot) error {
	if err := w.headIsFree(); err != nil {
		return err
	}
	head, branch, err := w.head(ctx)
	switch {
	case err != nil:
		return err
	case branch != from.HeadRef:
		return fmt.Errorf("HEAD is %s, not %s any more: %w", standing(branch), standing(from.HeadRef), ErrConflict)
	case head != from.Head:
		return movedOn(branch, head, from.Head)
	}
	return nil
}

// headIsFree is an *UnfinishedError while a merge or the like needs HEAD where it is; a
// bisect does not.
func (w *Worktree) headIsFree() error {
	if operation := w.repo.Operation(); operation != "" && operation != "bisect" {
		return &UnfinishedError{operation}
	}
	return nil
}

// movedOn is ErrConflict: a branch, or a detached HEAD, is not where an operation left it.
func movedOn(ref string, at, left ID) error {
	if at == "" {
		return fmt.Errorf("there is no branch %s any more: %w", headName(ref), ErrConflict)
	}
	return fmt.Errorf("%s is at %s, not at %s any more: %w", headName(ref), at.Short(), refdb.OrNothing(ID(left.Short())), ErrConflict)
}

// isAt reports whether HEAD is where a snapshot has it.
func (w *Worktree) isAt(ctx context.Context, snap Snapshot) (bool, error) {
	head, branch, err := w.head(ctx)
	return head == snap.Head && branch == snap.HeadRef, err
}

// moveHead moves the branch that HEAD is on, or HEAD itself, where the job says so; a
// killed process may have done it already.
func (w *Worktree) moveHead(ctx context.Context, job revertJob) error {
	if !job.movesHead() {
		return nil
	}
	if there, err := w.isAt(ctx, job.base); err != nil || there {
		return err
	}
	if err := w.mayMoveHead(ctx, job.end); err != nil {
		return err
	}
	ref := job.end.HeadRef
	if ref == "" {
		ref = "HEAD"
	}
	return w.repo.refs.Move(ctx, ref, job.base.Head, job.end.Head, "runr: "+job.why)
}

// finishJob does the rest of what a killed process began.
func (w *Worktree) finishJob(ctx context.Context, job revertJob) (done Reverted, err error) {
	op := parseOperation(job.why)
	if op.Kind == opLanding {
		return w.finishLanding(ctx, job)
	}
	if job.movesHead() {
		begun, err := w.isAt(ctx, job.base)
		if err != nil {
			return done, err
		}
		still, err := w.isAt(ctx, job.end)
		if err != nil || !begun && !still {
			return w.leave(op, job), err
		}
	}
	if done, err = w.revert(ctx, job); err == nil {
		err = w.recordRevert(ctx, job, &done)
	}
	return done, err
}

// leave is the answer for what a killed process began, and what is left as it is now.
func (w *Worktree) leave(op Operation, job revertJob) Reverted {
	return Reverted{Left: true, Before: job.base, After: job.end, Operation: Recorded{Operation: op, Before: job.base.ID, After: job.end.ID}}
}

// standing is where HEAD is.
func standing(branch string) string {
	if branch == "" {
		return "detached"
	}
	return "on " + headName(branch)
}

func headName(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return strings.TrimPrefix(branch, "refs/heads/")
}

// branchSnapshot is what a branch is at, as a snapshot: its files and its name.
func (r *Repo) branchSnapshot(ctx context.Context, ref string, at ID, subject string) (Snapshot, error) {
	tree, err := r.treeOrEmpty(ctx, at)
	if err != nil {
		return Snapshot{}, err
	}
	snap := Snapshot{Tree: tree, Head: at, HeadRef: ref}
	return snap, r.worktreeAt(r.WorkTree, r.GitDir).writeSnapshot(ctx, &snap, subject)
}

// moveRecorded moves a branch that is not checked out anywhere, recorded so that it
// can be taken back. The record comes first: of one that did not happen nothing is left
// but a record of what is so already.
func (r *Repo) moveRecorded(ctx context.Context, op Operation, ref string, to, from ID) (Recorded, error) {
	ctx, unlock, err := r.dir.HoldLock(ctx, r.worktreeAt(r.WorkTree, r.GitDir).filesLock())
	if err != nil {
		return Recorded{}, err
	}
	defer unlock()
	before, err := r.branchSnapshot(ctx, ref, from, op.String()+" (before)")
	if err != nil {
		return Recorded{}, err
	}
	after, err := r.branchSnapshot(ctx, ref, to, op.String()+" (after)")
	if err != nil {
		return Recorded{}, err
	}
	done, err := r.record(ctx, op, ref, before, after)
	if err != nil {
		return Recorded{}, err
	}
	if err := r.refs.Move(ctx, ref, to, from, "runr: "+op.String()); err != nil {
		return Recorded{}, errors.Join(err, r.DropOperation(context.WithoutCancel(ctx), done))
	}
	return done, nil
}

// UndoBranch is Undo for an operation that only moved a branch. It is ErrNoChange when
// the branch is where it was before.
func (r *Repo) UndoBranch(ctx context.Context, op Recorded) (Recorded, error) {
	before, err := r.ReadSnapshot(ctx, op.Before)
	if err != nil {
		return Recorded{}, fmt.Errorf("undo: %w", err)
	}
	after, err := r.ReadSnapshot(ctx, op.After)
	if err != nil {
		return Recorded{}, fmt.Errorf("undo: %w", err)
	}
	at, err := r.Ref(ctx, op.Branch)
	switch {
	case err != nil:
		return Recorded{}, fmt.Errorf("undo: %w", err)
	case at == before.Head:
		return Recorded{}, fmt.Errorf("undo: %s is where it was before: %w", headName(op.Branch), ErrNoChange)
	case at != after.Head:
		return Recorded{}, fmt.Errorf("undo: %w", movedOn(op.Branch, at, after.Head))
	}
	if err := r.notCheckedOut(ctx, op.Branch); err != nil {
		return Recorded{}, fmt.Errorf("undo: %w", err)
	}
	return r.moveRecorded(ctx, op.opposite(), op.Branch, before.Head, after.Head)
}

// notCheckedOut is ErrConflict when a branch is checked out somewhere.
func (r *Repo) notCheckedOut(ctx context.Context, ref string) error {
	dir, err := r.checkedOutIn(ctx, ref)
	if err == nil && dir != "" {
		err = &CheckedOutError{Branch: headName(ref), Dir: dir}
	}
	return err
}

// CheckedOutError is an ErrConflict: a branch is not moved behind the back of whoever
// works on it.
type CheckedOutError struct {
	Branch string
	Dir    string // where it is checked out
}

func (e *CheckedOutError) Error() string {
	return fmt.Sprintf("%s is checked out in %q: %v", e.Branch, e.Dir, ErrConflict)
}

// Unwrap is ErrConflict.
func (e *CheckedOutError) Unwrap() error { return ErrConflict }

// DropOperation forgets an operation: it cannot be taken back any more.
func (r *Repo) DropOperation(ctx context.Context, op Recorded) error {
	return r.DropRefs(ctx, []string{undoPrefix + op.Name})
}
