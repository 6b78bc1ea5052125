package queue

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Bounds of what a reviewer is told of other reviews.
const (
	knownFindings = 20  // of each kind
	knownBytes    = 600 // of the words of one
	knownReviews  = 50  // that are looked into
)

// addOtherReviews tells a reviewer what other reviews know: of the one that it follows everything,
// to be checked again; the open findings of others in the files of the change, not to be
// raised again; and what the change was made to fix. What cannot be read is not told: a
// review without it is a review. The built-in reviewer has no use for it.
func (w *Worker) addOtherReviews(ctx context.Context, review record.Review, change reviewing.Change, p *reviewing.ReviewPrompt) {
	if !slices.ContainsFunc(review.Request.Reviewers(), func(name string) bool { return !role.Reserved(name) }) {
		return
	}
	subject, s := review.Request.Subject, w.Store
	if follows := review.Request.Follows; follows != "" {
		if before, err := s.Review(ctx, follows); err == nil {
			p.Previous = shortened(placedIn(ctx, s, before, before.Open(), subject.Tree))
			for _, sub := range before.Standing() {
				p.Said = append(p.Said, sub.Words())
			}
			reply.BoundWords(p.Said)
		}
	}
	here := func(r record.ReviewSummary) bool {
		return r.ID != review.ID && r.ID != review.Request.Follows && r.Run == "" && r.Critical+r.Warnings+r.Notes > 0 &&
			slices.ContainsFunc(r.Files, func(file string) bool { return slices.Contains(change.Files, file) })
	}
	open := func(r record.Review) []reply.Finding {
		found := slices.DeleteFunc(r.Open(), func(f reply.Finding) bool { return !slices.Contains(change.Files, f.File) })
		return placedIn(ctx, s, r, found, subject.Tree)
	}
	p.Known = w.gather(ctx, store.Filter{Status: record.WaitingStatus, ByNeed: true, Limit: knownReviews, Some: true, Review: here}, open)
	if subject.Commit != "" {
		fixes := func(r record.ReviewSummary) bool { return slices.Contains(r.FixedBy, subject.Commit) }
		fixed := func(r record.Review) []reply.Finding { return fixedIn(r, subject.Commit) }
		p.Fixes = w.gather(ctx, store.Filter{Limit: knownReviews, Some: true, Mention: map[string]bool{string(subject.Commit): true}, Review: fixes}, fixed)
	}
}

// gather is what of picks out of the reviews that a filter fits.
func (w *Worker) gather(ctx context.Context, filter store.Filter, of func(record.Review) []reply.Finding) []reply.Finding {
	lines, _, err := w.Store.Reviews(ctx, filter)
	if err != nil {
		return nil
	}
	var all []reply.Finding
	for _, line := range lines {
		if other, err := w.Store.Review(ctx, line.ID); err == nil && len(all) < knownFindings {
			all = append(all, of(other)...)
		}
	}
	return shortened(all)
}

// fixedIn are the findings that a commit is said to have fixed.
func fixedIn(r record.Review, commit gitstore.ID) []reply.Finding {
	return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool {
		answer, _ := r.AnswerTo(f.ID)
		return answer.Kind != record.AnswerFixed || answer.Commit != commit
	})
}

// shortened bounds findings of others.
func shortened(findings []reply.Finding) []reply.Finding {
	findings = slices.Clone(findings[:min(len(findings), knownFindings)])
	for i := range findings {
		findings[i].Issue = prose.CutMiddle(findings[i].Issue, knownBytes)
		findings[i].Fix = prose.CutMiddle(findings[i].Fix, knownBytes)
	}
	return findings
}

// placedIn gives findings of a review the places that they have in a tree, as far as those
// are known.
func placedIn(ctx context.Context, s *store.Store, review record.Review, findings []reply.Finding, tree gitstore.ID) []reply.Finding {
	findings = slices.Clone(findings[:min(len(findings), knownFindings)])
	for i := range findings {
		f := &findings[i]
		placed, err := reviewing.PlaceFinding(ctx, s, review, *f, tree)
		if err == nil && placed != nil && !placed.Outdated && f.Line > 0 {
			f.File, f.Line, f.EndLine = placed.File, placed.StartLine, placed.EndLine
		}
	}
	return findings
}
