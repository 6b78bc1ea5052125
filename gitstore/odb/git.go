package odb

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// CatFile reads an object with git, which supports SHA-256, promisor remotes and everything
// else that a repository may contain.
func (s *Store) CatFile(ctx context.Context, id ID, limit int64) (kind string, data []byte, err error) {
	out := &gitdir.LimitWriter{Left: limit + 100} // the header line and the newline after the content
	_, err = s.dir.Call(ctx, gitdir.Call{
		Args:  []string{"cat-file", "--batch"},
		Stdin: strings.NewReader(string(id) + "\n"), Stdout: out,
	})
	if out.Full {
		return "", nil, gitdir.ErrTooLarge
	}
	if missing := new(MissingError); err != nil && !errors.As(err, new(*gitdir.GitError)) || errors.As(err, &missing) {
		return "", nil, err
	}
	header, rest, ok := bytes.Cut(out.Kept.Bytes(), []byte("\n"))
	kind, size, parseErr := ParseBatchHeader(string(header), id)
	if !ok || err != nil && parseErr != nil {
		return "", nil, fmt.Errorf("%w: %w", gitdir.ErrCorrupt, errors.Join(err, parseErr))
	}
	if parseErr != nil {
		return "", nil, parseErr
	}
	if size > limit {
		return "", nil, gitdir.ErrTooLarge
	}
	if int64(len(rest)) < size {
		return "", nil, fmt.Errorf("%w: %d bytes of %d", gitdir.ErrCorrupt, len(rest), size)
	}
	return kind, rest[:size], nil
}

// ParseBatchHeader parses the line "ID KIND SIZE". It returns ErrNotFound for "ID missing".
func ParseBatchHeader(line string, id ID) (kind string, size int64, err error) {
	said, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	kind, number, ok := strings.Cut(rest, " ")
	if !ok && kind == "missing" {
		return "", 0, gitdir.ErrNotFound
	}
	if !ok || said != string(id) {
		return "", 0, fmt.Errorf("git answered %q", line)
	}
	size, err = strconv.ParseInt(number, 10, 64)
	return kind, size, err
}

// BlobStream reads blobs one by one through one git process, without holding a whole blob in
// memory. It is for one goroutine.
type BlobStream struct {
	ask  *io.PipeWriter
	says *bufio.Reader
	from *io.PipeReader
	done chan struct{} // closed when git has ended
}

// OpenBlobs starts the process; the caller closes it.
func (s *Store) OpenBlobs(ctx context.Context) *BlobStream {
	asked, ask := io.Pipe()
	from, says := io.Pipe()
	b := &BlobStream{ask: ask, says: bufio.NewReader(from), from: from, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		_, err := s.dir.Call(ctx, gitdir.Call{Args: []string{"cat-file", "--batch"}, Stdin: asked, Stdout: says})
		says.CloseWithError(cmp.Or(err, io.ErrUnexpectedEOF))
		asked.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
	}()
	return b
}

// Copy writes the content of a blob to w. After an error the stream cannot be used any more.
func (b *BlobStream) Copy(w io.Writer, id ID) error {
	if _, err := fmt.Fprintln(b.ask, id); err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	header, err := b.says.ReadString('\n')
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	kind, size, err := ParseBatchHeader(header, id)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("%w: it is a %s", gitdir.ErrCorrupt, kind)
	}
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	if _, err := io.CopyN(w, b.says, size); err != nil {
		return fmt.Errorf("copy blob %s: %w", id, err)
	}
	_, err = b.says.Discard(1) // the newline after the content
	return err
}

// Close ends the process and waits for it.
func (b *BlobStream) Close() {
	b.ask.Close()
	b.from.Close()
	<-b.done
}

// HashObject writes an object with git, which uses the repository's hash.
func (s *Store) HashObject(ctx context.Context, kind string, data []byte) (ID, error) {
	out, err := s.dir.GitIn(ctx, data, "hash-object", "-w", "-t", kind, "--stdin")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", kind, err)
	}
	id := ID(strings.TrimSpace(string(out)))
	if !s.ValidID(id) {
		return "", fmt.Errorf("write %s: git answered %q", kind, out)
	}
	return id, nil
}
