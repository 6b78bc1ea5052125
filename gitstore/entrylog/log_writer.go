package entrylog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

const (
	writerKey    = "runr.writer"
	writerDigits = 12
)

// isWriter reports whether a string has the form of a writer's id: 12 hex digits.
func isWriter(s string) bool { return len(s) == writerDigits && odb.IsHex(s) }

// writerVar is an environment variable that overrides the configured writer. A pipeline sets it to one name for all
// its jobs, each of which is a clone of its own.
const writerVar = "GIT_RUNR_WRITER"

// maxWriterName is the maximum length of a writer's name in bytes.
const maxWriterName = 100

// writerID returns the id for a given writer: 12 hex digits are the id itself, a name maps to the same id in every
// clone, and "" maps to "".
func writerID(given string) (string, error) {
	if given == "" || isWriter(given) {
		return given, nil
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(given) > maxWriterName || strings.Trim(given[:1], letters) != "" || strings.Trim(given, letters+"-._/") != "" {
		return "", fmt.Errorf(
			"%w: %q has more than letters, digits, - . _ and /, does not begin with a letter or a digit, or is longer than %d",
			gitdir.ErrWriterName, given, maxWriterName)
	}
	sum := sha256.Sum256([]byte("git-runr writer " + given))
	return hex.EncodeToString(sum[:writerDigits/2]), nil
}

// named returns the id of a writer for an audience if it was given as a name, which other clones may share, else "".
func (s *Store) named(a Audience) (string, error) {
	given := os.Getenv(writerVar)
	if given == "" {
		if given = s.dir.Config.Get(a.key()); isWriter(given) {
			return "", nil
		}
	} else if a != (Audience{}) {
		given = fmt.Sprintf("%.60s/for/%x", given, sha256.Sum256([]byte(a.key())))[:min(maxWriterName, len(given)+20)]
	}
	id, err := writerID(given)
	if err != nil {
		err = fmt.Errorf("%s or %s: %w", writerVar, a.key(), err)
	}
	return id, err
}

// Writer returns the writer id of this clone for the elected remote, or "" before its first write.
func (s *Store) Writer() string { return s.WriterFor(Audience{}) }

// WriterFor returns the writer id of this clone for an audience, or "" before its first write for it.
func (s *Store) WriterFor(a Audience) string {
	if id, _ := s.named(a); id != "" {
		return id
	}
	if id, ok := s.writers.Load(a); ok {
		return id.(string)
	}
	if id := s.dir.Config.Get(a.key()); isWriter(id) {
		return id
	}
	return ""
}

// ensureWriter returns the writer id for an audience, and makes one at the first write. The caller holds the log's
// lock, so no two processes make one.
func (s *Store) ensureWriter(ctx context.Context, a Audience) (string, error) {
	named, err := s.named(a)
	if err != nil {
		return "", err
	}
	if id := s.WriterFor(a); id != "" && (named == "" || a.Remote == "") {
		return id, nil
	}
	id, err := s.storedWriter(ctx, a)
	if err != nil {
		return id, err
	}
	if id == "" {
		return s.newWriter(ctx, a)
	}
	if err := s.noteOwn(id, a); err != nil {
		return id, err
	}
	s.writers.Store(a, id)
	return id, nil
}

// noteOwn records that a log of ours belongs to another remote, because removing the remote also removes the configured
// writer id.
func (s *Store) noteOwn(id string, a Audience) error {
	if a.Remote == "" {
		return nil
	}
	if err := s.checkRemote(a.Remote); err != nil {
		return err
	}
	if err := s.noteHome(a.Remote); err != nil {
		return err
	}
	return s.noteOrigin(id, a.Remote, false)
}

// EnsureWriter is Writer, but makes the id if this clone has not written anything yet.
func (s *Store) EnsureWriter(ctx context.Context) (string, error) {
	if id := s.Writer(); id != "" {
		return id, nil
	}
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return "", err
	}
	defer unlock()
	return s.ensureWriter(ctx, Audience{})
}

// storedWriter reads the id for an audience from the configuration: another process may have made it since the
// repository was opened.
func (s *Store) storedWriter(ctx context.Context, a Audience) (string, error) {
	if id, err := s.named(a); id != "" || err != nil {
		return id, err
	}
	if id := s.WriterFor(a); id != "" && s.stillWriter(a, id) {
		return id, nil
	}
	id, err := s.dir.GitLine(ctx, "config", "--local", "--get", a.key())
	if gitdir.ExitStatus(err) == 1 {
		return "", nil
	}
	if err != nil || !isWriter(id) {
		return "", err
	}
	return id, nil
}

// stillWriter reports whether the repository's configuration file still has the line with id, as git writes it.
func (s *Store) stillWriter(a Audience, id string) bool {
	key := a.key()
	text, err := safefile.ReadFile(filepath.Join(s.dir.CommonDir, "config"))
	return err == nil && strings.Contains(string(text), "\n\t"+key[strings.LastIndexByte(key, '.')+1:]+" = "+id+"\n")
}

// newWriter gives this clone a new writer id: at the first write, and when a copy of the clone uses the same one. The
// caller holds the log's lock.
func (s *Store) newWriter(ctx context.Context, a Audience) (string, error) {
	var random [writerDigits / 2]byte
	rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:])
	if err := s.noteOwn(id, a); err != nil {
		return "", fmt.Errorf("make a writer: %w", err)
	}
	if _, err := s.dir.Git(ctx, "config", "--local", a.key(), id); err != nil {
		return "", fmt.Errorf("set %s: %w", a.key(), gitdir.ReadOnly(err))
	}
	s.writers.Store(a, id)
	return id, s.notePlace(true)
}

// SignCommit stores a signed commit; git signs it as it signs the user's own commits. It returns ErrSign if git fails.
// Where git cannot be run safely, because an agent changed what configures it, the commit is stored unsigned: a run
// must be able to record that it stopped.
func (s *Store) SignCommit(ctx context.Context, c odb.Commit) (odb.ID, error) {
	args := []string{"commit-tree", "-S", "-F", "-"}
	for _, parent := range c.Parents {
		args = append(args, "-p", string(parent))
	}
	out, err := s.dir.Call(ctx, gitdir.Call{
		Args:  append(args, string(c.Tree)),
		Stdin: strings.NewReader(odb.WholeLine(c.Message)),
		Env: append(identityEnv(c),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=i18n.commitEncoding", "GIT_CONFIG_VALUE_0=UTF-8"),
	})
	if said := new(gitdir.GitError); errors.As(err, &said) {
		return "", fmt.Errorf("%w: %s", gitdir.ErrSign, strings.Join(strings.Fields(said.Stderr), " "))
	}
	if errors.Is(err, gitdir.ErrTampered) {
		return s.objects.WriteCommit(ctx, c)
	}
	if err != nil {
		return "", fmt.Errorf("sign commit: %w", err)
	}
	id := odb.ID(strings.TrimSpace(string(out)))
	if !s.objects.ValidID(id) {
		return "", fmt.Errorf("sign commit: git answered %q", out)
	}
	return id, nil
}

func identityEnv(c odb.Commit) []string {
	return []string{
		"GIT_AUTHOR_NAME=" + odb.CleanName(c.Author.Name),
		"GIT_AUTHOR_EMAIL=" + gitdir.CleanIdent(c.Author.Email),
		"GIT_AUTHOR_DATE=@" + strconv.FormatInt(c.AuthorWhen.Unix(), 10) + " " + c.AuthorWhen.Format("-0700"),
		"GIT_COMMITTER_NAME=" + odb.CleanName(c.Committer.Name),
		"GIT_COMMITTER_EMAIL=" + gitdir.CleanIdent(c.Committer.Email),
		"GIT_COMMITTER_DATE=@" + strconv.FormatInt(c.CommitterWhen.Unix(), 10) + " " + c.CommitterWhen.Format("-0700"),
	}
}
