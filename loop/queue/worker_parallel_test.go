package queue

import (
	"context"
	"github.com/git-runr/git-runr/loop/checking"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// meeting is a reviewer that answers when want calls run at the same time, and records the largest number of
// concurrent calls.
type meeting struct {
	want int

	mu        sync.Mutex
	now, most int
	calls     int
	met       chan struct{}
}

func newMeeting(want int) *meeting { return &meeting{want: want, met: make(chan struct{})} }

func (*meeting) Limits() role.Limits { return role.Limits{} }
func (*meeting) NeedsCheckout() bool { return false }

func (m *meeting) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	m.count(1)
	defer m.count(-1)
	select {
	case <-m.met:
		time.Sleep(5 * time.Millisecond) // time for calls that should not come
	case <-ctx.Done():
		return role.ReviewAnswer{}, ctx.Err()
	}
	return fixedReviewer{reply.Pass}.Review(ctx, job)
}

func (m *meeting) count(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now += n; n > 0 {
		m.calls++
	}
	m.most = max(m.most, m.now)
	if m.now == m.want && n > 0 && m.most == m.want {
		select {
		case <-m.met:
		default:
			close(m.met)
		}
	}
}

// asked returns a store with that many requests to reviewers.
func asked(t *testing.T, requests int, reviewers ...string) *store.Store {
	t.Helper()
	s, ctx := runtest.NewStore(t), t.Context()
	s.Now = time.Now // used by several goroutines
	request := record.ReviewRequest{Reviewer: reviewers[0], Others: reviewers[1:]}
	err := safefile.WriteFile(s.Repo.WorkTree+"/a.go", []byte("one\n"), 0o644)
	if err == nil {
		request.Subject, err = s.WorkingSubject(ctx, record.SubjectWorktree)
	}
	for range requests {
		if err == nil {
			_, err = s.RequestReview(ctx, request, "cli")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func meetingWorker(s *store.Store, m *meeting, parallel int) *Worker {
	return &Worker{Store: s, Progress: checking.Quiet{}, Parallel: parallel,
		Reviewer: func(string) (role.Reviewer, *record.Failure) { return m, nil }}
}

// onceEach checks that every review has one answer of each reviewer.
func onceEach(t *testing.T, s *store.Store, reviewers int) {
	t.Helper()
	reviews, _, err := s.Reviews(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reviews {
		review, err := s.Review(t.Context(), r.ID)
		if err != nil || len(review.Submissions) != reviewers || len(review.Waiting()) > 0 || len(review.Lost) > 0 {
			t.Errorf("%s: %d submissions, waiting for %v, lost %v, %v", r.ID, len(review.Submissions), review.Waiting(),
				review.Lost, err)
		}
	}
}

func TestWorkSideBySide(t *testing.T) {
	for name, c := range map[string]struct {
		requests, workers int
		reviewers         []string
	}{
		"several reviews":                {8, 1, []string{"a"}},
		"several reviewers of one":       {1, 1, []string{"a", "b", "c"}},
		"several workers":                {8, 3, []string{"a"}},
		"workers of reviews of several":  {4, 2, []string{"a", "b", "c"}},
		"more reviewers than places":     {1, 1, []string{"a", "b", "c", "d", "e"}},
		"more workers than there are of": {1, 5, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked(t, c.requests, c.reviewers...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			m := newMeeting(3)
			var all sync.WaitGroup
			for range c.workers {
				all.Go(func() {
					if _, err := meetingWorker(s, m, 3).Work(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			onceEach(t, s, len(c.reviewers))
			if want := c.requests * len(c.reviewers); m.most != 3 || m.calls != want {
				t.Errorf("%d at once, %d calls, want 3 and %d", m.most, m.calls, want)
			}
		})
	}
}

// Of two hook requests for one change, the second waits for the answer to the first, whichever worker takes it, and
// is withdrawn if that answer covers both.
func TestWorkOnOneChangeOnce(t *testing.T) {
	for _, workers := range []int{1, 2} {
		s := asked(t, 0, "a")
		ctx := t.Context()
		testrepo.Git(t, s.Repo.WorkTree, "add", ".")
		testrepo.Git(t, s.Repo.WorkTree, "commit", "-q", "-m", "one")
		for _, message := range []string{"two", "three"} {
			subject, err := s.HeadSubject(ctx)
			if err == nil {
				_, err = s.RequestReview(ctx, record.ReviewRequest{Reviewer: "a", Subject: subject}, "hook")
			}
			if err != nil {
				t.Fatal(err)
			}
			testrepo.Git(t, s.Repo.WorkTree, "branch", message)
			testrepo.Git(t, s.Repo.WorkTree, "commit", "-q", "--amend", "-m", message)
		}
		m := newMeeting(1)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				if _, err := meetingWorker(s, m, 2).Work(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if m.calls != 1 {
			t.Errorf("%d workers: %d calls", workers, m.calls)
		}
	}
}

// Jobs limits one worker; Parallel limits all workers of a clone.
func TestWorkJobs(t *testing.T) {
	s := asked(t, 4, "a")
	m := newMeeting(1)
	worker := meetingWorker(s, m, 3)
	worker.Jobs = 1
	if _, err := worker.Work(t.Context()); err != nil || m.most != 1 || m.calls != 4 {
		t.Errorf("%d at once, %d calls, %v", m.most, m.calls, err)
	}
}

// A worker without a free place reports Busy. A cancelled worker leaves its unfinished requests in the queue.
func TestWorkWithoutAPlace(t *testing.T) {
	s := asked(t, 1, "a")
	m := newMeeting(2) // never answers
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := meetingWorker(s, m, 1).Work(ctx)
		ended <- err
	}()
	for !AtWork(s) {
		time.Sleep(time.Millisecond)
	}
	if done, err := meetingWorker(s, m, 1).Work(t.Context()); err != nil || !done.Busy {
		t.Errorf("%+v, %v", done, err)
	}
	for len(running(t, s)) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("it did not end for what it was told")
	}
	if AtWork(s) || len(running(t, s)) > 0 {
		t.Error("nobody is at work, and it is told otherwise")
	}
	queue, err := (&Worker{Store: s}).Queue(t.Context())
	if err != nil || len(queue) != 1 || queue[0].State != StateDue {
		t.Errorf("%+v, %v", queue, err)
	}
}

// running returns the entries of this clone that are in progress.
func running(t *testing.T, s *store.Store) []Entry {
	t.Helper()
	queue, err := (&Worker{Store: s}).Queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(queue, func(t Entry) bool { return t.State != StateRunning })
}

// talker is a reviewer that prints lines and waits.
type talker struct{ *meeting }

func (r talker) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	job.OnLine("first")
	job.OnLine(strings.Repeat("long ", 100))
	job.OnLine("reading \x1b[31ma.go")
	return r.meeting.Review(ctx, job)
}

func TestQueueSaysWhatRuns(t *testing.T) {
	s := asked(t, 1, "a")
	m := newMeeting(2) // never answers
	worker := meetingWorker(s, m, 1)
	worker.Reviewer = func(string) (role.Reviewer, *record.Failure) { return talker{m}, nil }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = worker.Work(ctx)
	}()
	defer func() { cancel(); <-ended }()
	for {
		turns := running(t, s)
		if len(turns) == 1 && strings.HasPrefix(turns[0].Line, "reading ") {
			if turns[0].Reviewer != "a" || turns[0].Since.IsZero() || strings.Contains(turns[0].Line, "\x1b") {
				t.Errorf("%+v", turns[0])
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the line is not told")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A worker also does a request that arrives during its last look at the queue, because the request's own worker may
// have found no free place.
func TestWorkLooksOnceMore(t *testing.T) {
	s := asked(t, 1, "a")
	first, err := s.Review(t.Context(), record.Latest)
	if err == nil {
		_, err = s.FailReview(t.Context(), first.ID, "a", record.Failure{Reason: record.ReasonAgentFailed})
	}
	if err != nil {
		t.Fatal(err)
	}
	m := newMeeting(1)
	worker := meetingWorker(s, m, 1)
	if err := worker.begin(t.Context()); err != nil { // begin reads the clock as well
		t.Fatal(err)
	}
	looked := false
	s.Now = func() time.Time {
		if !looked { // the queue was read; the first request is no longer waiting
			looked = true
			if _, err := s.RequestReview(t.Context(), first.Request, "cli"); err != nil {
				t.Error(err)
			}
		}
		return time.Now()
	}
	if done, err := worker.Work(t.Context()); err != nil || done.Reviews != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}
