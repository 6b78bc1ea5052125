// Package closing closes reviews that need nobody any more: those that passed without notes, whose findings are all
// answered, that a newer review supersedes, or that a landed run fixed.
package closing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Rule says whether reviews close automatically: the values of inbox.auto_resolve.
type Rule string

const (
	OnPass Rule = "pass"  // those that need nobody any more
	Never  Rule = "never" // none
)

// Close closes reviews that need nobody any more after a submission to review or an answer in it: review itself if it
// passed without notes or all its findings are answered, and older reviews that it supersedes. Only the holder closes a
// claimed review, so Close leaves one alone unless its holder gave the last answer. It returns the review's new state.
// Calling it twice, or in two clones, has the effect of one call.
//
// Close leaves a run's own review to the run.
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
	by := record.Hold{Actor: record.Itself, Quiet: len(review.Findings()) == 0} // then the verdict says it
	if n := len(review.Answers); review.Claim != nil && n > 0 {
		by.Force = record.SameActor(review.Answers[n-1].Actor, review.Claim.By)
	}
	return end(ctx, s, review, by, why)
}

// Supersede ends a review, whoever holds it, because later, a later round of its conversation, continues with its
// findings.
func Supersede(ctx context.Context, s *store.Store, earlier, later record.Review) error {
	_, err := end(ctx, s, earlier, record.Hold{Actor: record.Itself, Force: true}, record.ByRound+later.ID)
	return err
}

// end closes a review on behalf of by: it cancels a request without an answer and resolves any other. It leaves a
// review as it is if it is closed or somebody else holds it.
func end(ctx context.Context, s *store.Store, review record.Review, by record.Hold,
	note string) (record.Review, error) {
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

// whyDone returns why a review needs nobody any more, or "" if it does. If a verdict did not pass, every finding needs
// an answer. A person must look if the verdict asks for more than its findings, if not everything was seen, or if
// somebody has not answered yet.
func whyDone(review record.Review) string {
	if people, _ := review.BackTo(); !review.Complete() || len(review.Open()) > 0 || len(people) > 0 {
		return ""
	}
	without := ""
	for _, sub := range review.Standing() {
		switch {
		case sub.Report.Unreadable() && len(review.Approvers()) > 0: // a person has answered it
			without += "; what " + sub.Reviewer + " answered could not be read"
		case asksMore(sub):
			return ""
		}
	}
	if absent := review.Absent(); len(absent) > 0 {
		without += "; without " + strings.Join(absent, ", ")
	}
	switch {
	case len(review.Findings()) > 0:
		deferred := ""
		if review.Outcome() == record.OutcomeFailed && review.Summary().Open > 0 { // see lineage.Coverage
			deferred = "; what is deferred still holds the change back"
		}
		return record.AnsweredNote + ": " + answersText(review) + deferred + without
	case review.Outcome() == record.OutcomeNothing:
		last := review.Submissions[len(review.Submissions)-1]
		if len(last.Census.LeftOut) > 0 {
			return "nothing of it was shown" + without
		}
		return "there was nothing to review" + without
	case review.Looked() == record.LookedRules:
		return record.FoundNothingNote + without
	}
	if review.Summary().ByAuthor() {
		without = ", by its author alone" + without
	}
	return record.PassedNote + without
}

// asksMore reports whether a submission asks for something that answers to its findings do not settle.
func asksMore(sub record.Submission) bool {
	findings := sub.Findings()
	failing := slices.ContainsFunc(sub.Checks, func(c record.CheckResult) bool {
		return c.Fails() && !slices.ContainsFunc(findings, func(f reply.Finding) bool {
			return f.Rule == record.RuleOfCheck+c.Name
		})
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

// answersText counts the newest answers by kind: "1 claimed fixed, 2 fixed, 1 refuted".
func answersText(review record.Review) string {
	counts := map[string]int{}
	for _, f := range review.Findings() {
		answer, _ := review.AnswerTo(f.ID)
		counts[answer.Word()]++
	}
	parts := each.Of(each.Keys(counts), func(word string) string {
		return fmt.Sprintf("%d %s", counts[word], prose.OneLine(word))
	})
	return strings.Join(parts, ", ")
}

// supersede closes the older reviews of the same change, and the review that this one follows: one change has one entry
// in the inbox. It keeps reviews of other shared audiences, which do not see this one's answer.
func supersede(ctx context.Context, s *store.Store, review record.Review) error {
	follows, subject := review.Request.Follows, review.Request.Subject
	mine := s.Repo.Audience(review.Writer)
	filter := store.Filter{Status: record.WaitingStatus, Review: func(r record.ReviewSummary) bool {
		if theirs := s.Repo.Audience(r.Writer); theirs != mine && !theirs.Private {
			return false
		}
		begun := cmp.Or(cmp.Compare(r.Clock, review.Clock), strings.Compare(r.ID, review.ID))
		return r.ID == follows || (r.At() == subject.Commit || replacedBy(r.Moves, subject.Commit)) && begun < 0 &&
			r.Run == ""
	}}
	if subject.Commit != "" { // without a commit, any review may be of the same files
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

// SupersededBy returns the newer review that closed review by its answer, or the zero Review.
func SupersededBy(ctx context.Context, s *store.Store, review record.Review) (record.Review, error) {
	id, ok := strings.CutPrefix(review.Note, record.ByRound)
	if !ok || !record.ValidID(id) || review.ClosedAt.IsZero() { // a person may write a note as well
		return record.Review{}, nil
	}
	newer, err := s.Review(ctx, id)
	if errors.As(err, new(*record.NotFoundError)) {
		return record.Review{}, nil
	}
	return newer, err
}

// sameChange reports whether b is the change that review examined: it has the same content, or its commit replaced the
// reviewed one, which no branch contains any more.
func sameChange(ctx context.Context, s *store.Store, review record.Review, b record.Subject) (bool, error) {
	if !replacedBy(review.Moves, b.Commit) {
		return sameContent(ctx, s, review, b)
	}
	gone, err := s.Repo.Unreachable(ctx, []gitstore.ID{review.At()})
	return len(gone) > 0, err
}

// replacedBy reports whether commit replaced the reviewed commit with other content.
func replacedBy(moves []record.Move, commit gitstore.ID) bool {
	return slices.ContainsFunc(moves, func(m record.Move) bool { return m.State == record.MoveStale && m.To == commit })
}

// sameContent reports whether a review examined the same change of the same files as b, made by the same commit or
// carried to it. Each snapshot of a working tree is a commit of its own.
func sameContent(ctx context.Context, s *store.Store, review record.Review, b record.Subject) (bool, error) {
	a, carried := review.Request.Subject, review.At() != review.Request.Subject.Commit
	if review.At() != b.Commit || !slices.Equal(slices.Sorted(slices.Values(a.Paths)),
		slices.Sorted(slices.Values(b.Paths))) {
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

// asksNoMore reports whether nothing is lost when newer replaces old: everybody who has not answered old, or has
// findings in it that are open or whose answers they have to confirm, has answered newer. No person answers for another
// one.
func asksNoMore(old, newer record.Review) bool {
	if old.Request.Kind != newer.Request.Kind ||
		slices.ContainsFunc(old.Request.People, func(p string) bool { return !newer.Request.Asks(p) }) {
		return false
	}
	waiting, said := newer.Waiting(), newer.Standing()
	answered := func(name string) bool {
		return slices.Contains(newer.Request.Reviewers(), name) && !slices.Contains(waiting, name)
	}
	if slices.ContainsFunc(old.Waiting(), func(name string) bool { return !answered(name) }) {
		return false
	}
	open := old.Open()
	backTo, _ := old.BackTo()
	for _, sub := range old.Standing() {
		again := answered(sub.Reviewer)
		if sub.Decision != "" { // a person's verdict needs a new verdict of the same person; comments do not replace it
			again = slices.ContainsFunc(said, func(s record.Submission) bool {
				return record.SameActor(s.Reviewer, sub.Reviewer) &&
					(s.Outcome != record.OutcomeCommented || sub.Outcome == record.OutcomeCommented)
			})
		}
		findings := sub.Findings()
		isOpen := func(f reply.Finding) bool {
			return slices.ContainsFunc(open, func(o reply.Finding) bool { return o.ID == f.ID })
		}
		asks := asksMore(sub) || slices.Contains(backTo, sub.Reviewer) || slices.ContainsFunc(findings, isOpen)
		if asks && !again {
			return false
		}
	}
	return true
}

// fixedBy returns the beginning of the note of a review that a run has fixed.
func fixedBy(run record.Run) string { return "fixed by run " + run.ID }

// CloseFixed closes the review that a run addressed and fixed, once the run has landed. The run's answers then name
// the landed commit. A run of a part of the review closes it only if nobody is needed for the rest, and a review
// waits for a person who asked for changes, or said since that a finding is still there.
func CloseFixed(ctx context.Context, s *store.Store, run record.Run) error {
	review, err := reviewOf(ctx, s, run)
	if err != nil || review.ID == "" || !review.ClosedAt.IsZero() {
		return err
	}
	landed := func(a record.Answer) record.Answer { a.Commit = run.Landed.Commit; return a }
	if review, err = answerAgain(ctx, s, review, run, run.Commit, landed); err != nil ||
		!record.NothingInTheWay(run.Result) || run.Plan.Part && whyDone(review) == "" ||
		review.Summary().Unconfirmed > 0 || saidOpen(review) {
		return err
	}
	_, err = end(ctx, s, review, record.Hold{Actor: record.Itself}, fixedBy(run)+", "+run.Landed.Words())
	return err
}

// saidOpen reports whether somebody answered that a finding is still there.
func saidOpen(review record.Review) bool {
	return slices.ContainsFunc(review.Findings(), func(f reply.Finding) bool {
		answer, _ := review.AnswerTo(f.ID)
		return answer.Kind == record.AnswerOpen
	})
}

// ReopenFixed reverses CloseFixed when a landing is undone, and says that what it fixed is open again. landed is the
// run's result on the branch.
func ReopenFixed(ctx context.Context, s *store.Store, run record.Run, landed gitstore.ID) error {
	review, err := reviewOf(ctx, s, run)
	if err != nil || review.ID == "" {
		return err
	}
	if review.Status == record.ReviewResolved && review.ResolvedBy == record.Itself &&
		strings.HasPrefix(review.Note, fixedBy(run)) {
		if review, err = s.ReopenReview(ctx, review.ID, record.Itself); err != nil {
			return err
		}
	}
	_, err = answerAgain(ctx, s, review, run, landed, func(a record.Answer) record.Answer {
		return record.Answer{Finding: a.Finding, Kind: record.AnswerOpen, Reason: undone(run), Actor: record.Itself}
	})
	return err
}

// undone is the reason why a finding that a run fixed is open again.
func undone(run record.Run) string { return "the landing of run " + run.ID + " was undone" }

// reviewOf returns the review that a run addresses, or the zero Review if this clone has none.
func reviewOf(ctx context.Context, s *store.Store, run record.Run) (record.Review, error) {
	if run.Plan.FromReview == "" {
		return record.Review{}, nil
	}
	review, err := s.Review(ctx, run.Plan.FromReview)
	return review, gitstore.IgnoreNotFound(err)
}

// answerAgain replaces the answers of run that name commit as the fix, and those that its undone landing took back. It
// leaves a review as it is if it is closed or somebody else holds it.
func answerAgain(ctx context.Context, s *store.Store, review record.Review, run record.Run, commit gitstore.ID,
	as func(record.Answer) record.Answer) (record.Review, error) {
	if !review.ClosedAt.IsZero() {
		return review, nil
	}
	for _, f := range review.Findings() {
		newest, _ := review.AnswerTo(f.ID)
		fix, found := fixOf(review.AnswersTo(f.ID), run, commit)
		answer := as(fix)
		nowhere := answer.Kind == record.AnswerFixed && answer.Commit == "" // it landed as no commit
		if !found || nowhere || answer.Kind == newest.Kind && answer.Commit == newest.Commit {
			continue
		}
		answered, err := s.AnswerFinding(ctx, review.ID, answer, false)
		if state := new(record.StateError); errors.As(err, &state) {
			return review, nil
		}
		if err != nil {
			return review, err
		}
		review = answered
	}
	return review, nil
}

// fixOf returns the newest of answers to a finding if it names commit as the fix, or the one that the undone landing of
// run took back.
func fixOf(answers []record.Answer, run record.Run, commit gitstore.ID) (fix record.Answer, found bool) {
	n := len(answers)
	if n == 0 {
		return fix, false
	}
	newest := answers[n-1]
	if n > 1 && newest.Kind == record.AnswerOpen && newest.Actor == record.Itself && newest.Reason == undone(run) {
		return answers[n-2], answers[n-2].Kind == record.AnswerFixed
	}
	return newest, newest.Kind == record.AnswerFixed && newest.Commit == commit
}

// SettleAsked closes the review that run requested from people, once nobody needs an answer to it. It may be closed
// already.
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
