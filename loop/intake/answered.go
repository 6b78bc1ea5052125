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
	return find(ctx, s, request, counts, func(review record.Review) bool {
		outcome := review.Summary().Outcome
		return outcome != "" && outcome != record.OutcomeNothing && answersAll(review, checks, skipped)
	})
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
	to, err := s.AudienceOf(ctx, request)
	if err != nil {
		return record.Review{}, false, err
	}
	return find(ctx, s, request, isOpen, func(review record.Review) bool {
		return s.Repo.Audience(review.Writer) == to && len(review.Submissions) == 0 &&
			slices.Equal(review.Request.People, request.People)
	})
}

// find returns the newest review of this clone that no run requested, has a status, fits, and asks the same as request
// about the same change.
func find(ctx context.Context, s *store.Store, request record.ReviewRequest, status func(string) bool,
	fits func(record.Review) bool) (_ record.Review, ok bool, err error) {
	subject := request.Subject
	lines, _, err := s.Reviews(ctx, store.Filter{Status: status, Mention: map[string]bool{string(subject.Commit): true},
		Review: func(r record.ReviewSummary) bool {
			return r.Run == "" && s.Repo.Owns(r.Writer) && r.At() == subject.Commit && r.Kind == subject.Kind
		}})
	for _, line := range lines {
		review, err := s.Review(ctx, line.ID)
		if err != nil {
			return review, false, err
		}
		if fits(review) && asksTheSame(ctx, s, review.Request, request) {
			return review, true, nil
		}
	}
	return record.Review{}, false, err
}

// isOpen reports whether nobody has answered a review with status.
func isOpen(status string) bool { return status == string(record.ReviewOpen) }

// asksTheSame reports whether two requests about one commit have the same question and the same change.
func asksTheSame(ctx context.Context, s *store.Store, a, b record.ReviewRequest) bool {
	if !slices.Equal(a.Reviewers(), b.Reviewers()) || a.Message != b.Message || a.Panel != b.Panel ||
		a.NoChecks != b.NoChecks || !slices.Equal(a.Subject.Paths, b.Subject.Paths) {
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
