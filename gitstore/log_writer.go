package gitstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

const (
	writerKey    = "runr.writer"
	writerDigits = 12
)

// writerID remembers the id that this process has made or found since the
// repository was opened.
type writerID struct {
	mu sync.Mutex
	id string
}

func (w *writerID) get() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

func (w *writerID) set(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id = id
}

// isWriter reports whether a string has the form of a writer's id: 12 hex digits.
func isWriter(s string) bool { return len(s) == writerDigits && isHex(s) }

// Writer is the id of this clone as a writer, "" before its first write.
func (r *Repo) Writer() string {
	if id := r.writer.get(); id != "" {
		return id
	}
	if id := r.Config.Get(writerKey); isWriter(id) {
		return id
	}
	return ""
}

// ensureWriter gives the writer's id and makes it at the first write. The caller
// holds the log's lock, so no two processes make one.
func (r *Repo) ensureWriter(ctx context.Context) (string, error) {
	if id := r.Writer(); id != "" {
		return id, nil
	}
	id, err := r.storedWriter(ctx)
	if err == nil && id == "" {
		return r.newWriter(ctx)
	}
	r.writer.set(id)
	return id, err
}

// storedWriter reads the id that another process may have made since the
// repository was opened.
func (r *Repo) storedWriter(ctx context.Context) (string, error) {
	id, err := r.gitLine(ctx, "config", "--local", "--get", writerKey)
	if exitStatus(err) == 1 {
		return "", nil
	}
	if err != nil || !isWriter(id) {
		return "", err
	}
	return id, nil
}

// newWriter gives this clone a new id as a writer: at the first write, and when a
// copy of the clone writes under the same one. The caller holds the log's lock.
func (r *Repo) newWriter(ctx context.Context) (string, error) {
	var random [writerDigits / 2]byte
	rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:])
	if _, err := r.git(ctx, "config", "--local", writerKey, id); err != nil {
		return "", fmt.Errorf("set %s: %w", writerKey, readOnly(err))
	}
	r.writer.set(id)
	return id, nil
}

// signs reports whether entries are to be signed: runr.sign, else commit.gpgSign.
func (r *Repo) signs() bool {
	if r.Config.Get("runr.sign") != "" {
		return r.Config.Bool("runr.sign")
	}
	return r.Config.Bool("commit.gpgsign")
}

// signCommit is writeCommit with a signature, which git makes as it does for any
// commit of the user's.
func (r *Repo) signCommit(ctx context.Context, c Commit) (ID, error) {
	args := []string{"commit-tree", "-S", "-F", "-"}
	for _, parent := range c.Parents {
		args = append(args, "-p", string(parent))
	}
	out, err := r.call(ctx, gitCall{
		args:  append(args, string(c.Tree)),
		stdin: strings.NewReader(wholeLine(c.Message)),
		env: append(identityEnv(c),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=i18n.commitEncoding", "GIT_CONFIG_VALUE_0=UTF-8"),
	})
	if said := new(GitError); errors.As(err, &said) {
		return "", fmt.Errorf("%w: %s", ErrSign, strings.Join(strings.Fields(said.Stderr), " "))
	}
	if err != nil {
		return "", fmt.Errorf("sign commit: %w", err)
	}
	id := ID(strings.TrimSpace(string(out)))
	if !r.validID(id) {
		return "", fmt.Errorf("sign commit: git answered %q", out)
	}
	return id, nil
}

func identityEnv(c Commit) []string {
	return []string{
		"GIT_AUTHOR_NAME=" + nonEmpty(cleanIdent(c.Author.Name)),
		"GIT_AUTHOR_EMAIL=" + cleanIdent(c.Author.Email),
		"GIT_AUTHOR_DATE=@" + strconv.FormatInt(c.AuthorWhen.Unix(), 10) + " " + c.AuthorWhen.Format("-0700"),
		"GIT_COMMITTER_NAME=" + nonEmpty(cleanIdent(c.Committer.Name)),
		"GIT_COMMITTER_EMAIL=" + cleanIdent(c.Committer.Email),
		"GIT_COMMITTER_DATE=@" + strconv.FormatInt(c.CommitterWhen.Unix(), 10) + " " + c.CommitterWhen.Format("-0700"),
	}
}
