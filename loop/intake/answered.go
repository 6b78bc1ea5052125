package intake

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Answered finds the newest review in this clone in which the requested agents have answered the same question about
// the same change, with checks run and without skipped. ok is false if there is none and they must be asked.
func Answered(
	ctx context.Context, s *store.Store, request record.ReviewRequest, checks []runplan.Check, skipped []string,
) (_ record.Review, ok bool, err error) {
	subject := request.Subject
	if subject.Commit == "" || slices.Contains(request.Reviewers(), record.Human) { // people may change their minds
		return record.Review{}, false, nil
	}
	counts := func(status string) bool { return status != string(record.ReviewCancelled) }
	answered := func(r record.ReviewSummary) bool {
		own := r.Run == "" && s.Repo.Owns(r.Writer)
		return own && r.At() == subject.Commit && r.Kind == subject.Kind && r.Outcome != "" &&
			r.Outcome != record.OutcomeNothing
	}
	named := map[string]bool{string(subject.Commit): true}
	lines, _, err := s.Reviews(ctx, store.Filter{Status: counts, Mention: named, Review: answered})
	for _, line := range lines {
		review, err := s.Review(ctx, line.ID)
		if err != nil {
			return review, false, err
		}
		if asksTheSame(ctx, s, review.Request, request) && answersAll(review, checks, skipped) {
			return review, true, nil
		}
	}
	return record.Review{}, false, err
}

// Request records a request, unless one of this clone asks people the same about the same change, for the same
// audience, and nobody has answered it: then it returns that one, and known is true.
func Request(ctx context.Context, s *store.Store, request record.ReviewRequest,
	source string) (made record.Review, known bool, err error) {
	if made, known, err = waiting(ctx, s, request); known || err != nil {
		return made, known, err
	}
	made, err = s.RequestReview(ctx, request, source)
	return made, false, err
}

func waiting(ctx context.Context, s *store.Store, request record.ReviewRequest) (_ record.Review, ok bool, err error) {
	subject := request.Subject
	if subject.Commit == "" || request.Follows != "" || !slices.Contains(request.Reviewers(), record.Human) {
		return record.Review{}, false, nil
	}
	lines, _, err := s.Reviews(ctx, store.Filter{
		Status:  func(status string) bool { return status == string(record.ReviewOpen) },
		Mention: map[string]bool{string(subject.Commit): true},
		Review: func(r record.ReviewSummary) bool {
			return r.Run == "" && s.Repo.Owns(r.Writer) && r.At() == subject.Commit && r.Kind == subject.Kind
		},
	})
	if err != nil || len(lines) == 0 {
		return record.Review{}, false, err
	}
	to, err := s.AudienceOf(ctx, request)
	if err != nil {
		return record.Review{}, false, err
	}
	for _, line := range lines {
		if s.Repo.Audience(line.Writer) != to {
			continue
		}
		review, err := s.Review(ctx, line.ID)
		if err != nil {
			return review, false, err
		}
		if len(review.Submissions) == 0 && slices.Equal(review.Request.People, request.People) &&
			asksTheSame(ctx, s, review.Request, request) {
			return review, true, nil
		}
	}
	return record.Review{}, false, nil
}

// asksTheSame reports whether two requests about one commit have the same question and the same change.
func asksTheSame(ctx context.Context, s *store.Store, a, b record.ReviewRequest) bool {
	if !slices.Equal(a.Reviewers(), b.Reviewers()) || a.Message != b.Message || a.Panel != b.Panel ||
		a.NoChecks != b.NoChecks ||
		!slices.Equal(a.Subject.Paths, b.Subject.Paths) {
		return false
	}
	if a.Subject.Commit == b.Subject.Commit {
		return a.Subject.Base == b.Subject.Base
	}
	id := s.ChangeID(ctx, a.Subject)
	return id != "" && id == s.ChangeID(ctx, b.Subject)
}

// answersAll reports whether everybody gave a readable answer to review, with these checks and without excluded files:
// what is excluded may have changed.
func answersAll(review record.Review, checks []runplan.Check, skipped []string) bool {
	lacks := func(sub record.Submission) bool {
		notRun := func(check runplan.Check) bool {
			return !slices.ContainsFunc(sub.Checks, func(c record.CheckResult) bool {
				return c.Name == check.Name && c.Command == check.Command && c.NotRun == ""
			})
		}
		return sub.Report.Unreadable() || sub.Census.Left(record.LeftExcluded) != "" ||
			!slices.Equal(sub.SkippedBy, skipped) || slices.ContainsFunc(checks, notRun)
	}
	return len(review.Waiting()) == 0 && !slices.ContainsFunc(review.Standing(), lacks)
}
