package entrylog

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
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
	entries, complete, err := s.walkBack(ctx, tip, known, s.fewReads())
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

// fewReads is up to how many entries are read one by one.
func (s *Store) fewReads() int {
	if s.dir.SHA256() { // a process each
		return 1
	}
	return walkReads
}

// walkBack reads entries from tip towards known, newest first. Complete is false when there
// are more than reads.
func (s *Store) walkBack(ctx context.Context, tip, known odb.ID, reads int) (entries []Entry, complete bool, err error) {
	for id := tip; id != known; {
		if id == "" {
			return nil, false, notIn(known)
		}
		if len(entries) == reads {
			return entries, false, nil
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

func notIn(known odb.ID) error {
	return fmt.Errorf("entry %s is not in it: %w", known, gitdir.ErrNotFound)
}

// walkStream is Walk by git.
func (s *Store) walkStream(ctx context.Context, writer string, tip, known odb.ID, visit func(Entry) error) error {
	if known != "" && (!s.objects.ValidID(known) || !s.objects.Has(ctx, known)) {
		return fmt.Errorf("walk log %s: %w", writer, notIn(known))
	}
	var stop error
	first := true
	err := s.readListed(ctx, []string{fromTo(tip, known)}, []string{"--reverse"}, func(entry Entry) error {
		if first && entry.Parent != known {
			return notIn(known)
		}
		first = false
		entry.Writer = writer
		stop = visit(entry)
		return stop
	})
	if err == nil && first { // tip is older than known
		err = notIn(known)
	}
	if err != nil && stop == nil {
		err = fmt.Errorf("walk log %s: %w", writer, err)
	}
	return err
}

// fromTo has rev-list list the entries from tip back to known.
func fromTo(tip, known odb.ID) string {
	if known == "" {
		return string(tip) + "\n"
	}
	return string(tip) + "\n^" + string(known) + "\n"
}

// readListed visits the entries that rev-list lists, one time for each of starts, by two
// git processes at a time: one lists the ids, one prints the commits as they are (git log
// would convert and indent their messages). What git cannot read is ErrCorrupt.
func (s *Store) readListed(ctx context.Context, starts, options []string, visit func(Entry) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ids, listed, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ids.Close()
	done := make(chan error, 1)
	go func() { done <- s.listEntries(ctx, starts, options, listed) }()
	var stop error
	err = s.readObjects(ctx, ids, func(id odb.ID, kind string, data []byte) error {
		var entry Entry
		if entry, stop = decodeCommit(id, kind, data); stop == nil {
			stop = visit(entry)
		}
		return stop
	})
	if err != nil {
		cancel() // nobody wants the rest of the list
	}
	listErr := <-done
	if stop != nil {
		return stop
	}
	return asDamage(cmp.Or(err, listErr))
}

// listEntries writes ids to a pipe and closes it.
func (s *Store) listEntries(ctx context.Context, starts, options []string, to *os.File) error {
	defer to.Close()
	args := append([]string{"rev-list", "--first-parent", "--stdin"}, options...)
	for _, start := range starts {
		if _, err := s.dir.Call(ctx, gitdir.Call{Args: args, Stdin: strings.NewReader(start), Stdout: to}); err != nil {
			return err
		}
	}
	return nil
}

func decodeCommit(id odb.ID, kind string, data []byte) (Entry, error) {
	if kind != "commit" {
		return Entry{}, fmt.Errorf("read commit %s: %w: it is a %s", id, gitdir.ErrCorrupt, kind)
	}
	return decodeEntry(id, data)
}

// asDamage makes what git says of an object that it cannot read an ErrCorrupt.
func asDamage(err error) error {
	if err == nil || !isDamage(err) {
		return err
	}
	return fmt.Errorf("%w: %s", gitdir.ErrCorrupt, err)
}

// visitObject takes one object, whose data is another's after it has returned.
type visitObject func(id odb.ID, kind string, data []byte) error

// readObjects visits the objects of a list of ids, one a line, in order.
func (s *Store) readObjects(ctx context.Context, ids io.Reader, visit visitObject) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	output, input, err := os.Pipe() // git's own, which spares a copy
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"cat-file", "--batch", "--buffer"}, Stdin: ids, Stdout: input})
		input.Close() // so that the end is read after git has ended
		done <- err
	}()
	ended, err := visitBatch(bufio.NewReaderSize(output, 1<<16), visit)
	output.Close()
	cancel() // git may still be printing what nobody wants any more
	if gitErr := <-done; ended && gitErr != nil {
		return gitErr
	}
	return err
}

// visitBatch reads what git prints of objects. ended is that nothing more came of it, be
// that its end or not.
func visitBatch(in *bufio.Reader, visit visitObject) (ended bool, err error) {
	var data []byte
	for {
		header, err := in.ReadString('\n')
		if err == io.EOF && header == "" {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		id, kind, size, err := parseObjectHeader(strings.TrimSuffix(header, "\n"))
		if err != nil {
			return false, fmt.Errorf("read object %s: %w", id, err)
		}
		data = slices.Grow(data[:0], size+1)[:size+1] // and the newline after it
		if _, err := io.ReadFull(in, data); err != nil {
			return true, err
		}
		if err := visit(id, kind, data[:size]); err != nil {
			return false, err
		}
	}
}

// parseObjectHeader reads the line before an object, which is not too large.
func parseObjectHeader(line string) (id odb.ID, kind string, size int, err error) {
	name, _, _ := strings.Cut(line, " ")
	id = odb.ID(name)
	kind, n, err := odb.ParseBatchHeader(line, id)
	if err == nil && n > odb.MaxObject {
		err = gitdir.ErrTooLarge
	}
	return id, kind, int(n), err
}
