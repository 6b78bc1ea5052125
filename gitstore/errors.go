package gitstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
)

// wrap adds a description of what failed to a function's error. Use it with defer.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// UnfinishedError reports an unfinished merge or the like in a working tree. Nothing else
// can be done there before it has ended.
type UnfinishedError struct {
	Operation string // as returned by Repo.Operation
	While     string // what an agent did when it was begun, if nobody has accepted it; else ""
}

func (e *UnfinishedError) Error() string {
	if e.While != "" {
		return fmt.Sprintf(
			"a %s was started in this checkout while %s, and continuing it may run commands that you have not seen",
			e.Operation, e.While)
	}
	return "this checkout is in the middle of a " + e.Operation
}

// Unfinished returns an *UnfinishedError if git has an unfinished operation in this worktree, else nil.
func (r *Repo) Unfinished() *UnfinishedError {
	e := &UnfinishedError{Operation: r.Operation()}
	if e.Operation == "" {
		return nil
	}
	all, _ := r.noted() // unreadable records count as none
	for _, a := range all {
		if slices.Contains(a.Begun, Begun{r.GitDir, e.Operation}) {
			e.While = a.While
		}
	}
	return e
}

// PathsError is an error about certain paths, such as ErrDirty or ErrConflict.
type PathsError struct {
	Err   error
	Paths []string
}

// Error lists the first few paths.
func (e *PathsError) Error() string {
	const shown = 5
	names := each.Of(e.Paths[:min(shown, len(e.Paths))], strconv.Quote)
	text := e.Err.Error() + ": " + strings.Join(names, ", ")
	if more := len(e.Paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unwrap returns the kind of error.
func (e *PathsError) Unwrap() error { return e.Err }
