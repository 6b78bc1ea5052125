package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/record"
)

// personReview returns a review, requested from people, of a commit with files.
func personReview(t *testing.T, s *Store, files map[string]string) record.Review {
	t.Helper()
	ctx := context.Background()
	dir := s.Repo.WorkTree
	for name, text := range files {
		if err := safefile.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	subject, err := s.WorkingSubject(ctx, record.SubjectWorktree)
	if err != nil {
		t.Fatal(err)
	}
	review, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	return review
}

func addDraft(t *testing.T, s *Store, review, actor string, texts ...string) Draft {
	t.Helper()
	d, err := s.EditDraft(context.Background(), review, actor, func(d *Draft) error {
		for _, text := range texts {
			d.Add(record.Comment{Comment: text})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func texts(comments []record.Comment) string {
	var all []string
	for _, c := range comments {
		all = append(all, c.Comment)
	}
	return strings.Join(all, ", ")
}

func TestDraftLastsUntilItIsSubmitted(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	addDraft(t, s, review.ID, "ann", "one", "two")
	addDraft(t, s, review.ID, "bob", "his")
	again := NewStore(s.Repo, s.Now) // another process
	d, err := again.Draft(review, "ann")
	if err != nil || texts(d.Comments) != "one, two" {
		t.Fatalf("draft %+v, %v", d, err)
	}
	review, err = again.SubmitPerson(ctx, review.ID,
		record.Person{Actor: "ann", Decision: record.RequestChanges, Comments: d.Comments})
	if err != nil || texts(review.Comments()) != "one, two" || review.Outcome() != record.OutcomeFailed {
		t.Fatalf("submitted %+v, %v", review, err)
	}
	if d, err = s.Draft(review, "ann"); err != nil || len(d.Comments) > 0 {
		t.Errorf("ann's draft after it was submitted: %+v, %v", d, err)
	}
	if d, err = s.Draft(review, "bob"); err != nil || texts(d.Comments) != "his" {
		t.Errorf("bob's draft: %+v, %v", d, err)
	}
}

func TestDraftOfAKilledSubmitDoesNotComeBack(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	d := addDraft(t, s, review.ID, "ann", "one")
	if _, err := s.EditDraft(ctx, review.ID, "ann", func(d *Draft) error {
		d.Message = "on the whole"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p := record.Person{Actor: "ann", Decision: record.CommentOnly, Comments: d.Comments, Message: "on the whole"}
	review, err := s.SubmitReview(ctx, review.ID, p.Submission(review), "") // the process ends here
	if err != nil {
		t.Fatal(err)
	}
	if d, err = s.Draft(review, "ann"); err != nil || len(d.Comments) > 0 || d.Message != "" {
		t.Errorf("draft %+v, %v", d, err)
	}
	if d = addDraft(t, s, review.ID, "ann", "one"); texts(d.Comments) != "one" ||
		d.Comments[0].ID == review.Comments()[0].ID {
		t.Errorf("the same comment once more: %+v", d)
	}
}

func TestDraftKeepsWhatWasAddedDuringASubmit(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	sent := addDraft(t, s, review.ID, "ann", "one").Comments
	addDraft(t, s, review.ID, "ann", "meanwhile")
	review, err := s.SubmitPerson(ctx, review.ID, record.Person{Actor: "ann", Comments: sent})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Draft(review, "ann"); err != nil || texts(d.Comments) != "meanwhile" {
		t.Errorf("draft %+v, %v", d, err)
	}
}

func TestDraftIsBounded(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	addDraft(t, s, review.ID, "ann", "one")
	_, err := s.EditDraft(ctx, review.ID, "ann", func(d *Draft) error {
		d.Add(record.Comment{Comment: strings.Repeat("x", maxDraft)})
		return nil
	})
	if !errors.Is(err, ErrDraftFull) {
		t.Errorf("a draft above the limit: %v", err)
	}
	if d, err := s.Draft(review, "ann"); err != nil || texts(d.Comments) != "one" {
		t.Errorf("draft %+v, %v", d, err)
	}
}

func TestDraftEdits(t *testing.T) {
	var d Draft
	d.taken = map[string]bool{}
	one, two := d.Add(record.Comment{Comment: "same"}), d.Add(record.Comment{Comment: "same"})
	if one.ID == two.ID || !comment.IsID(one.ID) || !comment.IsID(two.ID) {
		t.Fatalf("ids %q, %q", one.ID, two.ID)
	}
	if d.Set(two.ID, "other") != nil || d.Set("c-0000000000", "x") == nil || d.Remove(one.ID) != nil ||
		d.Remove(one.ID) == nil || texts(d.Comments) != "other" {
		t.Errorf("draft %+v", d)
	}
	if three := d.Add(record.Comment{Comment: "same"}); three.ID == one.ID {
		t.Errorf("the id of a comment that was taken back is given again")
	}
}

func TestSubmissionWithAKeyIsRecordedOnce(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	p := record.Person{Actor: "ann", Decision: record.Approve, Key: "k1"}
	for range 2 {
		var err error
		if review, err = s.SubmitPerson(ctx, review.ID, p); err != nil || len(review.Submissions) != 1 {
			t.Fatalf("%d submissions, %v", len(review.Submissions), err)
		}
	}
	p.Actor = "bob"
	if review, err := s.SubmitPerson(ctx, review.ID, p); err != nil || len(review.Submissions) != 2 {
		t.Errorf("%d submissions, %v: another's key is another", len(review.Submissions), err)
	}
}

func TestPersonMustSaySomething(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	for _, p := range []record.Person{
		{Actor: "ann"}, {Actor: "ann", Decision: record.CommentOnly, Message: " \n"},
		{Actor: "ann", Decision: "maybe", Message: "x"},
		{Message: "x"}, {Actor: " ", Message: "x"}, {Actor: "a\nb", Message: "x"}, {Actor: "\xff", Message: "x"},
		{Actor: strings.Repeat("a", 301), Message: "x"}, {Actor: "ann", Comments: []record.Comment{{}}},
	} {
		input := new(record.InputError)
		if _, err := s.SubmitPerson(ctx, review.ID, p); !errors.As(err, &input) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, d := range []record.Decision{record.Approve, record.RequestChanges} {
		if _, err := s.SubmitPerson(ctx, review.ID, record.Person{Actor: "ann", Decision: d}); err != nil {
			t.Errorf("%s alone: %v", d, err)
		}
	}
}

func TestAnswerNeedsForceAgainstAHolder(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	review := personReview(t, s, nil)
	review, err := s.SubmitPerson(ctx, review.ID,
		record.Person{Actor: "ann", Comments: []record.Comment{{Comment: "one"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.ClaimReview(ctx, review.ID, record.Hold{Actor: "bob"}); err != nil {
		t.Fatal(err)
	}
	answer := record.Answer{Finding: review.Comments()[0].ID, Kind: record.AnswerDeferred, Actor: "eve"}
	state := new(record.StateError)
	if _, err = s.AnswerFinding(ctx, review.ID, answer, false); !errors.As(err, &state) || state.Holder != "bob" {
		t.Errorf("answered although bob holds it: %v", err)
	}
	if review, err = s.AnswerFinding(ctx, review.ID, answer, true); err != nil || len(review.Answers) != 1 ||
		len(review.Lost) > 0 {
		t.Errorf("forced: %+v, %v", review, err)
	}
	if review, err = s.Review(ctx, review.ID); err != nil || len(review.Answers) != 1 || len(review.Lost) > 0 {
		t.Errorf("read again: %+v, %v", review, err)
	}
}

func TestListsHideOnlyWhatWasClosedBefore(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	var ids []string
	for range 3 {
		ids = append(ids, personReview(t, s, nil).ID)
	}
	early, err := s.CancelReview(ctx, ids[0], "ann", "")
	if err != nil {
		t.Fatal(err)
	}
	late, err := s.CancelReview(ctx, ids[1], "ann", "")
	if err != nil {
		t.Fatal(err)
	}
	for since, want := range map[time.Time]int{{}: 3, early.ClosedAt: 3, late.ClosedAt: 2,
		late.ClosedAt.Add(time.Millisecond): 1} {
		found, total, err := s.Reviews(ctx, Filter{ClosedSince: since})
		if err != nil || total != want || len(found) != want {
			t.Errorf("since %v: %d of %d, %v; want %d", since, len(found), total, err, want)
		}
	}
}
