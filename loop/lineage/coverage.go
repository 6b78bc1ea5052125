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
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// CoverState says whether and how a commit was reviewed.
type CoverState string

const (
	CoverReviewed CoverState = "reviewed" // this very commit was looked at: see Covered.Level
	CoverChecked  CoverState = "checked"  // likewise, but only by rules; Coverage turns CoverReviewed into it
	CoverCarried  CoverState = "carried"  // the same change with the same content was looked at, in another commit
	CoverNothing  CoverState = "nothing"  // it contains no change: it is empty, or a merge as git makes it
	// a review was requested, but nothing was shown: files are left out, or have no lines
	CoverUnshown    CoverState = "unshown"
	CoverStale      CoverState = "stale"      // a predecessor with other content was looked at
	CoverPending    CoverState = "pending"    // a review of it is requested
	CoverUnreviewed CoverState = "unreviewed" // no review of it is known here
)

// Level says how thoroughly a change was looked at. It does not say whether findings stand in the way: see
// Covered.Refused.
type Level string

const (
	LevelChecked  Level = "checked"  // rules looked at it, or somebody at a part of it
	LevelReviewed Level = "reviewed" // an agent or a person answered for all of it
	LevelApproved Level = "approved" // a person who is not among its authors approved it
)

// Levels lists all levels; each includes the one before it.
var Levels = []Level{LevelChecked, LevelReviewed, LevelApproved}

// Covered is a commit and the state of its review. For each reviewer of one change the newest verdict counts; of these,
// the worst.
type Covered struct {
	Commit  gitstore.ID `json:"commit"`
	Title   string      `json:"title"`
	State   CoverState  `json:"state"`
	Level   Level       `json:"level,omitempty"`   // "" without a review
	Refused bool        `json:"refused,omitempty"` // an unanswered NEEDS_FIX or CRITICAL counts
	// Before says that the review has no verdict yet, and that what refused the round before it is unsettled.
	Before  bool           `json:"refused_before,omitempty"`
	Review  string         `json:"review_id,omitempty"` // the review with the worst verdict, or the stale or pending one
	Run     string         `json:"run_id,omitempty"`    // the run that the verdict comes from
	From    gitstore.ID    `json:"from,omitempty"`      // for carried or stale: the commit that was reviewed
	Outcome record.Outcome `json:"outcome,omitempty"`
	Verdict reply.Verdict  `json:"verdict,omitempty"`
	Open    int            `json:"open_findings,omitempty"` // findings neither fixed nor refuted
	Claimed int            `json:"claimed_fixed,omitempty"` // findings claimed fixed or gone and not confirmed
	// Unconfirmed is the number of answers that the people who asked for changes have not confirmed.
	Unconfirmed int      `json:"unconfirmed,omitempty"`
	LeftOut     int      `json:"left_out_files,omitempty"`  // files that the reviewer was not shown
	NotText     []string `json:"not_text_files,omitempty"`  // whose contents the reviewer could not see
	RedOnBase   []string `json:"red_on_base,omitempty"`     // checks that also fail without the change
	RefusedIn   string   `json:"refused_code_in,omitempty"` // a file with the refused code without what settled it
	InItself    string   `json:"in_itself,omitempty"`       // a secret in the commit's own message or header
	Beside      *Beside  `json:"beside,omitempty"`
	// ByAuthor says that only authors or co-authors approved the commit, which makes it reviewed and not approved.
	ByAuthor  bool       `json:"approved_by_author_only,omitempty"`
	authorIn  string     // the review with the approval of ByAuthor
	Approvals *Approvals `json:"approvals,omitempty"` // the approvals that count; nil if there are none
	// NotCompared says that the review was carried from commits that this clone does not have.
	NotCompared bool `json:"not_compared,omitempty"`
	reviewer    string
	Passed      bool   `json:"passed"`            // no finding is in the way
	Earlier     bool   `json:"earlier,omitempty"` // of a run that went on: it counts where the newest verdict does not
	asked       *cover // the newest request of it that waits for a person, or nil
}

// undecided is the verdict of a review that agents refuse, too few of them for the same reason, while the answer of one
// more could not be read.
const undecided reply.Verdict = "undecided"

// Beside is a review or run that passed something else than the commit, and does not count for it.
type Beside struct {
	Of   string `json:"of"`                    // its id
	Why  string `json:"why"`                   // goes on from the id: "was limited to paths"
	Read bool   `json:"read_a_part,omitempty"` // an agent or a person read a part of the commit
}

// Seen reports whether rules or somebody looked at the commit's change, or there is no change to look at.
func (c Covered) Seen() bool { return c.Level != "" || c.State == CoverNothing }

// RulesLooked reports whether rules or somebody looked at the commit's change, or there is nothing in it to show them.
func (c Covered) RulesLooked() bool { return c.Seen() || c.State == CoverUnshown }

// Reviewer returns the name of whoever gave the verdict.
func (c Covered) Reviewer() string { return c.reviewer }

// ByAgent reports whether the verdict is an agent's.
func (c Covered) ByAgent() bool {
	return !slices.Contains([]string{"", record.Human, record.Builtin}, c.reviewer)
}

// Meets reports whether the commit has at least level, and nothing refuses it.
func (c Covered) Meets(level Level) bool {
	return !c.Refused && (c.State == CoverNothing || slices.Index(Levels, c.Level) >= slices.Index(Levels, level))
}

// AwaitsPerson reports whether a person was asked and has not answered.
func (c Covered) AwaitsPerson() bool {
	return (c.State == CoverPending || c.State == CoverStale && c.Review != "") && c.reviewer == record.Human
}

// Asked returns the newest review of the commit that waits for a person, whatever others have said of the commit, and
// the branch on which it was requested. They are "" if there is none; the branch also if HEAD was detached.
func (c Covered) Asked() (review, branch string) {
	if c.asked == nil {
		return "", ""
	}
	return c.asked.Review, c.asked.branch
}

// Words describes the state in one to three words.
func (c Covered) Words() string {
	switch {
	case c.Before:
		return "still refused"
	case c.Refused:
		return string(c.Verdict)
	case c.Level != "":
		return string(c.Level)
	case c.State == CoverUnreviewed:
		return "no verdict"
	case c.State == CoverPending:
		return "waiting"
	}
	return string(c.State)
}

// UnsettledWords says that a refusal which was settled counts again, or returns "".
func (c Covered) UnsettledWords() string {
	if c.RefusedIn == "" {
		return ""
	}
	return c.RefusedIn + " has the refused code without what settled it"
}

// Missing says why the commit does not meet level: it is refused, or has a lower level.
func (c Covered) Missing(level Level) string {
	if c.Refused {
		return "refused"
	}
	return "not " + string(level)
}

// CoverCounts counts commits by state.
type CoverCounts struct {
	Checked    int `json:"checked"`
	Reviewed   int `json:"reviewed"`
	ByAuthor   int `json:"by_author_only,omitempty"` // of Reviewed: those that only their authors approved
	Approved   int `json:"approved"`
	Refused    int `json:"refused"` // whatever else is known of them; in no other count
	Carried    int `json:"carried"` // of Reviewed: those whose verdict is of another commit with the same change
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
		CoverReviewed: &n.Reviewed, CoverCarried: &n.Reviewed, CoverNothing: &n.Nothing, CoverUnshown: &n.Unshown,
		CoverStale: &n.Stale, CoverPending: &n.Pending,
	}
	for _, c := range covered {
		switch at := count[c.State]; {
		case c.Refused:
			n.Refused++
		case c.Level == LevelChecked:
			n.Checked++
		case c.Level == LevelApproved:
			n.Approved++
		case c.Level == "" && c.State == CoverReviewed:
			n.Unreviewed++
		case at != nil:
			*at++
			if c.State == CoverCarried {
				n.Carried++
			}
			if c.ByAuthor && at == &n.Reviewed {
				n.ByAuthor++
			}
		default:
			n.Unreviewed++
		}
	}
	return n
}

// cover is a change that a review or a run covers, with the verdict.
type cover struct {
	Covered
	span      gitstore.Span    // as recorded
	origin    gitstore.Span    // the change that was reviewed, which may have moved to span
	ranged    bool             // it covers each commit of the range too, except those in unseen
	row       []gitstore.ID    // the commits of the range, newest first; filled in by byCommit
	unseen    []gitstore.ID    // commits of the range that the reviewer did not see
	cut       bool             // it refuses a range whose newest commit is not among those asked about
	copied    bool             // of a commit whose edits this one makes: it may refuse this one, and passes nothing of it
	part      bool             // it covers only a part of the change, so its pass does not make the change reviewed
	aside     bool             // it counts for nothing and is only named
	why       string           // why it does not count for all of the change, as in Beside
	kind      string           // the kind of fault looked for; "" for all
	waits     bool             // for a person
	branch    string           // on which it was requested; "" if HEAD was detached
	change    string           // named by gitstore.ChangeIDs; "" if unknown
	saw       gitstore.ID      // the commit in which its reviewer saw change
	moves     []record.Move    // where the change went
	follows   string           // the earlier round, whose open threads count in this one
	approvers []record.Speaker // as in ReviewSummary
	author    string           // of the reviewed commit, for a range of its newest one
	within    []gitstore.ID    // as in ReviewSummary
	steps     []string         // as in RunSummary
	wrote     []string         // who beside the authors of the commit wrote it, or had a run write it
	refusers  []record.Speaker // as in ReviewSummary
	settled   []gitstore.ID    // commits that fix or remove its findings
	at        time.Time        // when the verdict was given; the zero Time: derived from git now
}

// Coverage returns the state of each commit, in the order given. A review counts for the commit that it was of, and for
// a commit that makes exactly the same change to the same content, and for no other. So does the pass of a run for
// commits that make its change together, step by step. What people refuse counts for each commit that makes the same
// edits as well. Coverage reads the index, and the trees of commits that no review names. A commit is approved if a
// person who is not among its authors approved it.
func Coverage(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit) ([]Covered, error) {
	return CoverageBy(ctx, s, commits, Bar{})
}

// CoverageBy is Coverage with bar as the condition for approval.
func CoverageBy(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, bar Bar) ([]Covered, error) {
	ids := each.SetOf(commits, func(c gitstore.LoggedCommit) string { return string(c.ID) })
	var err error
	if bar.Verify == VerifyRequire {
		if bar.Base, err = BaseOf(ctx, s, commits, bar.Base); err != nil {
			return nil, err
		}
		s = Vouched(s, bar)
	}
	covers, err := coversOf(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	by, beside, err := byCommit(ctx, s, commits, covers)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *store.Store, []gitstore.LoggedCommit, map[gitstore.ID][]cover) error{
		staleOtherChanges, addCheckedHere, addSameChanges, addRefusedPatches, refuseUnsettled,
	} {
		if err := step(ctx, s, commits, by); err != nil {
			return nil, err
		}
	}
	approvals, err := readApprovals(ctx, s, commits, by, bar)
	if err != nil {
		return nil, err
	}
	covered := make([]Covered, len(commits))
	for i, c := range commits {
		covered[i] = standing(by[c.ID], c, approvals)
		covered[i].Commit, covered[i].Title = c.ID, c.Subject
		covered[i].Beside = beside[c.ID]
		for at, said := range by[c.ID] {
			if said.waits {
				covered[i].asked = by[c.ID][at].newer(covered[i].asked)
			}
		}
	}
	return covered, nil
}

// addCheckedHere adds to by the commits that only this clone knows to be checked, if nobody said anything about them.
func addCheckedHere(_ context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	here, err := s.CheckedHere()
	if err != nil {
		return err
	}
	for _, c := range commits {
		if here[c.ID] && len(by[c.ID]) == 0 {
			by[c.ID] = []cover{{Covered: Covered{
				State: CoverReviewed, Level: LevelChecked, Outcome: record.OutcomePassed, Verdict: reply.Checked,
				reviewer: record.Builtin, Passed: true,
			}}}
		}
	}
	return nil
}

// Known returns the review that already covers what a hook asked the same reviewer about. It returns "" if there is
// none, or if a person asked.
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
	if err != nil || covered[0].State != CoverCarried || covered[0].Refused ||
		covered[0].reviewer != review.Request.Reviewer {
		return "", err
	}
	return covered[0].Review, nil
}

// AskedByItself reports whether the review was requested automatically, of one commit from one reviewer, and is
// unanswered.
func AskedByItself(review record.Review) bool {
	return asksByItself(review.Source) && review.Request.Subject.Kind == record.SubjectCommit &&
		review.Request.Kind == "" && len(review.Request.Reviewers()) == 1 && len(review.Submissions) == 0
}

// asksByItself reports whether requests from that source are made automatically.
func asksByItself(source string) bool {
	return source == "hook" || source == "follow" || source == "scan"
}

// branchShown is how many commits to look at on a branch that has no base.
const branchShown = 20

// BranchCommits returns the commits of the branch at HEAD, newest first: those since it forked from against, or the
// newest few if it has no base ("").
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

// coversOf returns the covers of the reviews and runs that name one of ids, and of reviews whose request is not here
// those that refuse. Of reviews that say the same about the same change it reads only the newest, since standing needs
// no other.
func coversOf(ctx context.Context, s *store.Store, ids map[string]bool) ([]cover, error) {
	counts := func(status string) bool { return status != string(record.ReviewCancelled) }
	reviews, _, err := s.Reviews(ctx, store.Filter{Mention: ids, Status: counts, Newest: true, Carried: true,
		Unasked: true})
	if err != nil {
		return nil, err
	}
	var covers []cover
	for _, r := range reviews {
		counts := func(c cover) bool { return c.Refused || !r.Unasked() }
		covers = append(covers, each.Where(reviewCovers(r), counts)...)
	}
	runs, _, err := s.Runs(ctx, store.Filter{Mention: ids})
	for _, r := range runs {
		covers = append(covers, runCovers(r)...)
	}
	return covers, err
}

// reviewCovers returns what a review covers: its commit or range, and where that moved.
func reviewCovers(r record.ReviewSummary) []cover {
	c := cover{
		Covered: Covered{
			State: CoverReviewed, Review: r.ID, Outcome: r.Outcome, Verdict: r.Verdict, Open: r.Open, Claimed: r.Claimed,
			Unconfirmed: r.Unconfirmed, LeftOut: r.LeftOut, NotText: r.NotText, RedOnBase: r.RedOnBase, reviewer: r.Reviewer,
		},
		span:      gitstore.Span{From: r.Base, To: r.Commit},
		origin:    gitstore.Span{From: r.Base, To: r.Commit},
		ranged:    r.Kind == record.SubjectRange,
		settled:   r.FixedBy,
		approvers: r.Approvers, refusers: r.Refusers, unseen: r.Unseen, author: r.Author,
		within: r.Within,
		part:   r.Part(), kind: r.ReviewKind,
		change: r.Change, saw: r.Saw, moves: r.Moves, follows: r.Follows, branch: r.Branch,
		waits: r.Status == record.ReviewOpen && r.Reviewer == record.Human,
		at:    cmp.Or(r.VerdictAt, r.SubmittedAt, r.CreatedAt),
	}
	if !c.ranged && r.Author != "" {
		c.wrote = []string{r.Author}
	}
	if r.Run != "" {
		c.wrote = append(c.wrote, r.RequestedBy)
	}
	c.Level = levelOf(r.Looked, r.Outcome)
	c.Passed = r.Outcome == record.OutcomePassed ||
		r.Outcome == record.OutcomeFailed && r.Open == 0 && r.Unconfirmed == 0 && r.Asked == "" && r.CommentCount > 0
	c.settle(r)
	// a review of a part counts only if it refuses, or passes for its kind
	if c.part && c.State != CoverReviewed {
		return nil
	}
	if c.part && c.Passed && !c.aside {
		c.aside, c.why = r.Paths, "was limited to "+cmp.Or(c.kind, "paths")
	}
	if c.aside {
		return []cover{c}
	}
	c.Refused = c.Refused || r.Outcome == record.OutcomeFailed && !c.Passed
	if r.Critical > r.Disputed && (c.Passed || r.Outcome == record.OutcomeCommented) { // a remark that is critical
		c.State, c.Passed, c.Refused, c.Verdict = CoverReviewed, false, true, reply.CriticalFail
	}
	return append([]cover{c}, movedCovers(r, c)...)
}

// settle sets what the outcome of a review means for c, which has the verdict as it was given.
func (c *cover) settle(r record.ReviewSummary) {
	switch {
	case r.Outcome == "" && r.Blocked > 0: // nobody has answered what refuses the round before
		c.Refused, c.Before = true, true
	case r.Outcome == "":
		c.State = CoverPending
	case r.Undecided && !c.Passed: // agents refuse it, and nobody knows whether one more does
		c.Verdict = undecided
	case r.Unreadable: // nobody knows what it says
		c.aside, c.why = true, "has an answer that could not be read"
	case r.Outcome == record.OutcomeCommented && !r.RulesLooked:
		c.State, c.Level = CoverPending, "" // a remark is no verdict
	case r.Outcome == record.OutcomePartial && !r.RulesLooked: // nobody looked at the rest
		c.Level = ""
	case r.Outcome == record.OutcomeNothing:
		c.State, c.Passed = CoverNothing, true
		if r.Unshown {
			c.State, c.Passed = CoverUnshown, false
		}
	}
}

// movedCovers returns what a review covers where its change moved to; c is what it covers at first.
func movedCovers(r record.ReviewSummary, c cover) (covers []cover) {
	for _, m := range r.Moves {
		if m.To == "" || m.To == r.Commit {
			continue
		}
		at := c
		at.From, at.span, at.unseen = m.From, gitstore.Span{From: m.Base, To: m.To}, m.Unseen
		switch {
		case m.State == record.MoveCarried && c.State == CoverReviewed:
			at.State = CoverCarried
		case m.State == record.MoveStale && c.State != CoverPending: // of a change that nobody looked at nothing is stale
			refuses := c.Refused && len(c.refusers) > 0                          // people did, and they have not settled it
			at.State, at.Level, at.change, at.ranged = CoverStale, "", "", false // Passed: see refuseUnsettled
			at.Refused, at.Before = refuses, refuses
			if refuses {
				at.State, at.From = CoverReviewed, r.Commit
			}
		}
		covers = append(covers, at)
	}
	return covers
}

// runCovers returns what a run covers: its work as its last review saw it, the landed commits, and what its reviewer
// refused before the run went on. The landed commits are stale if they make another change. A run that was given up
// passes nothing; what refused its work stands.
func runCovers(r record.RunSummary) (covers []cover) {
	if r.Status == record.RunRunning || r.Commit == "" {
		return nil
	}
	givenUp := r.Status == record.RunSkipped || r.Status == record.RunAborted
	if r.Verdict != "" && !r.Unread && !(givenUp && (r.Verdict.Passed() || r.Change == "")) {
		covers = newestCovers(r)
	}
	for _, step := range r.Refused {
		covers = append(covers, cover{
			Covered: Covered{State: CoverReviewed, Run: r.ID, Verdict: step.Verdict, Refused: true, Earlier: true,
				Outcome: record.OutcomeFailed, Level: levelOf(step.Looked, record.OutcomeFailed), reviewer: step.Reviewer},
			span: gitstore.Span{From: r.Base, To: step.Commit}, ranged: true, at: step.At, change: step.Change,
			saw: step.Commit, steps: r.Steps, wrote: startedBy(r),
		})
	}
	return covers
}

// startedBy returns who had the run write its work, if that is known.
func startedBy(r record.RunSummary) []string {
	return each.Where([]string{r.StartedBy}, func(by string) bool { return by != "" })
}

// newestCovers returns what the newest round of a run covers.
func newestCovers(r record.RunSummary) []cover {
	c := cover{
		Covered: Covered{State: CoverReviewed, Run: r.ID, Verdict: r.Verdict, Passed: record.NothingInTheWay(r.Result),
			Outcome: record.OutcomeFailed, NotText: r.NotText, reviewer: r.Reviewer},
		span: gitstore.Span{From: r.Base, To: r.Commit}, ranged: true, unseen: r.Unseen, at: r.SaidAt,
		change: r.Change, saw: r.Commit, steps: r.Steps,
		wrote: startedBy(r),
	}
	if c.Passed {
		c.Outcome = record.OutcomePassed
	}
	c.Level = levelOf(r.Looked, c.Outcome)
	// A person who accepted the run answered what is less than CRITICAL; its configuration answers nothing.
	byPolicy := r.Accepted != nil && r.Accepted.Policy
	byPolicy = byPolicy || r.Result == record.ResultBelow
	c.Refused = !c.Passed && (r.Status != record.RunCompleted || byPolicy || c.Verdict == reply.CriticalFail)
	covers := []cover{c}
	if l := r.LandedAs; l != nil && l.Commit != "" && l.Commit != r.Commit {
		c.From, c.State, c.span, c.change = r.Commit, CoverCarried, gitstore.Span{From: l.Onto, To: l.Commit}, ""
		if l.Stale {
			c.State, c.Level, c.Passed = CoverStale, "", false
		}
		covers = append(covers, c)
	}
	return covers
}

// byCommit groups covers by the commits of commits that they cover, and returns what passed beside them. A range passes
// only with its newest commit; a person's refusal of it holds also without that commit.
func byCommit(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	covers []cover) (by map[gitstore.ID][]cover, beside map[gitstore.ID]*Beside, err error) {
	inView := each.SetOf(commits, func(c gitstore.LoggedCommit) gitstore.ID { return c.ID })
	by, beside = map[gitstore.ID][]cover{}, map[gitstore.ID]*Beside{}
	for _, c := range covers {
		whole := inView[c.span.To]
		if c.why != "" && c.State == CoverReviewed {
			beside[c.span.To] = &Beside{c.Review, c.why, c.Passed && c.Level == LevelReviewed}
		}
		if c.aside {
			continue
		}
		if !c.ranged {
			if whole {
				by[c.span.To] = append(by[c.span.To], c)
			}
			continue
		}
		c.cut = !whole && c.Refused && len(c.refusers) > 0
		if !whole && !c.cut && (!c.Passed || len(c.approvers) == 0) {
			continue
		}
		if c.row, err = s.Repo.Between(ctx, c.span.From, c.span.To, maxCovered); err != nil {
			return nil, nil, err
		}
		for _, id := range c.row {
			switch unseen := slices.Contains(c.unseen, id); {
			case !inView[id] || c.Earlier && c.there(by[id]):
			case !whole && !c.cut:
				beside[id] = &Beside{Of: c.Review, Why: "passed a range that goes on after it"}
			case !unseen || id == c.span.To && !c.Passed:
				by[id] = append(by[id], c)
			case c.Passed:
				beside[id] = &Beside{Of: cmp.Or(c.Review, c.Run), Why: "passed a range that does not show all of it"}
			}
		}
	}
	return by, beside, nil
}

// maxCovered is how many commits of a range are looked at.
const maxCovered = 10_000

// addSameChanges adds to by the covers of the same change in other commits: all of them for commits without a review of
// their own, and for others what refuses it, who wrote it and, if only rules looked at them, verdicts on the code.
func addSameChanges(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	changeOf, own := map[gitstore.ID]string{}, map[gitstore.ID]cover{}
	var unnamed []gitstore.LoggedCommit
	for _, c := range commits {
		said, reviewed := each.First(by[c.ID], func(c cover) bool {
			return !c.part && !c.Earlier && (c.State == CoverReviewed || c.State == CoverCarried)
		})
		if reviewed {
			own[c.ID] = said
		}
		switch {
		case reviewed && said.single():
			changeOf[c.ID] = said.change
		case !reviewed || len(said.approvers) > 0: // who wrote a commit of a range may have approved the range
			unnamed = append(unnamed, c)
		}
	}
	changes, err := changesOf(ctx, s, unnamed)
	if err != nil {
		return err
	}
	for i, c := range unnamed {
		changeOf[c.ID] = changes[i]
	}
	rows, err := newRunRows(ctx, s, commits, unnamed, changeOf)
	if err != nil {
		return err
	}
	known, covers, err := coversOfChanges(ctx, s, changeOf)
	if err != nil {
		return err
	}
	inRow, err := rows.add(ctx, changeOf, covers, by)
	if err != nil {
		return err
	}
	left := map[gitstore.Span]int{}
	for id, change := range changeOf {
		if inRow[id] {
			continue
		}
		said, reviewed := own[id]
		if change == gitstore.NoChange && !reviewed {
			by[id] = append(by[id], cover{Covered: Covered{State: CoverNothing, Passed: true}})
		}
		had := by[id]
		// Another verdict may replace one that refuses, and one on the code adds to that of rules.
		refused := slices.ContainsFunc(had, func(c cover) bool { return c.Refused })
		onlyRules := !slices.ContainsFunc(had, isReviewed)
		for _, same := range known[change] {
			if same.State == CoverReviewed {
				same.From, same.State = same.span.To, CoverCarried
			}
			if reviewed {
				wroteToo(had, append(squashed(ctx, s, same, left), same.wrote...))
			}
			there := same.there(had)
			more := same.Refused || refused || onlyRules && isReviewed(same)
			if !reviewed && !(same.Earlier && there) || said.single() && more && !there {
				by[id] = append(by[id], same)
			}
		}
	}
	return nil
}

// coversOfChanges returns the covers of reviews of whole changes that have a verdict, by the change, and all covers of
// the reviews and runs that name one of the changes.
func coversOfChanges(ctx context.Context, s *store.Store,
	changeOf map[gitstore.ID]string) (known map[string][]cover, covers []cover, err error) {
	ids, known := map[string]bool{}, map[string][]cover{}
	for _, change := range changeOf {
		if change != "" && change != gitstore.NoChange {
			ids[change] = true
		}
	}
	if len(ids) == 0 {
		return known, nil, nil
	}
	covers, err = coversOf(ctx, s, ids)
	for _, c := range covers {
		if c.change != "" && c.State != CoverPending && !c.part && !c.aside {
			known[c.change] = append(known[c.change], c)
		}
	}
	return known, covers, err
}

// there reports whether a cover of the same review or run is among covers.
func (c *cover) there(covers []cover) bool {
	return slices.ContainsFunc(covers, func(o cover) bool { return o.Review == c.Review && o.Run == c.Run })
}

// isReviewed reports whether c is of a look at the code by an agent or a person, and not only by rules.
func isReviewed(c cover) bool { return c.Level == LevelReviewed }

// single reports whether c is of the change of one commit.
func (c *cover) single() bool { return !c.ranged || len(c.row) == 1 && c.change != "" }

// wroteToo adds who wrote the same change elsewhere to the covers that people approved.
func wroteToo(covers []cover, who []string) {
	for i, c := range covers {
		if len(c.approvers) > 0 {
			covers[i].wrote = append(slices.Clip(c.wrote), who...)
		}
	}
}

// changesOf names the change of each commit, as gitstore.ChangeIDs does. For a merge that is what it changes beyond the
// merge that git would make. The name is "" if it cannot be computed here.
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
				spans[i].To = "?" // names nothing, so that ChangeIDs returns ""
			}
		}
	}
	return s.Repo.ChangeIDs(ctx, spans)
}

// levelOf returns the level of a look with an outcome. Comments alone, or a look at a part, do not mean that all was
// seen.
func levelOf(looked record.Looked, outcome record.Outcome) Level {
	switch {
	case looked == "":
		return ""
	case looked == record.LookedRules || looked == record.LookedNames ||
		outcome != record.OutcomePassed && outcome != record.OutcomeFailed:
		return LevelChecked
	}
	return LevelReviewed
}

// levelIn returns the highest level among said for commit, and the approvals that count. A person who requests changes
// cancels earlier approvals of the same content.
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
	approved := a.of(standing, writersOf(said), commit)
	if level == LevelReviewed && approved.met() {
		level = LevelApproved
	}
	return level, approved
}

// standing computes the state of commit from the covers said.
func standing(said []cover, commit gitstore.LoggedCommit, a approvals) Covered {
	newest := map[word]*cover{} // one commit may combine several, each with its own review
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
			replaced := func(of cover) bool { return of.replaces(c) }
			if c.part && c.Passed || slices.ContainsFunc(said, replaced) {
				continue
			}
			key := c.word()
			if c.Refused {
				key.refusers = strings.Join(each.Of(c.refusers, func(by record.Speaker) string { return by.By }), "\n")
			}
			newest[key] = said[i].newer(newest[key])
		}
	}
	worst := Covered{}
	if len(newest) > 0 { // a forged cycle of rounds leaves none
		worst = slices.MaxFunc(slices.Collect(maps.Values(newest)), worse).Covered
	}
	switch {
	case len(newest) > 0 && (whole || worst.Refused): // who refuses a part refuses the commit
		worst.Level, worst.Approvals = levelIn(said, commit, a)
		if !whole {
			worst.State = CoverUnreviewed
		}
		nobody := worst.Approvals == nil || worst.Approvals.Have == 0
		writers := writersOf(said)
		own := slices.DeleteFunc(slices.Clone(said), func(c cover) bool { return !a.byAuthor(c, writers, commit) })
		if worst.ByAuthor = nobody && worst.Level != LevelApproved && len(own) > 0; worst.ByAuthor {
			same := slices.IndexFunc(own, func(c cover) bool { return c.Review == worst.Review })
			worst.authorIn = own[max(0, same)].Review
		}
		switch {
		case worst.State == CoverReviewed && worst.Level == LevelChecked:
			worst.State = CoverChecked
		case worst.State == CoverReviewed && worst.Level == "" && !worst.Refused: // an answer that could not be read
			worst.State = CoverUnreviewed
		}
		return worst
	case nothing != nil:
		return nothing.Covered
	case stale != nil && pending != nil:
		return Covered{State: CoverStale, Review: pending.Review, From: stale.From, reviewer: pending.reviewer}
	case stale != nil:
		stale.Passed = false
		return stale.Covered
	case pending != nil:
		return pending.Covered
	}
	return Covered{State: CoverUnreviewed}
}

// replaces reports whether c is a later word than earlier, which does not count beside it. A later round is later than
// the round before, whenever that was answered. What people refused in a part, or in a range without its newest commit,
// they may pass in any later review of the whole.
func (c cover) replaces(earlier cover) bool {
	if earlier.part || earlier.cut {
		people := len(earlier.refusers) > 0 && c.reviewer == earlier.reviewer
		return c.takesBack(earlier) ||
			people && c.hears(earlier) && (c.after(&earlier) || !earlier.part && c.continues(earlier))
	}
	onItself := c.speaksFor(earlier.reviewer) && !c.at.Before(earlier.at) && !earlier.speaksFor(earlier.reviewer)
	again := len(earlier.refusers) > 0 && !c.Before && c.word() == earlier.word() && c.after(&earlier)
	return c.hears(earlier) &&
		(onItself && !earlier.continues(c) || again || c.continues(earlier) || c.takesBack(earlier))
}

// takesBack reports whether all who refuse earlier approved later, in c's review, a change that includes the commit.
func (c cover) takesBack(earlier cover) bool {
	return len(earlier.refusers) > 0 && c.Passed && c.after(&earlier) &&
		!slices.ContainsFunc(earlier.refusers, func(refused record.Speaker) bool {
			return !slices.ContainsFunc(c.approvers, func(by record.Speaker) bool { return by.TakesBack(refused) })
		})
}

// word is what a later verdict of the same kind replaces. A person's refusal is replaced by that person alone.
type word struct{ reviewer, change, kind, refusers string }

func (c *cover) word() word {
	return word{reviewer: c.reviewer, change: cmp.Or(c.change, string(c.span.To)), kind: c.kind}
}

// hears reports whether each person, or agent, who refused earlier has given a verdict in c's review.
func (c *cover) hears(earlier cover) bool {
	return !slices.ContainsFunc(earlier.refusers, func(refused record.Speaker) bool {
		takesBack := func(by record.Speaker) bool { return by.TakesBack(refused) }
		return c.reviewer != refused.By && !slices.ContainsFunc(c.approvers, takesBack) &&
			!slices.ContainsFunc(c.refusers, takesBack)
	})
}

// after reports whether c's verdict on the whole change was given after than's.
func (c *cover) after(than *cover) bool {
	whole := !c.part && (c.State == CoverReviewed || c.State == CoverCarried)
	return whole && c.Review != than.Review && c.newer(than) == c
}

// newer returns the newer of c and than; than may be nil.
func (c *cover) newer(than *cover) *cover {
	if than == nil || c.at.IsZero() {
		return c
	}
	if than.at.IsZero() || cmp.Or(c.at.Compare(than.at), cmp.Compare(c.Review, than.Review)) < 0 {
		return than
	}
	return c
}

// speaksFor reports whether c is reviewer's verdict on this very commit as a whole. It replaces the same reviewer's
// earlier verdicts that include the commit.
func (c *cover) speaksFor(reviewer string) bool {
	return c.State == CoverReviewed && !c.Before && !c.ranged && !c.part && c.reviewer == reviewer
}

// continues reports whether c is the same reviewer's verdict in the round after earlier.
func (c *cover) continues(earlier cover) bool {
	return c.follows != "" && c.follows == earlier.Review && c.reviewer == earlier.reviewer && !c.part &&
		(c.State == CoverReviewed || c.State == CoverCarried)
}

// worse orders covers by verdict: those that did not pass come last.
func worse(a, b *cover) int {
	rank := func(c *cover) int {
		if c.Passed {
			return reply.VerdictRank(c.Verdict)
		}
		return 100 + reply.VerdictRank(c.Verdict)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Review, b.Review))
}
