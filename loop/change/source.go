package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
)

// Source is where changes are found.
type Source struct {
	Repo *gitstore.Repo   // required
	Now  func() time.Time // required
}

// Subject is the change that spec names: a commit against its first parent, or a
// range A..B or A...B: what B did since it left A, whatever A did meanwhile.
func (s Source) Subject(ctx context.Context, spec string) (Subject, error) {
	subject, err := s.SubjectOn(ctx, spec, "")
	if err == nil {
		subject.Branch, err = s.branchOf(ctx, spec, subject.Commit)
	}
	return subject, err
}

// SubjectOn is Subject for a caller that knows the branch of the change.
func (s Source) SubjectOn(ctx context.Context, spec, branch string) (Subject, error) {
	from, to, err := s.Repo.Range(ctx, spec)
	if err != nil {
		if _, headErr := s.Repo.Head(ctx); errors.Is(headErr, gitstore.ErrUnborn) {
			err = headErr // whatever was named: there is nothing here yet
		}
		return Subject{}, err
	}
	commit, err := s.Repo.ReadCommit(ctx, to)
	if err != nil {
		return Subject{}, err
	}
	subject := Subject{Kind: Commit, Spec: spec, Base: from, Commit: to, Tree: to, Title: title(commit.Message),
		Author: commit.Author.String()}
	if strings.Contains(spec, "..") {
		subject.Kind = Range
		if subject.Base, err = s.Repo.MergeBase(ctx, from, to); err != nil {
			return Subject{}, fmt.Errorf("review %s: %w", spec, err)
		}
	}
	subject.Branch = branch
	return subject, nil
}

// branchOf returns the branch that spec, which ends at commit, is about: the one that it names, here or at a remote,
// else the one that HEAD stands on if that contains commit, else "".
func (s Source) branchOf(ctx context.Context, spec string, commit gitstore.ID) (string, error) {
	if _, right, ok := strings.Cut(spec, ".."); ok {
		spec = strings.TrimPrefix(right, ".")
	}
	name, suffix := spec, ""
	if end := strings.IndexAny(spec, "~^@:"); end >= 0 {
		name, suffix = spec[:end], spec[end:]
	}
	if name == "HEAD" || spec == "" || spec == "@" {
		return s.Branch(ctx)
	}
	for _, prefix := range []string{"refs/heads/", "refs/remotes/"} {
		short := strings.TrimPrefix(name, prefix)
		if gitstore.CheckBranch(short) != nil {
			continue
		}
		id, err := s.Repo.Ref(ctx, prefix+short)
		if err != nil {
			return "", err
		}
		if id == "" || suffix == "" && id != commit { // spec names something else, such as a tag
			continue
		}
		for _, remote := range s.Repo.Remotes() {
			if rest, ok := strings.CutPrefix(short, remote+"/"); ok && prefix == "refs/remotes/" {
				return rest, nil
			}
		}
		return short, nil
	}
	head, err := s.Repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) { // nothing is on HEAD's branch
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if on, err := s.Repo.IsAncestor(ctx, commit, head); err != nil || !on {
		return "", err
	}
	return s.Branch(ctx)
}

// HeadSubject is the commit that HEAD names. It reads objects and no more, for it is on the hook's path.
func (s Source) HeadSubject(ctx context.Context) (Subject, error) {
	head, err := s.Repo.Head(ctx)
	if err != nil {
		return Subject{}, err
	}
	commit, err := s.Repo.ReadCommit(ctx, head)
	if err != nil {
		return Subject{}, err
	}
	subject := Subject{Kind: Commit, Spec: "HEAD", Commit: head, Tree: head, Title: title(commit.Message),
		Author: commit.Author.String()}
	if len(commit.Parents) > 0 {
		subject.Base = commit.Parents[0]
	} else {
		subject.Base = s.Repo.EmptyTreeID()
	}
	subject.Branch, err = s.Branch(ctx)
	return subject, err
}

// Branch is the name of the branch that HEAD stands on, such as main; "" when HEAD is detached.
func (s Source) Branch(ctx context.Context) (string, error) {
	ref, err := s.Repo.Branch(ctx)
	return strings.TrimPrefix(ref, "refs/heads/"), err
}

// title is the first line of a commit message.
func title(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return strings.TrimSpace(line)
}

// WorkingSubject is what the working tree, or what is staged in it, adds to HEAD,
// recorded as a commit of its own that no branch holds.
func (s Source) WorkingSubject(ctx context.Context, kind Kind) (Subject, error) {
	tree, err := s.Repo.Checkout()
	if err != nil {
		return Subject{}, err
	}
	subject := Subject{Kind: kind, Spec: "--" + string(kind)}
	read := tree.NormalTree
	if kind == Staged {
		read = tree.IndexTree
	}
	id, err := read(ctx)
	if err != nil {
		return subject, fmt.Errorf("record the %s changes: %w", kind, err)
	}
	if subject.Base, err = s.Repo.HeadOrEmpty(ctx); err != nil {
		return subject, err
	}
	if subject.Branch, err = s.Branch(ctx); err != nil {
		return subject, err
	}
	subject.Title = string(kind) + " changes"
	subject.Tree, err = s.KeepTree(ctx, id, subject.Base, subject.Title)
	return subject, err
}

// KeepTree is a commit of tree on base, which may be the empty tree.
func (s Source) KeepTree(ctx context.Context, tree, base gitstore.ID, message string) (gitstore.ID, error) {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return "", err
	}
	now := s.Now()
	commit := gitstore.Commit{Tree: tree, Author: author, Committer: author, AuthorWhen: now, CommitterWhen: now,
		Message: strings.TrimRight(message, "\n") + "\n"}
	if _, err := s.Repo.ReadCommit(ctx, base); err == nil {
		commit.Parents = []gitstore.ID{base}
	}
	return s.Repo.WriteCommit(ctx, commit)
}

// ErrNoSubject says that nothing of what a request may mean is what it wants.
var ErrNoSubject = errors.New("no files found matching the provided paths")

// ChooseSubject is the first thing that a request without a revision may mean for
// which fits holds: what the working tree adds to HEAD, what the newest commit did,
// and all files as HEAD has them. fits may narrow it. ErrNoSubject when it fits none.
func (s Source) ChooseSubject(ctx context.Context, fits func(*Subject) (bool, error)) (Subject, error) {
	for _, candidate := range []func(context.Context) (Subject, error){s.workingSubject, s.commitSubject, s.wholeSubject} {
		subject, err := candidate(ctx)
		if err != nil {
			return subject, err
		}
		if subject.Tree == "" {
			continue
		}
		if ok, err := fits(&subject); ok || err != nil {
			return subject, err
		}
	}
	return Subject{}, ErrNoSubject
}

// workingSubject is what the working tree adds to HEAD; the zero Subject when that is nothing.
func (s Source) workingSubject(ctx context.Context) (Subject, error) {
	if s.Repo.WorkTree == "" {
		return Subject{}, nil
	}
	subject, err := s.WorkingSubject(ctx, Worktree)
	if err != nil {
		return subject, err
	}
	changed, err := s.Repo.Changed(ctx, subject.Base, subject.Tree)
	if len(changed) == 0 {
		return Subject{}, err
	}
	return subject, err
}

func (s Source) commitSubject(ctx context.Context) (Subject, error) { return s.Subject(ctx, "HEAD") }

// wholeSubject is all files as HEAD has them, for files that nobody changed.
func (s Source) wholeSubject(ctx context.Context) (Subject, error) {
	subject, err := s.commitSubject(ctx)
	if err != nil {
		return subject, err
	}
	subject.Base = s.Repo.EmptyTreeID()
	subject.Kind, subject.Title = Range, "whole files at: "+subject.Title
	return subject, err
}

// ComparedWith is the commit or tree that the files of subject are compared with: its
// base, but for a merge commit what git makes of the parents by itself.
func (s Source) ComparedWith(ctx context.Context, subject Subject) (gitstore.ID, error) {
	if merge, err := s.IsMerge(ctx, subject); err != nil || !merge {
		return subject.Base, err
	}
	return s.Repo.Remerge(ctx, subject.Commit)
}

// ChangeID names what subject changes: see gitstore.ChangeIDs. It is "" where that cannot be read here.
func (s Source) ChangeID(ctx context.Context, subject Subject) string {
	from, err := s.ComparedWith(ctx, subject)
	if err != nil {
		return ""
	}
	ids, err := s.Repo.ChangeIDs(ctx, []gitstore.Span{{From: from, To: subject.Tree}}, subject.Paths...)
	if err != nil {
		return ""
	}
	return ids[0]
}

// IsMerge reports whether subject is a merge commit.
func (s Source) IsMerge(ctx context.Context, subject Subject) (bool, error) {
	if subject.Kind != Commit || subject.Commit == "" {
		return false, nil
	}
	commit, err := s.Repo.ReadCommit(ctx, subject.Commit)
	return len(commit.Parents) > 1, err
}

// AddMessages fills in the messages of the commits under review: whether a change does what its message says cannot be
// judged from a title. Commits that are not here are left out, as the change itself will be.
func (s Source) AddMessages(ctx context.Context, subject *Subject) {
	subject.Messages, subject.MoreCommits = nil, 0
	switch _, err := s.Repo.ReadCommit(ctx, subject.Base); {
	case subject.Kind == Commit:
		if text := s.CommitText(ctx, subject.Commit); strings.TrimSpace(text) != subject.Title {
			subject.addMessage(subject.Commit, text)
		}
	case subject.Kind == Range && err == nil:
		commits, _ := s.Repo.Commits(ctx, subject.Base, subject.Commit, 0)
		subject.MoreCommits = max(0, len(commits)-maxMessages)
		for _, c := range slices.Backward(commits[:min(len(commits), maxMessages)]) {
			subject.addMessage(c.ID, c.Message)
		}
	}
	for i := range subject.Messages {
		m := &subject.Messages[i]
		m.Text = prose.CutMiddle(m.Text, min(MaxMessageBytes, max(maxMessagesText/len(subject.Messages), 200)))
	}
}

// CommitText is what the commit says, in UTF-8; "" when it is not here. It asks git only
// where the message is in another encoding: the hook waits for it.
func (s Source) CommitText(ctx context.Context, id gitstore.ID) string {
	commit, err := s.Repo.ReadCommit(ctx, id)
	if err == nil && commit.Encoding != "" {
		if listed, err := s.Repo.Commits(ctx, "", id, 1); err == nil && len(listed) == 1 {
			return listed[0].Message
		}
	}
	return commit.Message
}
