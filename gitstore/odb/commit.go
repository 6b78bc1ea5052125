package odb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Commit is one commit. Times keep the zone in which they were written; an unreadable time
// is the zero Time.
type Commit struct {
	ID            ID
	Tree          ID
	Parents       []ID
	Author        gitdir.Identity
	Committer     gitdir.Identity
	AuthorWhen    time.Time
	CommitterWhen time.Time
	Encoding      string // of the message, "" for UTF-8; the message is not converted
	Message       string
}

// Parent returns the first parent, or "" if there is none.
func (c Commit) Parent() ID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// maxWhen is the last second of the year 9999, the last that fits four digits.
const maxWhen = 253402300799

// ReadCommit reads a commit. It does not follow a tag, and it ignores headers that this version
// does not know (signatures, merged tags, headers of other tools).
func (s *Store) ReadCommit(ctx context.Context, id ID) (Commit, error) {
	data, err := s.ReadKind(ctx, id, "commit")
	if err != nil {
		return Commit{}, err
	}
	commit, err := DecodeCommit(data)
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", id, err)
	}
	commit.ID = id
	return commit, nil
}

// WriteCommit stores a commit durably and returns its id. It ends the message with a newline and
// removes characters from names that would break the header.
func (s *Store) WriteCommit(ctx context.Context, c Commit) (ID, error) {
	data, err := EncodeCommit(c)
	if err != nil {
		return "", fmt.Errorf("write commit: %w", err)
	}
	return s.Write(ctx, "commit", data)
}

// DecodeCommit parses the content of a commit object. It requires only a tree.
func DecodeCommit(data []byte) (Commit, error) {
	var c Commit
	header, message, _ := bytes.Cut(data, []byte("\n\n"))
	if bytes.HasPrefix(data, []byte("\n")) { // no header at all
		header, message = nil, data[1:]
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(string(header), "\n") {
		key, value, _ := strings.Cut(line, " ")
		if seen[key] && key != "parent" {
			continue // if there are two authors the first counts, as in git
		}
		seen[key] = true
		switch key { // a continued line begins with a space, so its key is ""
		case "tree":
			c.Tree = ID(value)
		case "parent":
			c.Parents = append(c.Parents, ID(value))
		case "author":
			c.Author, c.AuthorWhen = parseIdentity(value)
		case "committer":
			c.Committer, c.CommitterWhen = parseIdentity(value)
		case "encoding":
			c.Encoding = value
		}
	}
	for _, id := range append([]ID{c.Tree}, c.Parents...) {
		if len(id) != 40 && len(id) != 64 || !IsHex(string(id)) {
			return Commit{}, fmt.Errorf("%w: commit names object %q", gitdir.ErrCorrupt, id)
		}
	}
	c.Message = string(message)
	return c, nil
}

// parseIdentity parses as much as it can of "Name <email> seconds zone".
func parseIdentity(line string) (gitdir.Identity, time.Time) {
	name, rest, ok := strings.Cut(line, "<")
	if !ok {
		return gitdir.Identity{Name: strings.TrimSpace(line)}, time.Time{}
	}
	email, _, _ := strings.Cut(rest, ">")
	var fields [2]string
	stamp := fields[:0] // ParseWhen ignores fields after the zone
	for field := range strings.FieldsSeq(rest[strings.LastIndex(rest, ">")+1:]) {
		stamp = append(stamp, field)
	}
	return gitdir.Identity{Name: strings.TrimSpace(name), Email: strings.TrimSpace(email)}, ParseWhen(stamp)
}

// ParseWhen parses seconds since 1970 and a zone such as +0130. It returns the zero Time on failure.
func ParseWhen(fields []string) time.Time {
	if len(fields) == 0 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || seconds < 0 || seconds > maxWhen {
		return time.Time{}
	}
	zone := time.UTC
	if len(fields) > 1 {
		zone = parseZone(fields[1])
	}
	return time.Unix(seconds, 0).In(zone)
}

func parseZone(text string) *time.Location {
	n, err := strconv.Atoi(text)
	if err != nil || len(text) != 5 || n == 0 || n < -1400 || n > 1400 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// EncodeCommit returns c in git's format. A message with a NUL byte is an error.
func EncodeCommit(c Commit) ([]byte, error) {
	if strings.Contains(c.Message, "\x00") {
		return nil, errors.New("message contains a NUL byte")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, parent := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author %s\n", identLine(c.Author, c.AuthorWhen))
	fmt.Fprintf(&b, "committer %s\n", identLine(c.Committer, c.CommitterWhen))
	if c.Encoding != "" {
		fmt.Fprintf(&b, "encoding %s\n", c.Encoding)
	}
	b.WriteString("\n" + WholeLine(c.Message))
	return b.Bytes(), nil
}

// WholeLine ends text with a newline unless it has one already.
func WholeLine(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }

// identLine formats an identity and a time for a commit's header.
func identLine(id gitdir.Identity, when time.Time) string {
	name, email := CleanName(id.Name), gitdir.CleanIdent(id.Email)
	seconds := min(max(when.Unix(), 0), maxWhen)
	return fmt.Sprintf("%s <%s> %d %s", name, email, seconds, when.Format("-0700"))
}

// CleanName is gitdir.CleanIdent with "unknown" for an empty result: git cannot read a header without a name.
func CleanName(name string) string { return cmp.Or(gitdir.CleanIdent(name), "unknown") }
