package gitstore

import (
	"fmt"
	"slices"
	"strings"
)

// wrap says in the error of a function, when it returns, what failed.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// UnfinishedError is a merge or the like that somebody has begun in a working tree,
// where nothing else can be done before it has ended.
type UnfinishedError struct {
	Operation string // as Repo.Operation names it
	While     string // it was begun while an agent worked, and nobody has accepted it; "" for one of a person's
}

func (e *UnfinishedError) Error() string {
	if e.While != "" {
		return fmt.Sprintf("a %s was begun in this checkout while %s, and to go on with it may run commands that you have not seen",
			e.Operation, e.While)
	}
	return "this checkout is in the middle of a " + e.Operation
}

// Unfinished is an *UnfinishedError while git has begun an operation in this worktree, nil without one.
func (r *Repo) Unfinished() *UnfinishedError {
	e := &UnfinishedError{Operation: r.Operation()}
	if e.Operation == "" {
		return nil
	}
	all, _ := r.noted() // what cannot be read names nothing
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

// Error names the first paths.
func (e *PathsError) Error() string {
	const shown = 5
	names := make([]string, 0, shown)
	for _, path := range e.Paths[:min(shown, len(e.Paths))] {
		names = append(names, fmt.Sprintf("%q", path))
	}
	text := e.Err.Error() + ": " + strings.Join(names, ", ")
	if more := len(e.Paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unwrap gives the kind of error.
func (e *PathsError) Unwrap() error { return e.Err }
