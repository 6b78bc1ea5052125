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

// walkReads is how many entries Walk reads one by one before it starts git. Starting git costs as much as some dozens
// of reads; after that git is faster.
const walkReads = 64

// Walk visits the entries of one log from after known up to tip, oldest first; if known is "", from the beginning. It
// returns ErrNotFound before any visit if tip does not descend from known: the caller then starts afresh. It returns
// ErrCorrupt for a missing or damaged entry: Salvage reads such a log. An error of visit ends the walk and is
// returned.
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

// fewReads returns how many entries to read one by one at most.
func (s *Store) fewReads() int {
	if s.dir.SHA256() { // each read starts a process
		return 1
	}
	return walkReads
}

// walkBack reads at most reads entries from tip towards known, newest first. It reports whether that was all.
func (s *Store) walkBack(ctx context.Context, tip, known odb.ID,
	reads int) (entries []Entry, complete bool, err error) {
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

// walkStream is Walk by a git process.
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
	if stop != nil || err == nil && !first {
		return err
	}
	return fmt.Errorf("walk log %s: %w", writer, cmp.Or(err, notIn(known))) // if err is nil, tip is older than known
}

// fromTo returns the input that makes rev-list list the entries from tip back to known.
func fromTo(tip, known odb.ID) string {
	if known == "" {
		return string(tip) + "\n"
	}
	return string(tip) + "\n^" + string(known) + "\n"
}

// readListed visits the entries that rev-list lists, which runs once for each of starts. One git process lists the
// ids, another prints the raw commits (git log would convert and indent their messages). It returns ErrCorrupt for an
// object that git cannot read.
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
		if kind != "commit" {
			stop = fmt.Errorf("read commit %s: %w: it is a %s", id, gitdir.ErrCorrupt, kind)
			return stop
		}
		if entry, stop = decodeEntry(id, data); stop == nil {
			stop = visit(entry)
		}
		return stop
	})
	if err != nil {
		cancel() // the rest of the list is not needed
	}
	listErr := <-done
	if stop != nil {
		return stop
	}
	if err = cmp.Or(err, listErr); isDamage(err) { // git's error about an unreadable object
		return fmt.Errorf("%w: %s", gitdir.ErrCorrupt, err)
	}
	return err
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

// visitObject handles one object; data is valid only until it returns.
type visitObject func(id odb.ID, kind string, data []byte) error

// readObjects visits the objects of a list of ids, one per line, in order.
func (s *Store) readObjects(ctx context.Context, ids io.Reader, visit visitObject) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	output, input, err := os.Pipe() // git writes to it directly, which saves a copy
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"cat-file", "--batch", "--buffer"}, Stdin: ids, Stdout: input})
		input.Close() // the reader sees the end only after git has ended
		done <- err
	}()
	ended, err := visitBatch(bufio.NewReaderSize(output, 1<<16), visit)
	output.Close()
	cancel() // git may still be printing
	if gitErr := <-done; ended && gitErr != nil {
		return gitErr
	}
	return err
}

// visitBatch reads the output of git cat-file --batch. ended reports whether the output ended, at an object boundary
// or not.
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
		name, _, _ := strings.Cut(strings.TrimSuffix(header, "\n"), " ")
		id := odb.ID(name)
		kind, size, err := odb.ParseBatchHeader(header, id)
		if err == nil && size > odb.MaxObject {
			err = gitdir.ErrTooLarge
		}
		if err != nil {
			return false, fmt.Errorf("read object %s: %w", id, err)
		}
		data = slices.Grow(data[:0], int(size)+1)[:size+1] // with the newline after it
		if _, err := io.ReadFull(in, data); err != nil {
			return true, err
		}
		if err := visit(id, kind, data[:size]); err != nil {
			return false, err
		}
	}
}
