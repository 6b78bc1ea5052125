package record

import (
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/comment"
)

// The change under review: see package change.
type (
	Subject     = change.Subject
	SubjectKind = change.Kind
)

const (
	SubjectCommit   = change.Commit
	SubjectRange    = change.Range
	SubjectWorktree = change.Worktree
	SubjectStaged   = change.Staged
)

// Comments of people on lines: see package comment.
type (
	Comment = comment.Comment
	Side    = comment.Side
)

const (
	SideNew = comment.New
	SideOld = comment.Old
)
