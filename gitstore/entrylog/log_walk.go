package entrylog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"git-runr/gitstore/gitdir"
	"git-runr/gitstore/odb"
)

// walkReads is how many entries Walk reads one by one before it starts git, which
// costs as much as some dozens of reads and then is faster.
const walkReads = 64

// Walk visits the entries of one log from after known up to tip, oldest first;
// known "" is from the beginning. A known that tip does not come from is
// ErrNotFound, before anything was visited: the caller then starts afresh. An entry
// that is missing or damaged is ErrCorrupt: Salvage reads such a log.
// An error from visit ends the walk and is returned.
func (s *Store) Walk(ctx context.Context, writer string, tip, known odb.ID, visit func(Entry) error) error {
	entries, complete, err := s.walkBack(ctx, tip, known)
	if err != nil {
		return fmt.Errorf("walk log %s: %w", writer, err)
	}
	if !complete {
		return s.walkStream(ctx, writer, tip, known, visit)
	}
	for _, entry := range slices.Backward(entries) {
		entry.Writer = writer
		if err := visit(entry); err != nil {
			return err
		}
	}
	return nil
}

// walkBack reads entries from tip towards known, newest first, and gives up
// (complete is false) when there are many.
func (s *Store) walkBack(ctx context.Context, tip, known odb.ID) (entries []Entry, complete bool, err error) {
	reads := walkReads
	if s.dir.SHA256() { // a process each
		reads = 1
	}
	for id := tip; id != known; {
		if id == "" {
			return nil, false, fmt.Errorf("entry %s is not in it: %w", known, gitdir.ErrNotFound)
		}
		if len(entries) == reads {
			return nil, false, nil
		}
		entry, err := s.Entry(ctx, id)
		if err != nil && isDamage(err) {
			err = &DamagedError{ID: id, Err: err}
		}
		if err != nil {
			return nil, false, err
		}
		entries = append(entries, entry)
		id = entry.Parent
	}
	return entries, true, nil
}

// follows reports whether a log that ends at tip goes on from an entry that is near its
// end. Where it is not, or cannot be read, git has to be asked.
func (s *Store) follows(ctx context.Context, tip, entry odb.ID) bool {
	_, near, err := s.walkBack(ctx, tip, entry)
	return err == nil && near
}

// walkStream is Walk by two git processes: one lists the ids, one prints the
// commits as they are (git log would convert and indent their messages).
func (s *Store) walkStream(ctx context.Context, writer string, tip, known odb.ID, visit func(Entry) error) error {
	args := []string{"rev-list", "--first-parent", "--reverse", string(tip)}
	if known != "" {
		if !s.objects.ValidID(known) || !s.objects.Has(ctx, known) {
			return fmt.Errorf("walk log %s: entry %s is not in it: %w", writer, known, gitdir.ErrNotFound)
		}
		args = append(args, "^"+string(known))
	}
	list, err := s.dir.Call(ctx, gitdir.Call{Args: append(args, "--")})
	if err != nil {
		return fmt.Errorf("walk log %s: %w", writer, asDamage(err))
	}
	if len(list) == 0 { // tip is older than known
		return fmt.Errorf("walk log %s: entry %s is not in it: %w", writer, known, gitdir.ErrNotFound)
	}
	var stop error
	first := true
	err = s.readObjects(ctx, list, func(id odb.ID, kind string, data []byte) error {
		if kind != "commit" {
			return fmt.Errorf("read commit %s: %w: it is a %s", id, gitdir.ErrCorrupt, kind)
		}
		entry, err := decodeEntry(id, data)
		if err == nil && first && entry.Parent != known {
			err = fmt.Errorf("entry %s is not in it: %w", known, gitdir.ErrNotFound)
		}
		if err != nil {
			stop = fmt.Errorf("walk log %s: %w", writer, err)
			return stop
		}
		first = false
		entry.Writer = writer
		stop = visit(entry)
		return stop
	})
	if err != nil && stop == nil {
		err = fmt.Errorf("walk log %s: %w", writer, asDamage(err))
	}
	return err
}

// asDamage makes what git says of an object that it cannot read an ErrCorrupt.
func asDamage(err error) error {
	if !isDamage(err) {
		return err
	}
	return fmt.Errorf("%w: %s", gitdir.ErrCorrupt, err)
}

// readObjects visits the objects of a list of ids, one a line, in order.
func (s *Store) readObjects(ctx context.Context, list []byte, visit visitObject) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	output, input := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := s.dir.Call(ctx, gitdir.Call{
			Args:  []string{"cat-file", "--batch", "--buffer"},
			Stdin: bytes.NewReader(list), Stdout: input,
		})
		input.CloseWithError(errGitEnded)
		done <- err
	}()
	err := visitBatch(bufio.NewReaderSize(output, 1<<16), list, visit)
	output.CloseWithError(io.ErrClosedPipe)
	cancel() // git may still be printing what nobody wants any more
	gitErr := <-done
	if errors.Is(err, errGitEnded) && gitErr != nil {
		return gitErr
	}
	return err
}

type visitObject func(id odb.ID, kind string, data []byte) error

var errGitEnded = errors.New("git ended before all objects were read")

// visitBatch reads git's answers to a list of ids.
func visitBatch(in *bufio.Reader, list []byte, visit visitObject) error {
	for line := range strings.Lines(string(list)) {
		id := odb.ID(strings.TrimSuffix(line, "\n"))
		header, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		kind, size, err := odb.ParseBatchHeader(strings.TrimSuffix(header, "\n"), id)
		if err == nil && size > odb.MaxObject {
			err = gitdir.ErrTooLarge
		}
		if err != nil {
			return fmt.Errorf("read object %s: %w", id, err)
		}
		data := make([]byte, size+1) // and the newline after it
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		if err := visit(id, kind, data[:size]); err != nil {
			return err
		}
	}
	return nil
}
