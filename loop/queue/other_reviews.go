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

// Limits of what a reviewer's prompt says about other reviews.
const (
	knownFindings = 20  // of each kind
	knownBytes    = 600 // of the text of one finding
	knownReviews  = 50  // that are searched
)

// addOtherReviews adds to the prompt what other reviews know: everything from the review that this one follows, to be
// checked again; open findings of other reviews in the changed files, not to be raised again; and what the change was
// made to fix. It skips what cannot be read, because the review is possible without it. The built-in reviewer does not
// use it.
func (w *Worker) addOtherReviews(ctx context.Context, review record.Review, change reviewing.Change,
	p *reviewing.ReviewPrompt) {
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
	p.Known = w.gather(ctx, store.Filter{Status: record.WaitingStatus, ByNeed: true, Limit: knownReviews, Some: true,
		Review: here}, open)
	if subject.Commit != "" {
		fixes := func(r record.ReviewSummary) bool { return slices.Contains(r.FixedBy, subject.Commit) }
		fixed := func(r record.Review) []reply.Finding {
			return slices.DeleteFunc(r.Findings(), func(f reply.Finding) bool {
				answer, _ := r.AnswerTo(f.ID)
				return answer.Kind != record.AnswerFixed || answer.Commit != subject.Commit
			})
		}
		p.Fixes = w.gather(ctx, store.Filter{Limit: knownReviews, Some: true,
			Mention: map[string]bool{string(subject.Commit): true}, Review: fixes}, fixed)
	}
}

// gather returns the findings that of selects from the reviews that match filter.
func (w *Worker) gather(ctx context.Context, filter store.Filter,
	of func(record.Review) []reply.Finding) []reply.Finding {
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

// shortened limits the number and length of findings from other reviews.
func shortened(findings []reply.Finding) []reply.Finding {
	findings = slices.Clone(findings[:min(len(findings), knownFindings)])
	for i := range findings {
		findings[i].Issue = prose.CutMiddle(findings[i].Issue, knownBytes)
		findings[i].Fix = prose.CutMiddle(findings[i].Fix, knownBytes)
	}
	return findings
}

// placedIn moves findings of a review to their places in tree, where these are known.
func placedIn(ctx context.Context, s *store.Store, review record.Review, findings []reply.Finding,
	tree gitstore.ID) []reply.Finding {
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
