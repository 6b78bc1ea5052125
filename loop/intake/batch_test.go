package intake

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// hookRequests makes commits, requests reviews of them as the hook does, and lists the open requests.
type hookRequests struct {
	s   *store.Store
	ctx context.Context
	t   *testing.T
}

func newHookRequests(t *testing.T) hookRequests {
	return hookRequests{runtest.NewStore(t), context.Background(), t}
}

func (a hookRequests) commit(name, source string) record.Review {
	a.t.Helper()
	dir := a.s.Repo.WorkTree
	testrepo.Git(a.t, dir, "commit", "-q", "--allow-empty", "-m", name)
	if source == "" {
		return record.Review{}
	}
	subject, err := a.s.HeadSubject(a.ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.request(record.ReviewRequest{Subject: subject, Reviewer: "builtin"}, source)
}

func (a hookRequests) request(request record.ReviewRequest, source string) record.Review {
	a.t.Helper()
	review, err := a.s.RequestReview(a.ctx, request, source)
	if err != nil {
		a.t.Fatal(err)
	}
	return review
}

// open joins requests and returns the open ones, newest first, each as "N to TITLE" with its number of commits.
func (a hookRequests) open(b Batch) string {
	a.t.Helper()
	if err := b.Join(a.ctx, a.s); err != nil {
		a.t.Fatal(err)
	}
	open, _, err := a.s.Reviews(a.ctx, store.Filter{Status: func(s string) bool { return s == string(record.ReviewOpen) }})
	if err != nil {
		a.t.Fatal(err)
	}
	var list []string
	for _, r := range open {
		commits, err := a.s.Repo.Commits(a.ctx, r.Base, r.Commit, 0)
		if err != nil {
			a.t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%d to %s", len(commits), r.Title))
	}
	return strings.Join(list, ", ")
}

func (a hookRequests) want(b Batch, want string) {
	a.t.Helper()
	for range 2 { // joining again changes nothing
		if got := a.open(b); got != want {
			a.t.Errorf("open %q, want %q", got, want)
		}
	}
}

func TestJoinRows(t *testing.T) {
	a, rows := newHookRequests(t), Batch{Rows: true}
	a.commit("one", "hook")
	a.want(rows, "1 to one")
	a.commit("two", "hook")
	a.commit("three", "hook")
	a.want(rows, "3 to three")
	a.commit("skipped", "")
	a.commit("five", "hook")
	a.commit("typed", "cli")
	a.commit("seven", "hook")
	a.want(rows, "1 to seven, 1 to typed, 1 to five, 3 to three")
	a.want(Batch{}, "1 to seven, 1 to typed, 1 to five, 3 to three")
}

// TestJoinIsFinished: a join that was killed after it requested the whole, and before it withdrew the parts, is
// completed by the next one.
func TestJoinIsFinished(t *testing.T) {
	a := newHookRequests(t)
	first := a.commit("one", "hook")
	last := a.commit("two", "hook")
	subject := rangeOf([]record.Review{last}, first.Request.Subject.Base)
	whole := a.request(record.ReviewRequest{Subject: subject, Reviewer: "builtin"}, "hook")
	a.want(Batch{Rows: true}, "2 to two")
	for _, part := range []record.Review{first, last} {
		part, err := a.s.Review(a.ctx, part.ID)
		if err != nil || part.Status != record.ReviewCancelled || !strings.Contains(part.Note, whole.ID) {
			t.Errorf("%+v, %v", part, err)
		}
	}
}

// TestJoinLeavesWhatIsWorkedOn: a request whose review is in progress is not joined.
func TestJoinLeavesWhatIsWorkedOn(t *testing.T) {
	a := newHookRequests(t)
	first := a.commit("one", "hook")
	unlock, _, err := a.s.Repo.TryLock("review-" + first.ID)
	if err != nil {
		t.Fatal(err)
	}
	a.commit("two", "hook")
	a.commit("three", "hook")
	a.want(Batch{Rows: true}, "2 to three, 1 to one")
	unlock()
}

func TestJoinBranch(t *testing.T) {
	a, branch := newHookRequests(t), Batch{Branch: true}
	a.commit("base", "")
	testrepo.Git(t, a.s.Repo.WorkTree, "switch", "-q", "-c", "topic")
	a.commit("one", "hook")
	a.want(branch, "1 to one")
	a.commit("skipped", "")
	a.commit("three", "hook")
	a.want(branch, "3 to three")
	a.commit("four", "scan")
	a.want(branch, "4 to four")
	testrepo.Git(t, a.s.Repo.WorkTree, "switch", "-q", "main")
	a.commit("on main", "hook") // the branch topic stays as it is
	a.commit("more on main", "hook")
	a.want(branch, "2 to more on main, 4 to four")
}
