package lineage

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestFindMade: a commit that a rebase made beside the replacements that git reported is listed, oldest first, unless
// it has a review, replaces another commit or was itself replaced.
func TestFindMade(t *testing.T) {
	f := &follower{
		made:   []gitstore.ID{"newest", "paired", "replaced", "told", "reviewed", "oldest"},
		told:   map[gitstore.ID]gitstore.ID{"replaced": "elsewhere", "before": "told"},
		places: map[gitstore.ID][]record.ReviewSummary{"reviewed": {{ID: "r1"}}},
	}
	f.findMade([]pair{{to: gitstore.LoggedCommit{ID: "paired"}}})
	if want := []gitstore.ID{"oldest", "newest"}; !slices.Equal(f.done.Made, want) {
		t.Errorf("made %v, want %v", f.done.Made, want)
	}
}

// TestFinally follows commits through several rewrites to their last replacements.
func TestFinally(t *testing.T) {
	moved := func(how string, ids ...gitstore.ID) rewrite {
		r := rewrite{how: how}
		for i := 0; i+1 < len(ids); i += 2 {
			r.pairs = append(r.pairs, gitstore.Moved{From: ids[i], To: ids[i+1]})
		}
		return r
	}
	for name, test := range map[string]struct {
		noted []rewrite
		want  map[gitstore.ID]gitstore.ID
		how   string // the last rewrite of "a"
	}{
		"one": {[]rewrite{moved("amend", "a", "b")}, map[gitstore.ID]gitstore.ID{"a": "b"}, "amend"},
		"twice": {[]rewrite{moved("amend", "a", "b"), moved("rebase", "b", "c")},
			map[gitstore.ID]gitstore.ID{"a": "c", "b": "c"}, "rebase"},
		"there and back": {[]rewrite{moved("amend", "a", "b"), moved("amend", "b", "a")},
			map[gitstore.ID]gitstore.ID{"b": "a"}, "amend"},
		"squash": {[]rewrite{moved("rebase", "a", "c", "b", "c")}, map[gitstore.ID]gitstore.ID{"a": "c", "b": "c"},
			"rebase"},
		"into itself":   {[]rewrite{moved("rebase", "a", "a")}, map[gitstore.ID]gitstore.ID{}, ""},
		"nothing noted": {nil, map[gitstore.ID]gitstore.ID{}, ""},
		"parsed as noted": {[]rewrite{parseRewrite("amend HEAD b\namend a b\n")}, map[gitstore.ID]gitstore.ID{"a": "b"},
			"amend"},
	} {
		to, how := finally(test.noted)
		if !maps.Equal(to, test.want) || how["a"] != test.how {
			t.Errorf("%s: %v by %q, want %v by %q", name, to, how["a"], test.want, test.how)
		}
	}
	r := parseRewrite("rebase HEAD h\nrebase ONTO o\nrebase WAS w\nrebase a b\nnonsense\n")
	if r.head != "h" || r.onto != "o" || r.was != "w" || len(r.pairs) != 1 {
		t.Errorf("read %+v", r)
	}
}

// TestRowOf: the row of a commit is the chain of consecutive commits that contains it, oldest first.
func TestRowOf(t *testing.T) {
	commit := func(id, parent gitstore.ID) gitstore.LoggedCommit {
		return gitstore.LoggedCommit{ID: id, Parents: []gitstore.ID{parent}}
	}
	commits := []gitstore.LoggedCommit{commit("c", "b"), commit("a", "base"), commit("x", "elsewhere"), commit("b", "a")}
	for id, want := range map[gitstore.ID][]gitstore.ID{"a": {"a", "b", "c"}, "b": {"a", "b", "c"}, "c": {"a", "b", "c"},
		"x": {"x"}} {
		var row []gitstore.ID
		for _, c := range rowOf(id, commits) {
			row = append(row, c.ID)
		}
		if !slices.Equal(row, want) {
			t.Errorf("with %s: %v, want %v", id, row, want)
		}
	}
}

func said(reviewer string, verdict reply.Verdict, level Level, minute int) cover {
	c := cover{Covered: Covered{State: CoverReviewed, Level: level, Verdict: verdict, Outcome: record.OutcomePassed,
		Passed: true, reviewer: reviewer}}
	if verdict != reply.Pass {
		c.Outcome, c.Passed, c.Refused = record.OutcomeFailed, false, true
	}
	c.span.To, c.at = "c1", time.Unix(int64(60*minute), 0)
	return c
}

// TestStanding: each reviewer's newest answer counts, and the worst of these decides. A person's request for changes
// withdraws the person's earlier approval, and an author's own approval does not count.
func TestStanding(t *testing.T) {
	commit := gitstore.LoggedCommit{ID: "c1", Author: "Ada <ada@example.com> 1",
		Message: "change\n\nCo-authored-by: Bob <bob@example.com>\nCo-developed-by: Cy <cy@example.com>\n"}
	approval := func(minute int, by string) cover {
		c := said(record.Human, reply.Pass, LevelReviewed, minute)
		c.approvers = []record.Speaker{{By: by}}
		return c
	}
	state := func(s CoverState) cover {
		c := said("rex", reply.Pass, "", 1)
		c.State = s
		return c
	}
	carried := func(reviewer string, verdict reply.Verdict, minute int) cover {
		c := said(reviewer, verdict, LevelReviewed, minute)
		c.State, c.Review = CoverCarried, "z"
		return c
	}
	part := func(verdict reply.Verdict, minute int) cover {
		c := said("rex", verdict, LevelReviewed, minute)
		c.part = true
		return c
	}
	round := func(id, follows string, verdict reply.Verdict, minute int) cover {
		c := said(record.Human, verdict, LevelReviewed, minute)
		c.Review, c.follows, c.ranged, c.span.To = id, follows, true, gitstore.ID(id)
		return c
	}
	for name, test := range map[string]struct {
		said    []cover
		state   CoverState
		level   Level
		refused bool
	}{
		"nobody": {nil, CoverUnreviewed, "", false},
		"rules alone": {[]cover{said("rules", reply.Pass, LevelChecked, 1)}, CoverChecked, LevelChecked,
			false},
		"a later round of a longer range": {[]cover{round("a", "", reply.NeedsFix, 1), round("b", "a", reply.Pass, 2)},
			CoverReviewed, LevelReviewed, false},
		"a later round that refuses": {[]cover{round("a", "", reply.NeedsFix, 1), round("b", "a", reply.NeedsFix, 2)},
			CoverReviewed, LevelReviewed, true},
		"another range": {[]cover{round("a", "", reply.NeedsFix, 1), round("b", "", reply.Pass, 2)}, CoverReviewed,
			LevelReviewed, true},
		"rounds in a circle": {[]cover{round("a", "b", reply.Pass, 1), round("b", "a", reply.Pass, 2)}, CoverUnreviewed, "",
			false},
		"an agent": {[]cover{said("rex", reply.Pass, LevelReviewed, 1)}, CoverReviewed, LevelReviewed,
			false},
		"fixed since": {[]cover{said("rex", reply.NeedsFix, LevelReviewed, 1),
			said("rex", reply.Pass, LevelReviewed, 2)}, CoverReviewed, LevelReviewed, false},
		"refused since": {[]cover{said("rex", reply.Pass, LevelReviewed, 1),
			said("rex", reply.NeedsFix, LevelReviewed, 2)}, CoverReviewed, LevelReviewed, true},
		"another refuses": {[]cover{said("rex", reply.Pass, LevelReviewed, 2),
			said("bob", reply.NeedsFix, LevelReviewed, 1)}, CoverReviewed, LevelReviewed, true},
		"approved":                 {[]cover{approval(1, "Eve <eve@example.com>")}, CoverReviewed, LevelApproved, false},
		"by the author":            {[]cover{approval(1, "Ada <ada@example.com>")}, CoverReviewed, LevelReviewed, false},
		"by a co-author's address": {[]cover{approval(1, "bob@example.com")}, CoverReviewed, LevelReviewed, false},
		"by another co-author":     {[]cover{approval(1, "Cy <cy@example.com>")}, CoverReviewed, LevelReviewed, false},
		"approval that is taken back": {[]cover{approval(1, "Eve <eve@example.com>"),
			said(record.Human, reply.NeedsFix, LevelReviewed, 2)}, CoverReviewed, LevelReviewed, true},
		"asked for":             {[]cover{state(CoverPending)}, CoverPending, "", false},
		"stale and asked again": {[]cover{state(CoverStale), state(CoverPending)}, CoverStale, "", false},
		// a cherry-pick that was reviewed in the same second as the original
		"carried and again at once": {[]cover{said("rex", reply.Pass, LevelReviewed, 1), carried("rex", reply.NeedsFix, 1)},
			CoverReviewed, LevelReviewed, false},
		"carried since": {[]cover{said("rex", reply.Pass, LevelReviewed, 1), carried("rex", reply.NeedsFix, 2)},
			CoverCarried, LevelReviewed, true},
		"then a part": {[]cover{said("rex", reply.NeedsFix, LevelReviewed, 1), part(reply.Pass, 2)}, CoverReviewed,
			LevelReviewed, true},
		"a part that refuses": {[]cover{said("rex", reply.Pass, LevelReviewed, 1), part(reply.NeedsFix, 2)}, CoverReviewed,
			LevelReviewed, true},
		"nothing in it": {[]cover{state(CoverNothing), state(CoverPending)}, CoverNothing, "", false},
	} {
		got := standing(test.said, commit, approvals{})
		if got.State != test.state || got.Level != test.level || got.Refused != test.refused {
			t.Errorf("%s: %s %s refused %v, want %s %s %v", name, got.State, got.Level, got.Refused, test.state, test.level,
				test.refused)
		}
	}
}

// TestMeets: each level includes all lower ones, and a refused commit meets no level.
func TestMeets(t *testing.T) {
	for i, has := range Levels {
		for j, asked := range Levels {
			if got := (Covered{State: CoverReviewed, Level: has}).Meets(asked); got != (i >= j) {
				t.Errorf("%s meets %s: %v", has, asked, got)
			}
			if (Covered{State: CoverReviewed, Level: has, Refused: true}).Meets(asked) {
				t.Errorf("%s, refused, meets %s", has, asked)
			}
		}
	}
	if (Covered{State: CoverUnreviewed}).Meets(LevelChecked) || !(Covered{State: CoverNothing}).Meets(LevelApproved) {
		t.Error("what nobody looked at meets a level, or an empty commit does not")
	}
}

// TestReviewCovers: a review covers its commit and the commits that it was carried to. On a commit with other content
// it counts only as stale.
func TestReviewCovers(t *testing.T) {
	r := record.ReviewSummary{
		ID: "r1", Commit: "c1", Kind: record.SubjectCommit, Outcome: record.OutcomePassed, Verdict: reply.Pass,
		Reviewer: "rex", Looked: record.LookedAgent,
		Moves: []record.Move{{From: "c1", To: "c2", State: record.MoveCarried},
			{From: "c2", To: "c3", State: record.MoveStale}, {From: "c3", State: record.MoveGone}},
	}
	var got []string
	for _, c := range reviewCovers(r) {
		got = append(got, string(c.span.To)+" "+string(c.State)+" "+string(c.Level))
	}
	if want := []string{"c1 reviewed reviewed", "c2 carried reviewed", "c3 stale "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for outcome, want := range map[record.Outcome]CoverState{"": CoverPending, record.OutcomeNothing: CoverNothing,
		record.OutcomeFailed: CoverReviewed} {
		r.Outcome = outcome
		if c := reviewCovers(r)[0]; c.State != want || c.Refused != (outcome == record.OutcomeFailed) {
			t.Errorf("outcome %q: %s, refused %v", outcome, c.State, c.Refused)
		}
	}
	r.Outcome = "" // nobody looked at c1, so what follows it is not stale
	for _, c := range reviewCovers(r) {
		if c.State != CoverPending {
			t.Errorf("without an answer %s is %s", c.span.To, c.State)
		}
	}
	r.Outcome, r.Unreadable, r.ReviewKind, r.CommentCount = record.OutcomeFailed, true, "security", 1
	if covers := reviewCovers(r); len(covers) != 1 || !covers[0].aside || !strings.Contains(covers[0].why, "read") {
		t.Errorf("an unreadable answer about one kind of fault counts: %+v", covers)
	}
}
