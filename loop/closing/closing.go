// Package closing ends reviews that need nobody any more: what passed without notes, what is
// answered to the last finding, what a newer review took the place of, and what a run fixed
// once that has landed.
package closing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Rule says whether reviews end by themselves: the values of inbox.auto_resolve.
type Rule string

const (
	OnPass Rule = "pass"  // those that need nobody any more
	Never  Rule = "never" // none
)

// Close ends what needs nobody any more once something was submitted to review or answered
// in it: review itself where it passed without notes, or where all that it found is answered,
// and older reviews in whose place it comes. Who holds a review ends it, so a claimed one is
// left alone unless its holder gave the last answer. It gives review as it is then; doing it
// twice, or in two clones, is doing it once.
//
// A run's own review is left to the run.
func Close(ctx context.Context, s *store.Store, review record.Review, how Rule) (record.Review, error) {
	if how != OnPass || len(review.Submissions) == 0 || review.Request.Run != "" {
		return review, nil
	}
	if err := supersede(ctx, s, review); err != nil {
		return review, err
	}
	why := whyDone(review)
	if why == "" {
		return review, nil
	}
	if carried, err := s.Carried(ctx, review); err != nil || len(carried) > 0 {
		return review, err
	}
	quiet := len(review.Findings()) == 0 // the verdict says it
	return end(ctx, s, review, record.Hold{Actor: record.Itself, Force: answeredByHolder(review), Quiet: quiet}, why)
}

// Supersede ends a review in whose place a later round of its conversation comes, whoever holds it: what it found goes on there.
func Supersede(ctx context.Context, s *store.Store, earlier, later record.Review) error {
	_, err := end(ctx, s, earlier, record.Hold{Actor: record.Itself, Force: true}, record.ByRound+later.ID)
	return err
}

// end closes a review that by may close: a request that nobody answered is cancelled, any
// other resolved. One that is closed, or that somebody else has, stays as it is.
func end(ctx context.Context, s *store.Store, review record.Review, by record.Hold, note string) (record.Review, error) {
	if !review.ClosedAt.IsZero() {
		return review, nil
	}
	var ended record.Review
	var err error
	if review.Status == record.ReviewOpen {
		ended, err = s.CancelReview(ctx, review.ID, by.Actor, note)
	} else {
		ended, err = s.ResolveReview(ctx, review.ID, by, note)
	}
	if state := new(record.StateError); errors.As(err, &state) {
		return review, nil
	}
	return ended, err
}

// answeredByHolder reports whether a claimed review's newest answer is its holder's.
func answeredByHolder(review record.Review) bool {
	n := len(review.Answers)
	return review.Claim != nil && n > 0 && review.Answers[n-1].Actor == review.Claim.By
}

// whyDone says why nobody is needed for a review any more; "" while somebody is. A verdict
// that does not pass is met finding by finding: where it asks for more than its findings
// say, where not all was seen, and where somebody is still to answer, a person must look.
func whyDone(review record.Review) string {
	if people, _ := review.BackTo(); !review.Complete() || len(review.Open()) > 0 || len(people) > 0 {
		return ""
	}
	for _, sub := range review.Standing() {
		if asksMore(sub) {
			return ""
		}
	}
	without := ""
	if absent := review.Absent(); len(absent) > 0 {
		without = "; without " + strings.Join(absent, ", ")
	}
	switch {
	case len(review.Findings()) > 0:
		return "every finding is answered: " + answersText(review) + without
	case review.Outcome() == record.OutcomeNothing:
		return "there was nothing to review" + without
	}
	if review.Looked() == record.LookedRules {
		return record.FoundNothingNote + without
	}
	return "passed without notes" + without
}

// asksMore reports whether a submission wants something that answers to its findings do
// not settle.
func asksMore(sub record.Submission) bool {
	findings := sub.Findings()
	failing := slices.ContainsFunc(sub.Checks, func(c record.CheckResult) bool {
		return c.Fails() && !slices.ContainsFunc(findings, func(f reply.Finding) bool { return f.Rule == record.RuleOfCheck+c.Name })
	})
	switch {
	case failing || len(reply.RequestsBeside(sub.Requests(), findings)) > 0:
		return true
	case sub.Outcome == record.OutcomeNothing:
		return false
	case sub.Outcome == record.OutcomePassed:
		return len(findings) == 0 && sub.Report.Effective == reply.PassWithNotes
	}
	return sub.Outcome == record.OutcomePartial || len(findings) == 0
}

// answersText counts the newest answers by their words: "1 claimed fixed, 2 fixed, 1 refuted".
func answersText(review record.Review) string {
	counts, words := map[string]int{}, []string{}
	for _, f := range review.Findings() {
		answer, _ := review.AnswerTo(f.ID)
		if counts[answer.Word()]++; counts[answer.Word()] == 1 {
			words = append(words, answer.Word())
		}
	}
	slices.Sort(words)
	parts := make([]string, len(words))
	for i, word := range words {
		parts[i] = fmt.Sprintf("%d %s", counts[word], prose.OneLine(word))
	}
	return strings.Join(parts, ", ")
}

// supersede ends the older reviews of what review is of, and that whose code it looks at
// again: one change has one entry in the inbox.
func supersede(ctx context.Context, s *store.Store, review record.Review) error {
	follows, subject := review.Request.Follows, review.Request.Subject
	filter := store.Filter{Status: record.WaitingStatus, Review: func(r record.ReviewSummary) bool {
		begun := cmp.Or(cmp.Compare(r.Clock, review.Clock), strings.Compare(r.ID, review.ID))
		return r.ID == follows || (r.At() == subject.Commit || replacedBy(r.Moves, subject.Commit)) && begun < 0 && r.Run == ""
	}}
	if subject.Commit != "" { // else it is of files as they were, and any other may be of the same
		filter.Mention = map[string]bool{string(subject.Commit): true, follows: true}
	}
	older, _, err := s.Reviews(ctx, filter)
	if err != nil {
		return err
	}
	for _, line := range older {
		old, err := s.Review(ctx, line.ID)
		if err != nil {
			return err
		}
		again := old.ID == follows
		if !again && asksNoMore(old, review) {
			if again, err = sameChange(ctx, s, old, subject); err != nil {
				return err
			}
		}
		if again && !old.Reopened {
			if _, err := end(ctx, s, old, record.Hold{Actor: record.Itself}, record.ByRound+review.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameChange reports whether b is of what review is of: of the same content, or of the commit that
// took the place of the one that review saw, which no branch holds any more.
func sameChange(ctx context.Context, s *store.Store, review record.Review, b record.Subject) (bool, error) {
	if !replacedBy(review.Moves, b.Commit) {
		return sameContent(ctx, s, review, b)
	}
	gone, err := s.Repo.Unreachable(ctx, []gitstore.ID{review.At()})
	return len(gone) > 0, err
}

// replacedBy reports whether a commit with other content took the place of the one that was reviewed.
func replacedBy(moves []record.Move, commit gitstore.ID) bool {
	return slices.ContainsFunc(moves, func(m record.Move) bool { return m.State == record.MoveStale && m.To == commit })
}

// sameContent reports whether a review is of the same change of the same files as b, made
// by the same commit; one that was carried to that commit is. What was recorded of a working
// tree is a commit of its own each time.
func sameContent(ctx context.Context, s *store.Store, review record.Review, b record.Subject) (bool, error) {
	a, carried := review.Request.Subject, review.At() != review.Request.Subject.Commit
	if review.At() != b.Commit || !slices.Equal(slices.Sorted(slices.Values(a.Paths)), slices.Sorted(slices.Values(b.Paths))) {
		return false, nil
	}
	switch {
	case carried:
		return a.Kind == b.Kind, nil
	case a.Base != b.Base:
		return false, nil
	case a.Tree == b.Tree:
		return true, nil
	}
	treeA, err := s.Repo.TreeOf(ctx, a.Tree)
	if err != nil {
		return false, gitstore.IgnoreNotFound(err)
	}
	treeB, err := s.Repo.TreeOf(ctx, b.Tree)
	return err == nil && treeA == treeB, gitstore.IgnoreNotFound(err)
}

// asksNoMore reports whether nothing of an older review is lost when newer takes its place:
// whoever is to answer it, and whoever found something in it that is open, has answered newer. Of
// people each answers for himself.
func asksNoMore(old, newer record.Review) bool {
	if old.Request.Kind != newer.Request.Kind {
		return false
	}
	waiting, said := newer.Waiting(), newer.Standing()
	answered := func(name string) bool {
		return slices.Contains(newer.Request.Reviewers(), name) && !slices.Contains(waiting, name)
	}
	for _, name := range old.Waiting() {
		if !answered(name) {
			return false
		}
	}
	open := old.Open()
	for _, sub := range old.Standing() {
		again := answered(sub.Reviewer)
		if sub.Decision != "" { // another person's word does not take this one's back, nor do comments a verdict
			again = slices.ContainsFunc(said, func(s record.Submission) bool {
				return s.Reviewer == sub.Reviewer && (s.Outcome != record.OutcomeCommented || sub.Outcome == record.OutcomeCommented)
			})
		}
		findings := sub.Findings()
		isOpen := func(f reply.Finding) bool {
			return slices.ContainsFunc(open, func(o reply.Finding) bool { return o.ID == f.ID })
		}
		if (asksMore(sub) || slices.ContainsFunc(findings, isOpen)) && !again {
			return false
		}
	}
	return true
}

// fixedBy begins the note of a review that a run has fixed.
func fixedBy(run record.Run) string { return "fixed by run " + run.ID }

// CloseFixed ends the review that a run addressed and has fixed, once that has landed: what
// the run said it fixed then names the commit that landed. A run of a part of it ends it where
// nobody is needed for the rest.
func CloseFixed(ctx context.Context, s *store.Store, run record.Run) error {
	review, err := reviewOf(ctx, s, run)
	if err != nil || review.ID == "" || !review.ClosedAt.IsZero() {
		return err
	}
	if review, err = moveAnswers(ctx, s, review, run.Commit, run.Landed.Commit); err != nil || !record.NothingInTheWay(run.Result) || run.Plan.Part && whyDone(review) == "" {
		return err
	}
	_, err = end(ctx, s, review, record.Hold{Actor: record.Itself}, fixedBy(run)+", landed as "+run.Landed.Commit.Short())
	return err
}

// ReopenFixed takes CloseFixed back, when the landing is: landed is what the run's work
// was on its branch.
func ReopenFixed(ctx context.Context, s *store.Store, run record.Run, landed gitstore.ID) error {
	review, err := reviewOf(ctx, s, run)
	if err != nil || review.ID == "" {
		return err
	}
	if review.Status == record.ReviewResolved && review.ResolvedBy == record.Itself && strings.HasPrefix(review.Note, fixedBy(run)) {
		if review, err = s.ReopenReview(ctx, review.ID, record.Itself); err != nil {
			return err
		}
	}
	_, err = moveAnswers(ctx, s, review, landed, run.Commit)
	return err
}

// reviewOf is the review that a run addresses; the zero Review where there is none here.
func reviewOf(ctx context.Context, s *store.Store, run record.Run) (record.Review, error) {
	if run.Plan.FromReview == "" {
		return record.Review{}, nil
	}
	review, err := s.Review(ctx, run.Plan.FromReview)
	if err != nil {
		return record.Review{}, gitstore.IgnoreNotFound(err)
	}
	return review, nil
}

// moveAnswers says of what was fixed by one commit that another one did. A review that is
// closed, or that somebody else has, stays as it is.
func moveAnswers(ctx context.Context, s *store.Store, review record.Review, from, to gitstore.ID) (record.Review, error) {
	if from == to || !review.ClosedAt.IsZero() {
		return review, nil
	}
	for _, f := range review.Findings() {
		answer, _ := review.AnswerTo(f.ID)
		if answer.Kind != record.AnswerFixed || answer.Commit != from {
			continue
		}
		answer.Commit = to
		moved, err := s.AnswerFinding(ctx, review.ID, answer, false)
		if state := new(record.StateError); errors.As(err, &state) {
			return review, nil
		}
		if err != nil {
			return review, err
		}
		review = moved
	}
	return review, nil
}

// SettleAsked closes the review that run asked people for, once nobody needs an answer
// to it any more. Somebody may have closed it before.
func SettleAsked(ctx context.Context, s *store.Store, run record.Run, note string) error {
	if run.Asked == nil {
		return nil
	}
	review, err := s.Review(ctx, run.Asked.Review)
	if err != nil || !review.ClosedAt.IsZero() {
		return err
	}
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	_, err = end(ctx, s, review, record.Hold{Actor: author.String(), Force: true}, note)
	return err
}
