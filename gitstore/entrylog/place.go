package entrylog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// closedPrefix is the prefix of refs at the last entries of this clone's former logs to which somebody else pushed.
// Nothing more is adopted of such a log.
const closedPrefix = "refs/runr-local/closed/"

// placePath returns the file that contains its own inode number, which a copy of the clone's directory does not share.
func (s *Store) placePath() string { return filepath.Join(s.dir.StateDir(), "log-place") }

// isCopy reports whether this clone's directory is a copy of the one in which it got its writer ids, or the end of its
// log was lost here, or AcceptCopy said so. It is false if this is not known.
func (s *Store) isCopy() bool {
	noted, err := safefile.ReadFile(s.placePath())
	info, statErr := os.Stat(s.placePath())
	return err == nil && statErr == nil && strings.TrimSpace(string(noted)) != refdb.Inode(info)
}

// notePlace records that this directory is the one in which the clone writes. Without again it leaves an earlier record
// alone.
func (s *Store) notePlace(again bool) error {
	info, err := os.Stat(s.placePath())
	if err == nil && !again {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.writePlace("unknown"); err == nil {
			info, err = os.Stat(s.placePath())
		}
	}
	if err != nil {
		return err
	}
	return s.writePlace(refdb.Inode(info))
}

// writePlace writes into the file itself: a new one would have another inode number.
func (s *Store) writePlace(text string) error {
	err := s.dir.MkdirShared(s.dir.StateDir())
	if err == nil {
		err = os.WriteFile(s.placePath(), []byte(text+"\n"), 0o666)
	}
	if err != nil {
		return fmt.Errorf("note where this clone is: %w", gitdir.ReadOnly(err))
	}
	_ = s.dir.Share(s.placePath())
	return nil
}

// AcceptCopy makes the next AdoptLogs adopt what a copy or a backup of this clone wrote under its id.
func (s *Store) AcceptCopy(ctx context.Context) error {
	closed, err := s.refs.Refs(ctx, closedPrefix)
	if err != nil || len(closed) == 0 {
		return errors.Join(err, s.writePlace("copied"))
	}
	for ref, at := range closed {
		if err := s.refs.SwapAny(ctx, ref, "", at); err != nil {
			return err
		}
	}
	return nil
}
