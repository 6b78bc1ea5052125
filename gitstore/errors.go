package gitstore

import (
	"fmt"
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
}

func (e *UnfinishedError) Error() string { return "this checkout is in the middle of a " + e.Operation }

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
