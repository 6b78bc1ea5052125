package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// begun returns the row of a run or review, or a *NotFoundError if its beginning is not here and nobody refuses there.
func (idx *index) begun(of entity) (*row, error) {
	r, err := idx.find(of)
	if err != nil || r != nil && r.here() {
		return r, err
	}
	return r, notFound(of.kind, of.id)
}

// told runs read and reports the records that it found lost.
func (s *Store) told(idx *index, read func() error) error {
	known := len(idx.Damaged)
	err := read()
	s.tellDamage(idx.Damaged[known:])
	return err
}

func notFound(kind entityKind, id string) *record.NotFoundError {
	return &record.NotFoundError{What: kind.String(), ID: id}
}

// Review returns the review that typed names: by its id, a unique prefix or the end of one, "latest", or a commit or
// branch under review. If several fit a commit, the one that waits for somebody is preferred.
func (s *Store) Review(ctx context.Context, typed string) (record.Review, error) {
	st, err := s.named(ctx, kindReview, typed)
	return s.seen(st.review), s.orInstead(ctx, err, kindRun, typed)
}

// Run returns the run that typed names, as for Review; a commit names the run with that result or landing.
func (s *Store) Run(ctx context.Context, typed string) (record.Run, error) {
	st, err := s.named(ctx, kindRun, typed)
	if err != nil {
		return st.run, s.orInstead(ctx, err, kindReview, typed)
	}
	return s.shownRun(ctx, st.run)
}

// orInstead returns err, the result of looking for typed, or that typed names something of another kind.
func (s *Store) orInstead(ctx context.Context, err error, other entityKind, typed string) error {
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 || typed == record.Latest {
		return err
	}
	if st, otherErr := s.entityState(ctx, other, typed); otherErr == nil {
		id := cmp.Or(st.run.ID, st.review.ID)
		return &record.NotFoundError{What: missing.What, ID: id, Instead: other.String()}
	}
	return err
}

// ReviewByID is Review without commits and branches.
func (s *Store) ReviewByID(ctx context.Context, id string) (record.Review, error) {
	st, err := s.entityState(ctx, kindReview, id)
	return s.seen(st.review), err
}

// RunByID is Run without commits and branches.
func (s *Store) RunByID(ctx context.Context, id string) (record.Run, error) {
	st, err := s.entityState(ctx, kindRun, id)
	if err != nil {
		return st.run, err
	}
	return s.shownRun(ctx, st.run)
}

// ofTyped calls read with the index and the row of the run or review that typed names.
func (s *Store) ofTyped(ctx context.Context, kind entityKind, typed string, read func(*index, *row) error) error {
	return s.withIndex(ctx, func(idx *index) error {
		id, err := s.resolve(ctx, idx, kind, typed)
		if err != nil {
			return err
		}
		r, err := idx.begun(entity{kind, id})
		if err != nil {
			return err
		}
		return s.told(idx, func() error { return read(idx, r) })
	})
}

func (s *Store) entityState(ctx context.Context, kind entityKind, typed string) (st state, err error) {
	err = s.ofTyped(ctx, kind, typed, func(idx *index, r *row) (err error) {
		if s.Vouch != nil && kind == kindReview {
			st, err = s.vouchedState(ctx, idx, r)
			return err
		}
		st, err = s.stateOf(ctx, idx, r)
		s.complete(ctx, &st)
		return err
	})
	return st, err
}

// vouchedState folds a review from events of which Vouch knows who signed them.
func (s *Store) vouchedState(ctx context.Context, idx *index, r *row) (state, error) {
	st := state{kind: r.kind}
	events, err := s.readRow(ctx, idx, r.entity)
	if err != nil {
		return st, err
	}
	if err := s.Vouch(ctx, events); err != nil {
		return st, err
	}
	st.apply(events)
	s.complete(ctx, &st)
	return st, nil
}

// complete replaces a review whose request is not here by what is known of it, compared with the parent of its commit.
func (s *Store) complete(ctx context.Context, st *state) {
	if st.kind != kindReview || st.review.ID != "" {
		return
	}
	st.review = st.review.WithoutRequest()
	subject := &st.review.Request.Subject
	if commit, err := s.Repo.ReadCommit(ctx, subject.Commit); err == nil && len(commit.Parents) > 0 {
		subject.Base = commit.Parents[0]
	}
}

// vouched returns the lines as they are if only signed events take back what was signed: see Vouch.
func (s *Store) vouched(ctx context.Context, lines []record.ReviewSummary) ([]record.ReviewSummary, error) {
	if s.Vouch == nil {
		return lines, nil
	}
	var all []record.Event // verified together, which is quicker
	ends := make([]int, len(lines))
	for i, line := range lines {
		events, err := s.entityEvents(ctx, kindReview, line.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
		ends[i] = len(all)
	}
	if err := s.Vouch(ctx, all); err != nil {
		return nil, err
	}
	begin := 0
	for i, end := range ends {
		st := state{kind: kindReview}
		st.apply(all[begin:end])
		s.complete(ctx, &st)
		lines[i], begin = st.review.Summary(), end
	}
	return lines, nil
}

func (s *Store) entityEvents(ctx context.Context, kind entityKind, typed string) (events []record.Event, err error) {
	err = s.ofTyped(ctx, kind, typed, func(idx *index, r *row) (err error) {
		events, err = s.readRow(ctx, idx, r.entity)
		return err
	})
	return events, err
}

// RunEvents returns the events of one run in order, without redacted texts.
func (s *Store) RunEvents(ctx context.Context, id string) ([]record.Event, error) {
	events, err := s.entityEvents(ctx, kindRun, id)
	if err != nil || !slices.ContainsFunc(events, func(e record.Event) bool { return e.Review != "" }) {
		return events, err
	}
	return s.WithoutRedacted(ctx, events)
}

// ReviewEvents returns the events of one review in order, without redacted texts.
func (s *Store) ReviewEvents(ctx context.Context, id string) ([]record.Event, error) {
	events, err := s.entityEvents(ctx, kindReview, id)
	redacted := func(e record.Event) bool { return e.Type == record.EventReviewRedacted.Name }
	if err != nil || !slices.ContainsFunc(events, redacted) {
		return events, err
	}
	return s.WithoutRedacted(ctx, events)
}

// named returns the state of the run or review that typed names. If it names none, it may be a commit.
func (s *Store) named(ctx context.Context, kind entityKind, typed string) (state, error) {
	st, err := s.entityState(ctx, kind, typed)
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 || typed == record.Latest {
		return st, err
	}
	of, commitErr := s.ofCommit(ctx, typed)
	if commitErr != nil {
		return st, commitErr
	}
	of = slices.DeleteFunc(of, func(m record.Meant) bool { return m.What != missing.What })
	if len(of) == 0 {
		return st, err
	}
	return s.entityState(ctx, kind, s.inForce(typed, of))
}

// inForce chooses the run or review that a commit means, and tells the user about the others.
func (s *Store) inForce(typed string, of []record.Meant) string {
	chosen := newestInForce(of).ID
	others := each.Of(of, func(m record.Meant) string { return m.ID })
	others = slices.DeleteFunc(others, func(id string) bool { return id == chosen })
	if len(others) > 0 {
		s.tell("%s means %s, the newest; also of it: %s", typed, chosen, strings.Join(others[:min(len(others), 3)], ", "))
	}
	return chosen
}

// newestInForce returns the newest review that waits for somebody, else the newest entry that was not cancelled, else
// the newest. of must not be empty; the newest comes first.
func newestInForce(of []record.Meant) record.Meant {
	for _, fits := range []func(record.Meant) bool{
		func(m record.Meant) bool { return m.What == "review" && record.WaitingStatus(m.Status) },
		func(m record.Meant) bool { return m.Status != string(record.ReviewCancelled) },
	} {
		if m, found := each.First(of, fits); found {
			return m
		}
	}
	return of[0]
}

// resolve returns the full id that typed names in the index. If typed could be letters of a suffix and is also a commit
// or a branch, such as main, the commit is meant and resolve returns a *NotFoundError.
func (s *Store) resolve(ctx context.Context, idx *index, kind entityKind, typed string) (string, error) {
	id, err := idx.resolve(kind, typed, s.Now())
	missing := new(record.NotFoundError)
	fits := err == nil || errors.As(err, &missing) && len(missing.Among) > 0
	if fits && len(typed) < record.SuffixLength && strings.Trim(typed, record.IDAlphabet) == "" {
		if _, other := s.Repo.Resolve(ctx, typed); other == nil {
			err = notFound(kind, typed)
		}
	}
	return id, err
}

// ofCommit returns the reviews of a commit, and the runs with it as result or as landed commit, newest first. It
// returns none if typed is not a commit or looks like an id.
func (s *Store) ofCommit(ctx context.Context, typed string) (of []record.Meant, err error) {
	if typed == "" || looksLikeID(typed) {
		return nil, nil
	}
	commit, err := s.CommitNamed(ctx, typed)
	if err != nil {
		return nil, nil // not an error: the caller reports an unknown name
	}
	err = s.withIndex(ctx, func(idx *index) error {
		entries, err := idx.marked(map[string]bool{string(commit): true}, nil, kindReview, kindRun)
		if err != nil {
			return err
		}
		of, err = meant(slices.DeleteFunc(rowsOf(entries), func(r row) bool { return !r.begun() || !isOf(&r, commit) }),
			s.Now())
		return err
	})
	return of, err
}

// CommitNamed returns the commit that typed names. It need not be in this clone if typed is its id, or at least
// fewestDigits of it, and a run or a review is of it.
func (s *Store) CommitNamed(ctx context.Context, typed string) (gitstore.ID, error) {
	commit, unknown := s.Repo.Resolve(ctx, typed)
	if unknown == nil || len(typed) < fewestDigits || strings.Trim(typed, "0123456789abcdef") != "" {
		return commit, unknown
	}
	err := s.withIndex(ctx, func(idx *index) error {
		commit = ""
		return idx.scan([]byte{shelfRun, shelfWaiting, shelfClosed}, func(r *row) error {
			summary, err := r.entry.Part(partSummary)
			hexIDs(summary, func(digits []byte) {
				id := gitstore.ID(digits)
				if !strings.HasPrefix(string(id), typed) || id == commit || !isOf(r, id) {
					return
				}
				if commit != "" {
					err = unknown // it may be either of them
				}
				commit = id
			})
			return err
		})
	})
	if err != nil || commit == "" {
		return "", cmp.Or(err, unknown)
	}
	return commit, nil
}

// fewestDigits is the minimum number of digits of a commit's id that find it although the commit is not here. Git shows
// no fewer.
const fewestDigits = 7

// looksLikeID reports whether typed begins like an id, so that it cannot be anything else.
func looksLikeID(typed string) bool {
	stamp, _, found := strings.Cut(typed, "-")
	return found && len(stamp) == len(record.IDTime) && strings.Trim(stamp, "0123456789") == ""
}

// isOf reports whether commit is a review's commit, or a run's result or landed commit.
func isOf(r *row, commit gitstore.ID) bool {
	if r.kind == kindReview {
		line, err := loadLine[record.ReviewSummary](r)
		return err == nil && (line.Commit == commit || line.At() == commit)
	}
	line, err := loadLine[record.RunSummary](r)
	return err == nil && (line.Commit == commit || line.LandedAs != nil && line.LandedAs.Commit == commit)
}

// ShortIDs returns the unique suffixes of ids that have one.
func (s *Store) ShortIDs(ids []string) (short map[string]string) {
	_ = s.withIndex(context.Background(), func(idx *index) (err error) { // if it fails, only the short form is lost
		short, err = idx.short(ids)
		return err
	})
	return short
}

func (idx *index) short(ids []string) (map[string]string, error) {
	short := map[string]string{}
	for _, id := range ids {
		_, suffix, _ := strings.Cut(id, "-")
		runs, runErr := idx.fitting(kindRun, suffix)
		reviews, err := idx.fitting(kindReview, suffix)
		if err := errors.Join(runErr, err); err != nil {
			return nil, err
		}
		if found := append(runs, reviews...); len(found) == 1 && found[0].id == id {
			short[id] = suffix
		}
	}
	return short, nil
}

// RunOrReview returns the run or the review that typed names; the other is nil. "latest" names what was begun last; the
// review that a run asked for is part of the run.
func (s *Store) RunOrReview(ctx context.Context, typed string) (*record.Run, *record.Review, error) {
	run, err := s.RunByID(ctx, typed)
	if err == nil && typed == record.Latest {
		review, err := s.ReviewByID(ctx, typed)
		if err == nil && review.Request.Run == "" && review.CreatedAt.After(run.CreatedAt) {
			return nil, &review, nil
		}
	}
	if err == nil {
		return &run, nil, nil
	}
	if !record.Unknown(err) {
		return nil, nil, err
	}
	review, err := s.ReviewByID(ctx, typed)
	if !record.Unknown(err) {
		return nil, &review, err
	}
	missing := new(record.NotFoundError)
	errors.As(err, &missing)
	of, err := s.ofCommit(ctx, typed)
	if err != nil {
		return nil, nil, err
	}
	if len(of) == 0 {
		return nil, nil, &record.NotFoundError{What: "run or review", ID: typed, Where: missing.Where}
	}
	return s.RunOrReview(ctx, s.inForce(typed, of))
}

// RunsOf returns the ids of the runs that address a review.
func (s *Store) RunsOf(ctx context.Context, review string) (map[string]bool, error) {
	events, err := s.ReviewEvents(ctx, review)
	ids := map[string]bool{}
	for _, e := range events {
		if e.Run != "" {
			ids[e.Run] = true
		}
	}
	return ids, err
}
