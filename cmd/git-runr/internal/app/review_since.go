package app

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

type sinceJSON struct {
	ID      string        `json:"review_id"` // the newest round
	Since   time.Time     `json:"since,omitzero"`
	Seen    string        `json:"seen_review_id,omitempty"` // the round that this person last looked at or answered
	Commits []newCommit   `json:"commits"`                  // since that round, on top of its code
	Changed *store.Since  `json:"changed,omitempty"`        // since that round, if its code was rewritten
	News    []record.News `json:"news"`
}

type newCommit struct {
	Commit gitstore.ID `json:"commit"`
	Title  string      `json:"title"`
}

// sinceMine shows what is new in a conversation since this person last looked at it in this clone or said something
// in it, and records that they have looked now.
func (s *session) sinceMine(records *store.Store) error {
	review, err := s.reviewOf(records)
	if err != nil {
		return err
	}
	rounds, err := records.Conversation(s.ctx, review)
	if err != nil {
		return err
	}
	me, err := s.person(records)
	if err != nil {
		return err
	}
	newest := rounds[len(rounds)-1]
	doc, seen := sinceJSON{ID: newest.ID, Commits: []newCommit{}, News: []record.News{}}, record.Review{}
	for _, r := range rounds {
		looked, err := records.Looked(r.ID)
		if err != nil {
			return err
		}
		_, said := r.News(me, looked)
		if said.After(looked) {
			looked = said
		}
		if !looked.IsZero() && !looked.Before(doc.Since) {
			doc.Since, doc.Seen, seen = looked, r.ID, r
		}
	}
	for _, r := range rounds {
		news, _ := r.News(me, doc.Since)
		doc.News = append(doc.News, news...)
	}
	if err := s.newCode(records, rounds, seen, &doc); err != nil {
		return err
	}
	if err := records.Look(newest); err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) { writeSince(w, doc) })
}

// reviewOf returns the review that the argument names. For a branch it returns the newest review of that branch, and
// without an argument that of the current branch.
func (s *session) reviewOf(records *store.Store) (review record.Review, err error) {
	branch, err := records.Branch(s.ctx)
	if name := s.arg(""); name != "" {
		branch, err = s.branchNamed(records, name)
		if err != nil || branch == "" {
			return records.Review(s.ctx, name)
		}
	}
	if err != nil {
		return review, err
	}
	if branch == "" {
		return review, exit.Problemf(exit.Usage, "HEAD is detached: name a branch or a review").
			WithHint("git runr review --since-mine BRANCH")
	}
	lines, _, err := records.Reviews(s.ctx,
		store.Filter{Review: func(r record.ReviewSummary) bool { return r.Branch == branch && r.Run == "" }})
	if err != nil {
		return review, err
	}
	if len(lines) == 0 {
		return review, exit.Problemf(exit.NotFound, "branch %q has no reviews", branch)
	}
	newest := slices.MaxFunc(lines, func(a, b record.ReviewSummary) int { return cmp.Compare(a.Clock, b.Clock) })
	return records.Review(s.ctx, newest.ID)
}

// branchNamed returns the branch that name or REMOTE/name denotes, here or at a remote as last fetched, or "".
func (s *session) branchNamed(records *store.Store, name string) (branch string, err error) {
	refs, err := records.Repo.Refs(s.ctx, "refs/heads/", "refs/remotes/")
	for ref := range refs {
		switch known := store.BranchOf(ref); {
		case known == name:
			return name, nil
		case ref == "refs/remotes/"+name:
			branch = known
		}
	}
	return branch, err
}

// newCode adds to doc what changed in the code since the round that was seen: new commits, or a rewrite by the
// author. What this clone has checked out does not matter.
func (s *session) newCode(records *store.Store, rounds record.Conversation, seen record.Review, doc *sinceJSON) error {
	if seen.ID == "" {
		return nil
	}
	now, err := lineage.Newest(s.ctx, records, rounds)
	if errors.Is(err, gitstore.ErrUnborn) { // a repository that has only the records has no code to compare
		return nil
	}
	if err != nil {
		return gitstore.IgnoreNotFound(err)
	}
	was := seen.Request.Subject
	if was.Commit != "" && now.Commit != "" {
		if older, err := records.Repo.IsAncestor(s.ctx, now.Commit, was.Commit); err == nil && older {
			return nil
		}
		onTop, err := records.Repo.IsAncestor(s.ctx, was.Commit, now.Commit)
		if err == nil && onTop {
			commits, err := records.Repo.Commits(s.ctx, was.Commit, now.Commit, 0)
			doc.Commits = each.Of(commits, func(c gitstore.LoggedCommit) newCommit { return newCommit{c.ID, c.Subject} })
			return err
		}
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			return err
		}
	}
	since, err := records.Since(s.ctx, was, now)
	if err == nil {
		doc.Changed = &since
	}
	return gitstore.IgnoreNotFound(err)
}

func writeSince(w io.Writer, doc sinceJSON) {
	if doc.Seen == "" {
		safetext.Fprintf(w, "Review %s: you have not looked at it here, or commented. All of it is new to you:\n", doc.ID)
		safetext.Fprintf(w, "  git runr show %s\n", doc.ID)
	} else {
		safetext.Fprintf(w, "Review %s since %s:\n", doc.ID, screen.Time(doc.Since))
		screen.When(w, doc.Seen != doc.ID, "  asked again: git runr show %s\n", doc.ID)
	}
	for _, c := range doc.Commits {
		safetext.Fprintf(w, "  new commit %s %s\n", c.Commit.Short(), c.Title)
	}
	if c := doc.Changed; c != nil && c.Files > 0 {
		safetext.Fprintf(w, "  %s: git diff %s %s\n", c, c.From.Short(), c.To.Short())
	}
	for _, n := range doc.News {
		safetext.Fprintf(w, "  %s\n", strings.TrimSpace(n.By+": "+n.What+" "+n.Finding))
		screen.When(w, n.Text != "", "%s\n", render.Indented(n.Text))
	}
	if doc.Seen == doc.ID && len(doc.Commits)+len(doc.News) == 0 && (doc.Changed == nil || doc.Changed.Files == 0) {
		safetext.Fprintf(w, "  nothing new\n")
	}
}
