package lineage

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// CoverState says whether a commit was reviewed.
type CoverState string

const (
	CoverReviewed   CoverState = "reviewed"   // this very commit was looked at: Covered.Level says how far
	CoverChecked    CoverState = "checked"    // the same, by rules alone: what Coverage makes of such a CoverReviewed
	CoverCarried    CoverState = "carried"    // the same change of the same content was, in another commit
	CoverNothing    CoverState = "nothing"    // there is nothing in it: empty, or a merge as git makes it
	CoverUnshown    CoverState = "unshown"    // it was asked for, and nothing of it was shown: files are left out, or have no lines
	CoverStale      CoverState = "stale"      // what it took the place of was, with another content
	CoverPending    CoverState = "pending"    // a review of it is asked for
	CoverUnreviewed CoverState = "unreviewed" // nobody looked at it
)

// Level says how far a change was looked at. That something found stands in its way is another
// question: see Covered.Refused.
type Level string

const (
	LevelChecked  Level = "checked"  // rules looked, or somebody at a part of it
	LevelReviewed Level = "reviewed" // an agent or a person answered for all of it
	LevelApproved Level = "approved" // a person approved it who is none of its authors
)

// Levels are all levels, each with what the one before it asks for.
var Levels = []Level{LevelChecked, LevelReviewed, LevelApproved}

// Covered is a commit and what stands on it: of what each reviewer said of one change the
// newest word, of those the worst.
type Covered struct {
	Commit    gitstore.ID    `json:"commit"`
	Title     string         `json:"title"`
	State     CoverState     `json:"state"`
	Level     Level          `json:"level,omitempty"`     // "" while nobody looked
	Refused   bool           `json:"refused,omitempty"`   // a NEEDS_FIX or CRITICAL stands that nobody answered
	Review    string         `json:"review_id,omitempty"` // that says the worst, is stale or is asked for
	Run       string         `json:"run_id,omitempty"`    // whose review it is
	From      gitstore.ID    `json:"from,omitempty"`      // that was reviewed, of what is carried or stale
	Outcome   record.Outcome `json:"outcome,omitempty"`
	Verdict   reply.Verdict  `json:"verdict,omitempty"`
	Open      int            `json:"open_findings,omitempty"`     // that are neither fixed nor refuted
	Claimed   int            `json:"claimed_fixed,omitempty"`     // findings that are fixed or gone by somebody's word alone
	LeftOut   int            `json:"left_out_files,omitempty"`    // that the reviewer was not shown
	RedOnBase []string       `json:"red_on_base,omitempty"`       // checks that fail without the change too
	Elsewhere bool           `json:"settled_elsewhere,omitempty"` // what settled it is in another line of history
	// ByAuthor says that an author or co-author approved the commit, and nobody else did: it is reviewed, not approved.
	ByAuthor  bool       `json:"approved_by_author_only,omitempty"`
	Approvals *Approvals `json:"approvals,omitempty"` // that stand; nil where nobody approved
	reviewer  string
	Passed    bool `json:"passed"` // nothing that was found is in the way
}

// Seen reports whether rules or somebody have looked at what the commit does, or there is
// nothing to look at.
func (c Covered) Seen() bool { return c.Level != "" || c.State == CoverNothing }

// Meets reports whether the commit was looked at as far as level, and nothing refuses it.
func (c Covered) Meets(level Level) bool {
	return !c.Refused && (c.State == CoverNothing || slices.Index(Levels, c.Level) >= slices.Index(Levels, level))
}

// AwaitsPerson reports whether a person was asked to look, and has not answered.
func (c Covered) AwaitsPerson() bool { return c.State == CoverPending && c.reviewer == record.Human }

// Words are how the commit stands, in a word or three.
func (c Covered) Words() string {
	switch {
	case c.Refused:
		return string(c.Verdict)
	case c.Level != "":
		return string(c.Level)
	case c.State == CoverUnreviewed:
		return "not looked at"
	}
	return string(c.State)
}

// Missing says which of level and an open refusal keeps the commit from meeting level.
func (c Covered) Missing(level Level) string {
	if c.Refused {
		return "refused"
	}
	return "not " + string(level)
}

// CoverCounts are commits by state.
type CoverCounts struct {
	Checked    int `json:"checked"`
	Reviewed   int `json:"reviewed"`
	Approved   int `json:"approved"`
	Refused    int `json:"refused"` // of all these
	Carried    int `json:"carried"`
	Nothing    int `json:"nothing"`
	Unshown    int `json:"unshown"`
	Stale      int `json:"stale"`
	Pending    int `json:"pending"`
	Unreviewed int `json:"unreviewed"`
}

// CountCovered counts commits by state.
func CountCovered(covered []Covered) CoverCounts {
	var n CoverCounts
	count := map[CoverState]*int{
		CoverReviewed: &n.Reviewed, CoverCarried: &n.Carried, CoverNothing: &n.Nothing, CoverUnshown: &n.Unshown,
		CoverStale: &n.Stale, CoverPending: &n.Pending,
	}
	for _, c := range covered {
		if c.Refused {
			n.Refused++
		}
		switch at := count[c.State]; {
		case c.Level == LevelChecked:
			n.Checked++
		case c.Level == LevelApproved:
			n.Approved++
		case at != nil:
			*at++
		default:
			n.Unreviewed++
		}
	}
	return n
}

// cover is a change that a review or a run speaks for.
type cover struct {
	Covered
	span      gitstore.Span     // as recorded
	ranged    bool              // it speaks for each commit in between as well, but for those in unseen
	unseen    []gitstore.ID     // of the range, those that whoever read it did not see
	part      bool              // it speaks for a part of the change: that nobody else has to look it does not say
	kind      string            // of fault that was looked for; "" for all
	change    string            // as gitstore.ChangeIDs names it; "" where that is not known
	approvers []record.Approver // as ReviewSummary has them
	settled   []gitstore.ID     // commits in which what it found is fixed or gone
	at        time.Time         // when it was said; the zero Time: git says so, now
}

// Coverage says of each commit what stands on it, in the order given. A review counts for
// a commit that it was of, or that does exactly the same to the same content: for no
// other. It reads the index, and the trees of those commits that it does not name. A commit
// is approved when one person approved it who is none of its authors.
func Coverage(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit) ([]Covered, error) {
	return CoverageBy(ctx, s, commits, Bar{})
}

// CoverageBy is Coverage where a commit is approved when its approvals are what bar asks for.
func CoverageBy(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, bar Bar) ([]Covered, error) {
	ids := map[string]bool{}
	for _, c := range commits {
		ids[string(c.ID)] = true
	}
	covers, err := coversOf(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	by, err := byCommit(ctx, s, commits, covers)
	if err != nil {
		return nil, err
	}
	if err := addCheckedHere(s, commits, by); err != nil {
		return nil, err
	}
	if err := addSameChanges(ctx, s, commits, by); err != nil {
		return nil, err
	}
	if err := refuseElsewhere(ctx, s, commits, by); err != nil {
		return nil, err
	}
	approvals, err := readApprovals(ctx, s, commits, by, bar)
	if err != nil {
		return nil, err
	}
	covered := make([]Covered, len(commits))
	for i, c := range commits {
		covered[i] = standing(by[c.ID], c, approvals)
		covered[i].Commit, covered[i].Title = c.ID, c.Subject
	}
	return covered, nil
}

// addCheckedHere adds to by what this clone alone knows to be checked, for commits of which nobody said anything.
func addCheckedHere(s *store.Store, commits []gitstore.LoggedCommit, by map[gitstore.ID][]cover) error {
	here, err := s.CheckedHere()
	if err != nil {
		return err
	}
	for _, c := range commits {
		if here[c.ID] && len(by[c.ID]) == 0 {
			by[c.ID] = []cover{{Covered: Covered{
				State: CoverReviewed, Level: LevelChecked, Outcome: record.OutcomePassed, Verdict: reply.Checked, reviewer: record.Builtin, Passed: true,
			}}}
		}
	}
	return nil
}

// refuseElsewhere has a review refuse again where what settled it is on another line of history than the newest of
// commits, and a file that it speaks of is there as it was reviewed: a fix does not go along with what it fixed.
func refuseElsewhere(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, by map[gitstore.ID][]cover) error {
	inView := map[gitstore.ID]bool{}
	for _, c := range commits {
		inView[c.ID] = true
	}
	var settled []gitstore.ID
	var answered []*cover
	for _, covers := range by {
		for i := range covers {
			c := &covers[i]
			if c.Outcome != record.OutcomeFailed || !c.Passed || c.State != CoverReviewed && c.State != CoverCarried {
				continue
			}
			far := slices.DeleteFunc(slices.Clone(c.settled), func(id gitstore.ID) bool { return inView[id] })
			if len(far) > 0 {
				settled, answered = append(settled, far...), append(answered, c)
			}
		}
	}
	if len(answered) == 0 {
		return nil
	}
	apart, err := s.Repo.NotIn(ctx, settled, commits[0].ID)
	if err != nil {
		return err
	}
	for _, id := range settled {
		if _, err := s.Repo.ReadCommit(ctx, id); errors.Is(err, gitstore.ErrNotFound) { // of a branch that is not here
			apart = append(apart, id)
		}
	}
	for _, c := range answered {
		there, err := stillThere(ctx, s, *c, apart, commits[0].ID)
		if err != nil {
			return err
		}
		if there > 0 {
			c.Passed, c.Refused, c.Elsewhere, c.Open = false, true, true, there
		}
	}
	return nil
}

// stillThere counts the findings that only commits of apart settle, and whose files are in tip as in the commit of c.
func stillThere(ctx context.Context, s *store.Store, c cover, apart []gitstore.ID, tip gitstore.ID) (n int, err error) {
	if !slices.ContainsFunc(c.settled, func(id gitstore.ID) bool { return slices.Contains(apart, id) }) {
		return 0, nil
	}
	review, err := s.Review(ctx, c.Review)
	if err != nil {
		return 0, err
	}
	for _, f := range review.Findings() {
		answer, _ := review.AnswerTo(f.ID)
		if f.File == "" || !slices.Contains(apart, answer.Commit) {
			continue
		}
		was, err := s.Repo.File(ctx, c.span.To, f.File)
		now, nowErr := s.Repo.File(ctx, tip, f.File)
		if err == nil && nowErr == nil && was.ID == now.ID {
			n++
		}
	}
	return n, nil
}

// Known is the review that speaks already for what a hook asked the same reviewer about;
// "" without one, and where somebody asked.
func Known(ctx context.Context, s *store.Store, review record.Review) (string, error) {
	subject := review.Request.Subject
	if !AskedByItself(review) {
		return "", nil
	}
	commits, err := s.Repo.LogOnly(ctx, []gitstore.ID{subject.Commit})
	if err != nil || len(commits) == 0 {
		return "", err
	}
	covered, err := Coverage(ctx, s, commits)
	if err != nil || covered[0].State != CoverCarried || covered[0].Refused || covered[0].reviewer != review.Request.Reviewer {
		return "", err
	}
	return covered[0].Review, nil
}

// AskedByItself reports whether a hook asked one reviewer, who has not answered, to look at
// a commit.
func AskedByItself(review record.Review) bool {
	return asksByItself(review.Source) && review.Request.Subject.Kind == record.SubjectCommit && review.Request.Kind == "" && len(review.Request.Reviewers()) == 1 && len(review.Submissions) == 0
}

// asksByItself reports whether a request of that source was made without a person.
func asksByItself(source string) bool {
	return source == "hook" || source == "follow" || source == "scan"
}

// branchShown is how many commits of a branch are looked at that left nothing.
const branchShown = 20

// BranchCommits lists the commits of the branch at HEAD, newest first: those since it left
// against, or where it left nothing ("") the newest few.
func BranchCommits(ctx context.Context, s *store.Store) (commits []gitstore.LoggedCommit, against string, err error) {
	head, err := s.Repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	from, against, err := s.Repo.BranchPoint(ctx)
	if err != nil {
		return nil, "", err
	}
	most := maxCovered
	if from == "" {
		most = branchShown
	}
	commits, err = s.Repo.LogMessages(ctx, from, head, most)
	return commits, against, err
}

// coversOf are those of the reviews and runs that name one of ids. Of reviews that say the same of the
// same change it reads the newest alone, which is all that standing goes by.
func coversOf(ctx context.Context, s *store.Store, ids map[string]bool) ([]cover, error) {
	counts := func(status string) bool { return status != string(record.ReviewCancelled) }
	reviews, _, err := s.Reviews(ctx, store.Filter{Mention: ids, Status: counts, Newest: true})
	if err != nil {
		return nil, err
	}
	var covers []cover
	for _, r := range reviews {
		own := reviewCovers(r)
		if err := refuseCarried(ctx, s, r, own); err != nil {
			return nil, err
		}
		covers = append(covers, own...)
	}
	runs, _, err := s.Runs(ctx, store.Filter{Mention: ids})
	for _, r := range runs {
		covers = append(covers, runCovers(r)...)
	}
	return covers, err
}

// refuseCarried has a round refuse that would pass, while something that refuses is carried into it from earlier rounds.
func refuseCarried(ctx context.Context, s *store.Store, r record.ReviewSummary, covers []cover) error {
	if r.Follows == "" || len(covers) == 0 || !covers[0].Passed {
		return nil
	}
	review, err := s.Review(ctx, r.ID)
	if err != nil {
		return err
	}
	carried, err := s.Carried(ctx, review)
	carried = slices.DeleteFunc(carried, func(t record.Thread) bool { return !t.Refuses })
	for i := range covers {
		if c := &covers[i]; c.Passed && len(carried) > 0 {
			c.Passed, c.Refused, c.Outcome, c.Verdict, c.Open = false, true, record.OutcomeFailed, reply.NeedsFix, len(carried)
		}
	}
	return err
}

// reviewCovers are what a review speaks for: what it was of, and where that went.
func reviewCovers(r record.ReviewSummary) []cover {
	c := cover{
		Covered: Covered{
			State: CoverReviewed, Review: r.ID, Outcome: r.Outcome, Verdict: r.Verdict, Open: r.Open, Claimed: r.Claimed,
			LeftOut: r.LeftOut, RedOnBase: r.RedOnBase, reviewer: r.Reviewer,
		},
		span:      gitstore.Span{From: r.Base, To: r.Commit},
		ranged:    r.Kind == record.SubjectRange,
		settled:   r.FixedBy,
		approvers: r.Approvers, unseen: r.Unseen, part: r.Part(), kind: r.ReviewKind, change: r.Change, at: cmp.Or(r.SubmittedAt, r.CreatedAt),
	}
	c.Level = levelOf(r.Looked, r.Outcome)
	c.Passed = r.Outcome == record.OutcomePassed || r.Outcome == record.OutcomeFailed && r.Open == 0 && r.Asked == "" && r.CommentCount > 0
	switch r.Outcome {
	case "":
		c.State = CoverPending
	case record.OutcomeNothing:
		c.State, c.Passed = CoverNothing, true
		if r.Unshown {
			c.State, c.Passed = CoverUnshown, false
		}
	}
	if c.part && (c.State != CoverReviewed || c.Passed && r.Paths) { // of a part only what is wrong counts, until the same kind passes
		return nil
	}
	c.Refused = r.Outcome == record.OutcomeFailed && !c.Passed
	covers := []cover{c}
	for _, m := range r.Moves {
		at := c
		at.From, at.span, at.unseen = m.From, gitstore.Span{From: m.Base, To: m.To}, m.Unseen
		switch {
		case m.State == record.MoveCarried && c.State == CoverReviewed:
			at.State = CoverCarried
		case m.State == record.MoveStale:
			at.State, at.Level, at.Refused, at.Passed, at.change, at.ranged = CoverStale, "", false, false, "", false
		}
		if m.To != "" && m.To != r.Commit {
			covers = append(covers, at)
		}
	}
	return covers
}

// runCovers are what a run speaks for: its work as its last review saw it, and as it
// landed where that is the same change.
func runCovers(r record.RunSummary) []cover {
	if r.Status != record.RunCompleted || r.Commit == "" || r.Verdict == "" {
		return nil
	}
	c := cover{
		Covered: Covered{State: CoverReviewed, Run: r.ID, Verdict: r.Verdict, Passed: record.NothingInTheWay(r.Result), Outcome: record.OutcomeFailed, reviewer: r.Reviewer},
		span:    gitstore.Span{From: r.Base, To: r.Commit}, ranged: true, at: r.UpdatedAt,
	}
	if c.Passed {
		c.Outcome = record.OutcomePassed
	}
	c.Level = levelOf(r.Looked, c.Outcome) // what a person accepted is answered
	covers := []cover{c}
	if l := r.LandedAs; l != nil && l.Commit != r.Commit {
		c.From, c.State, c.span = r.Commit, CoverCarried, gitstore.Span{From: l.Onto, To: l.Commit}
		if l.Stale {
			c.State, c.Level, c.Passed = CoverStale, "", false
		}
		covers = append(covers, c)
	}
	return covers
}

// byCommit sorts covers by those of commits that they name.
func byCommit(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, covers []cover) (map[gitstore.ID][]cover, error) {
	inView := map[gitstore.ID]bool{}
	for _, c := range commits {
		inView[c.ID] = true
	}
	by := map[gitstore.ID][]cover{}
	for _, c := range covers {
		if !inView[c.span.To] {
			continue
		}
		if !c.ranged {
			by[c.span.To] = append(by[c.span.To], c)
			continue
		}
		between, err := s.Repo.Between(ctx, c.span.From, c.span.To, maxCovered)
		if err != nil {
			return nil, err
		}
		for _, id := range between {
			if inView[id] && (!slices.Contains(c.unseen, id) || id == c.span.To && !c.Passed) {
				by[id] = append(by[id], c)
			}
		}
	}
	return by, nil
}

// maxCovered is how many commits of a range are looked at.
const maxCovered = 10_000

// addSameChanges adds to by what was said of the same change elsewhere, for commits of
// which nobody said anything.
func addSameChanges(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, by map[gitstore.ID][]cover) error {
	var open []gitstore.LoggedCommit
	for _, c := range commits {
		if !slices.ContainsFunc(by[c.ID], func(c cover) bool { return !c.part && (c.State == CoverReviewed || c.State == CoverCarried) }) {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil
	}
	changes, err := changesOf(ctx, s, open)
	if err != nil {
		return err
	}
	ids, known := map[string]bool{}, map[string][]cover{}
	for _, change := range changes {
		if change != "" && change != gitstore.NoChange {
			ids[change] = true
		}
	}
	covers, err := coversOf(ctx, s, ids)
	if err != nil {
		return err
	}
	for _, c := range covers {
		if c.change != "" && c.State != CoverPending && !c.part {
			known[c.change] = append(known[c.change], c)
		}
	}
	for i, c := range open {
		if changes[i] == gitstore.NoChange {
			by[c.ID] = append(by[c.ID], cover{Covered: Covered{State: CoverNothing, Passed: true}})
		}
		for _, same := range known[changes[i]] {
			if same.State == CoverReviewed {
				same.From, same.State = same.span.To, CoverCarried
			}
			by[c.ID] = append(by[c.ID], same)
		}
	}
	return nil
}

// changesOf names what each commit does, as gitstore.ChangeIDs does: a merge, what it does
// beyond what git makes of its parents; "" where that cannot be read here.
func changesOf(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit) ([]string, error) {
	var merges []gitstore.ID
	for _, c := range commits {
		if len(c.Parents) > 1 {
			merges = append(merges, c.ID)
		}
	}
	clean, err := s.Repo.CleanMerges(ctx, merges)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	spans := make([]gitstore.Span, len(commits))
	for i, c := range commits {
		spans[i].To = c.ID
		switch {
		case clean[c.ID]:
			spans[i].From = c.ID
		case len(c.Parents) == 1:
			spans[i].From = c.Parents[0]
		case len(c.Parents) > 1:
			if spans[i].From, err = s.Repo.Remerge(ctx, c.ID); err != nil {
				spans[i].To = "?" // nothing that can be read
			}
		}
	}
	return s.Repo.ChangeIDs(ctx, spans)
}

// levelOf is how far a change was looked at by whom, with that outcome. Neither comments alone
// nor a look at a part say that all of it was seen.
func levelOf(looked record.Looked, outcome record.Outcome) Level {
	switch {
	case looked == "":
		return ""
	case looked == record.LookedRules || outcome != record.OutcomePassed && outcome != record.OutcomeFailed:
		return LevelChecked
	}
	return LevelReviewed
}

// levelIn returns the farthest that those who said something have looked at commit, and the approvals that stand. A person who
// asks for changes takes back the approvals before that: what was said since, of the same content, counts.
func levelIn(said []cover, commit gitstore.LoggedCommit, a approvals) (Level, *Approvals) {
	level, changes := Level(""), (*cover)(nil)
	for i, c := range said {
		if c.reviewer == record.Human && c.Outcome == record.OutcomeFailed {
			changes = said[i].newer(changes)
		}
	}
	var standing []cover
	for i, c := range said {
		if c.part || c.State != CoverReviewed && c.State != CoverCarried {
			continue
		}
		if c.Level == LevelReviewed && said[i].newer(changes) == &said[i] {
			standing = append(standing, c)
		}
		if slices.Index(Levels, c.Level) > slices.Index(Levels, level) {
			level = c.Level
		}
	}
	approved := a.of(standing, commit)
	if level == LevelReviewed && approved.met() {
		level = LevelApproved
	}
	return level, approved
}

// standing is what stands on commit where these were said.
func standing(said []cover, commit gitstore.LoggedCommit, a approvals) Covered {
	type word struct{ reviewer, change, kind string }
	newest := map[word]*cover{} // one commit may be made of several, each with a review of its own
	var pending, stale, nothing *cover
	whole := false
	for i, c := range said {
		switch c.State {
		case CoverPending:
			pending = said[i].newer(pending)
		case CoverStale:
			stale = said[i].newer(stale)
		case CoverNothing, CoverUnshown:
			nothing = said[i].newer(nothing)
		default:
			whole = whole || !c.part
			again := func(of cover) bool { return of.speaksFor(c.reviewer) && !of.at.Before(c.at) }
			if c.part && c.Passed || !c.part && !c.speaksFor(c.reviewer) && slices.ContainsFunc(said, again) {
				continue
			}
			key := word{c.reviewer, cmp.Or(c.change, string(c.span.To)), c.kind}
			newest[key] = said[i].newer(newest[key])
		}
	}
	switch {
	case whole:
		worst := slices.MaxFunc(slices.Collect(maps.Values(newest)), worse).Covered
		worst.Level, worst.Approvals = levelIn(said, commit, a)
		nobody := worst.Approvals == nil || worst.Approvals.Have == 0
		worst.ByAuthor = nobody && worst.Level != LevelApproved && slices.ContainsFunc(said, func(c cover) bool { return a.byAuthor(c, commit) })
		if worst.State == CoverReviewed && worst.Level == LevelChecked {
			worst.State = CoverChecked
		}
		return worst
	case nothing != nil:
		return nothing.Covered
	case stale != nil && pending != nil:
		return Covered{State: CoverStale, Review: pending.Review, From: stale.From}
	case stale != nil:
		return stale.Covered
	case pending != nil:
		return pending.Covered
	}
	return Covered{State: CoverUnreviewed}
}

// newer returns the newer of c and another one, which may be nil.
func (c *cover) newer(than *cover) *cover {
	if than == nil || c.at.IsZero() {
		return c
	}
	if than.at.IsZero() || cmp.Or(c.at.Compare(than.at), cmp.Compare(c.Review, than.Review)) < 0 {
		return than
	}
	return c
}

// speaksFor reports whether it is what reviewer said of this very commit as a whole: that
// takes the place of what the same reviewer said before of parts of it.
func (c *cover) speaksFor(reviewer string) bool {
	return c.State == CoverReviewed && !c.ranged && !c.part && c.reviewer == reviewer
}

// worse orders what reviewers said: what did not pass comes last.
func worse(a, b *cover) int {
	rank := func(c *cover) int {
		if c.Passed {
			return reply.VerdictRank(c.Verdict)
		}
		return 100 + reply.VerdictRank(c.Verdict)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Review, b.Review))
}
