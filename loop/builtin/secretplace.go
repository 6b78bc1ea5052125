package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// Said is the text of a commit or tag object: the message, and the header with authors, taggers and signatures.
type Said struct {
	What string // "commit 1a2b3c4", "tag 1a2b3c4"
	Text string
	next gitstore.ID // the object that a tag points to
}

// maxSaid is the maximum size in bytes of a commit or tag that is read.
const maxSaid = 8 << 20

// ReadSaid reads a commit or a tag. For other objects it returns the zero Said.
func ReadSaid(ctx context.Context, repo *gitstore.Repo, id gitstore.ID) (Said, error) {
	kind, data, err := repo.ReadObject(ctx, id, maxSaid)
	if err != nil || kind != "commit" && kind != "tag" {
		return Said{}, err
	}
	said := Said{What: kind + " " + id.Short(), Text: string(data)}
	if target, ok := strings.CutPrefix(said.Text, "object "); ok && kind == "tag" {
		line, _, _ := strings.Cut(target, "\n")
		said.next = gitstore.ID(line)
	}
	return said, nil
}

// inPath finds secrets in the path of a file that is new or renamed.
func (sec *Secrets) inPath(f File, k kind) []reply.Finding {
	if !f.Named {
		return nil
	}
	var found []reply.Finding
	clean, _ := visible(f.Path)
	for _, m := range sec.scan(clean, secretScan{sureOnly: true}) {
		found = append(found, secretFinding(f, k, m, "the name of a file", clean[m.start:m.end], 0, 0))
	}
	return found
}

// inMessage finds secrets in a commit or a tag. The findings name the object in place of a file.
func (sec *Secrets) inMessage(said Said) []reply.Finding {
	if !mayHoldSecret(said.Text) {
		return nil
	}
	var found []reply.Finding
	clean, _ := visible(said.Text)
	header, _, _ := strings.Cut(clean, "\n\n")
	for _, m := range sec.scan(clean, secretScan{sureOnly: true}) {
		where := "message"
		if m.start < len(header) {
			where = "header"
		}
		if m.strength == allowed {
			found = append(found, allowedFinding("", 0, m.rule.ID, "the "+where+" of "+said.What))
			continue
		}
		found = append(found, reply.Finding{
			Severity: reply.Critical, Rule: record.RuleSecret,
			Issue: fmt.Sprintf("a secret is in the %s of %s: %s%s", where, said.What, m.rule.ID, hint(clean[m.start:m.end])),
			Fix: "make it again without the secret (git commit --amend --reset-author, git rebase -i, git tag -f) and revoke " +
				"the secret; " +
				"if it is not a secret, end the line with " + allowWord + ", which the review notes",
		})
	}
	return found
}

// first describes the first secret in said that is not allowed, or returns "".
func (sec *Secrets) first(said Said) string {
	for _, f := range sec.inMessage(said) {
		if f.Severity != reply.Note {
			return fmt.Sprintf("%s %s", f.Severity, f.Issue)
		}
	}
	return ""
}

// OfMessage describes the first secret in the message or the header of a commit, or returns "".
func (sec *Secrets) OfMessage(ctx context.Context, repo *gitstore.Repo, commit gitstore.ID) (string, error) {
	said, err := ReadSaid(ctx, repo, commit)
	return sec.first(said), err
}

// OfTag describes the first secret in a tag, or in a tag that it points to. It returns "" if id is not a tag.
func (sec *Secrets) OfTag(ctx context.Context, repo *gitstore.Repo, id gitstore.ID) (string, error) {
	for {
		said, err := ReadSaid(ctx, repo, id)
		if err != nil || said.next == "" {
			return "", err
		}
		if secret := sec.first(said); secret != "" {
			return secret, nil
		}
		id = said.next
	}
}

// maxBlob is the maximum size in bytes of a file whose whole content is searched for secrets.
const maxBlob = 16 << 20

// hiddenSecrets searches the whole of a file whose lines the diff does not show: binary files, texts that git treats as
// binary, and files with too many lines. It returns the secrets that only the new content has. The error is ErrTooLarge
// if the new content is larger than maxBlob.
func (r Reviewer) hiddenSecrets(ctx context.Context, f File) (found []reply.Finding, err error) {
	if !f.Binary && !f.Cut || f.Deleted || f.ID == "" {
		return nil, ctx.Err()
	}
	_, data, err := r.Repo.ReadObject(ctx, gitstore.ID(f.ID), maxBlob)
	if err != nil {
		return nil, err
	}
	matches, before := r.Secrets.inData(ctx, data), map[string]secretMatch{}
	if len(matches) > 0 && !f.New {
		_, old, err := r.Repo.ReadObject(ctx, gitstore.ID(f.OldID), maxBlob)
		if err != nil && !errors.Is(err, gitstore.ErrTooLarge) {
			return nil, err
		}
		before = r.Secrets.inData(ctx, old)
	}
	for secret, m := range matches {
		if _, was := before[secret]; !was {
			found = append(found, secretFinding(f, kindOf(f), m, "the change", secret, 0, 0))
		}
	}
	return found, ctx.Err()
}

// inData returns the secrets in data, by their text. It searches twice: once with every NUL byte as a line end,
// and once without NUL bytes, for UTF-16.
func (sec *Secrets) inData(ctx context.Context, data []byte) map[string]secretMatch {
	found := map[string]secretMatch{}
	scan := secretScan{strict: true, ended: func() bool { return ctx.Err() != nil }}
	for _, instead := range []string{"\n", ""} {
		text := strings.ReplaceAll(string(data), "\x00", instead)
		for _, m := range sec.scan(text, scan) {
			found[text[m.start:m.end]] = m
		}
		if bytes.IndexByte(data, 0) < 0 {
			break
		}
	}
	return found
}
