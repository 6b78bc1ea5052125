// Package shown is the model of a review and its remarks as every face shows them: the page, the terminal screen, text,
// and the tools of agents. It decides what was said, where it is in the code and what became of it; a face adds only
// how that looks.
package shown

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
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// Review is a review together with its reader's draft.
type Review struct {
	record.Review
	Draft   store.Draft
	Remarks []*Remark // of submissions, in order, then of the draft
	from    []int     // index in Remarks where each submission's remarks begin, and last, where the draft's begin
}

// Remark is a finding, a person's comment, or a comment of a draft.
type Remark struct {
	ID        string
	Draft     bool
	Author    string // all who said it, separated by commas; for a draft, its owner
	At        time.Time
	Severity  reply.Severity
	Rule      string
	File      string // "" for the change as a whole
	Side      record.Side
	Start     int // first line, from 1; 0 for the whole file
	End       int
	Text      string // Markdown
	Fix       string
	Quote     []string // the lines that it is about, as they were
	Answers   []record.Answer
	Replies   []record.Reply // oldest first
	Open      bool           // as from record.Review.IsOpen
	Outdated  bool           // its lines are not in the shown change
	Why       string
	Was       string         // where it was made, if it is shown elsewhere
	Now       *locate.Placed // where it is in the newest version; nil if unknown: see WhereNow
	Disputed  bool           // fewer reviewers than the quorum reported it or something similar
	Similar   []string       // ids of similar findings
	Ruling    record.RulingKind
	RulingBy  string // the judge
	RulingWhy string

	Made record.Comment // the comment as it was made

	Round   int  // for a remark of an earlier round: that round, from 1; else 0
	Refuses bool // for a carried remark: the review does not pass until it is settled
}

// New returns a review as its reader sees it. Call Settle and Locate to find where the remarks are now.
func New(r record.Review, draft store.Draft) *Review {
	v := &Review{Review: r, Draft: draft}
	for i, sub := range r.Submissions {
		v.from = append(v.from, len(v.Remarks))
		for _, j := range r.SaidFirst(i) {
			v.add(finding(r, sub, j))
		}
		for _, c := range sub.Comments {
			v.add(comment(c, sub.Reviewer, sub.At))
		}
	}
	v.from = append(v.from, len(v.Remarks))
	for _, c := range draft.Comments {
		remark := comment(c, draft.Actor, time.Time{})
		remark.Draft = true
		v.Remarks = append(v.Remarks, remark)
	}
	return v
}

// add appends a submitted remark with its answers and replies.
func (v *Review) add(r *Remark) {
	r.Replies = v.RepliesTo(r.ID)
	r.Answers, r.Open = v.AnswersTo(r.ID), v.IsOpen(reply.Finding{ID: r.ID, Severity: r.Severity})
	v.Remarks = append(v.Remarks, r)
}

// Of returns the remarks of a submission by its index.
func (v *Review) Of(submission int) []*Remark {
	return v.Remarks[v.from[submission]:v.from[submission+1]]
}

// Unsettled returns the number of open submitted remarks.
func (v *Review) Unsettled() (open int) {
	for _, r := range v.Remarks {
		if r.Stands() == Open {
			open++
		}
	}
	return open
}

// Title returns the title of the reviewed commit, or what was typed to request the review.
func Title(r record.Review) string { return cmp.Or(r.Request.Subject.Title, r.Request.Subject.Spec) }

func finding(r record.Review, sub record.Submission, j record.Joined) *Remark {
	remark := &Remark{
		ID: j.ID, Author: strings.Join(j.SaidBy, ", "), At: sub.At, Severity: j.Severity, Rule: j.Rule, File: j.File,
		Side: record.SideNew, Start: j.Line, End: max(j.Line, j.EndLine), Text: j.Issue, Fix: j.Fix,
		Disputed: j.Disputed, Similar: j.Similar,
		Made: record.Comment{
			ID: j.ID, File: j.File, StartLine: j.Line, EndLine: j.EndLine, Side: record.SideNew, Commit: sub.Tree,
		},
	}
	if j.Judged != nil {
		remark.Ruling, remark.RulingBy, remark.RulingWhy = j.Judged.Kind, r.Request.Judge, j.Judged.Reason
	}
	return remark
}

func comment(c record.Comment, by string, at time.Time) *Remark {
	return &Remark{
		ID: c.ID, Author: by, At: at, Severity: c.Severity, File: c.File, Side: SideOf(c), Start: c.StartLine,
		End: max(c.StartLine, c.EndLine), Text: c.Comment, Quote: QuoteOf(c), Made: c,
	}
}

// SideOf returns the side of a comment; the default is the new side.
func SideOf(c record.Comment) record.Side { return cmp.Or(c.Side, record.SideNew) }

// QuoteOf returns the lines that a comment quotes.
func QuoteOf(c record.Comment) []string {
	if c.SelectedText == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(c.SelectedText, "\n"), "\n")
}

// Place returns the remark's file and lines as people write them; "" for the whole review.
func (r Remark) Place() string {
	return safetext.Line(reply.Finding{File: r.File, Line: r.Start, EndLine: r.End}.Place())
}

// Last returns the newest answer to the remark.
func (r Remark) Last() (answer record.Answer, ok bool) {
	if len(r.Answers) == 0 {
		return answer, false
	}
	return r.Answers[len(r.Answers)-1], true
}

// State returns the newest answer in words, such as fixed or claimed fixed; "" without an answer.
func (r Remark) State() string {
	if last, ok := r.Last(); ok {
		return last.Word()
	}
	return ""
}

// Refuted reports whether the judge refuted the remark. Every face folds such remarks.
func (r Remark) Refuted() bool { return r.Ruling == record.Refuted }

// Standing is how far a remark has been dealt with.
type Standing string

const (
	Pending  Standing = "pending"  // in a draft
	Open     Standing = "open"     // needs an answer: see record.Review.IsOpen
	Answered Standing = "answered" // deferred: somebody will look again
	Resolved Standing = "resolved" // fixed, gone or refuted
)

// Stands returns how far the remark has been dealt with.
func (r Remark) Stands() Standing {
	switch {
	case r.Draft:
		return Pending
	case r.Refuted():
		return Resolved
	case r.Open:
		return Open
	case r.State() == string(record.AnswerDeferred):
		return Answered
	}
	return Resolved
}

// Settle finds where remarks made on another version are in the reviewed change. It returns gitstore.ErrNotFound if the
// change is not in this clone; the remarks then keep the place where they were made.
func (v *Review) Settle(ctx context.Context, store *store.Store) error {
	return settle(ctx, store, v.Remarks, v.Request.Subject)
}

// Earlier is what earlier rounds of a conversation leave to a later one. Its remarks are at their place in the later
// round's change: see Review.Settle.
type Earlier struct {
	Rounds  record.Conversation // all of them
	Before  int                 // how many there were before; 0 for a first round, which has none of the following
	Since   *store.Since        // what the author changed since the round before; nil if a version is not here
	Carried []*Remark           // open, or claimed fixed: they wait for an answer or a verdict
	Left    []*Remark           // answered, but not settled: see record.Conversation.Left
	Settled int                 // findings
}

// EarlierThan returns what the rounds before a review leave to it. If a version is not in this clone, its remarks keep
// the place where they were made.
func EarlierThan(ctx context.Context, records *store.Store, review record.Review) (e Earlier, err error) {
	e.Rounds, err = records.Conversation(ctx, review)
	e.Before = max(0, e.Rounds.Place(review.ID))
	if err != nil || e.Before == 0 {
		return e, err
	}
	subject := review.Request.Subject
	since, err := records.Since(ctx, e.Rounds[e.Before-1].Request.Subject, subject)
	if err == nil {
		e.Since = &since
	}
	left, settled := e.Rounds.Left(e.Before)
	e.Carried, e.Left, e.Settled = remarksOf(e.Rounds, e.Rounds.Carried(e.Before)), remarksOf(e.Rounds, left), settled
	settleErr := settle(ctx, records, slices.Concat(e.Carried, e.Left), subject)
	return e, gitstore.IgnoreNotFound(cmp.Or(err, settleErr))
}

func remarksOf(rounds record.Conversation, threads []record.Thread) (remarks []*Remark) {
	for _, t := range threads {
		for _, r := range New(rounds[t.Round-1], store.Draft{}).Remarks {
			if r.ID == t.Finding.ID {
				r.Round, r.Refuses = t.Round, t.Refuses
				remarks = append(remarks, r)
			}
		}
	}
	return remarks
}

func settle(ctx context.Context, store *store.Store, remarks []*Remark, subject record.Subject) error {
	for _, r := range remarks {
		at, err := subject.Tree, error(nil)
		if r.Side == record.SideOld {
			at, err = store.ComparedWith(ctx, subject)
		}
		made := r.Made.Commit
		if err != nil {
			return err
		}
		if r.File == "" || made == "" || made == at || r.Side == record.SideNew && made == subject.Commit {
			continue
		}
		placed, err := locate.Place(ctx, store, r.Made, at)
		if err != nil {
			return err
		}
		if placed.Moved {
			r.Was = r.Place()
		}
		r.File, r.Start, r.End = placed.File, placed.StartLine, placed.EndLine
		r.Outdated, r.Why = placed.Outdated, placed.Why
	}
	return nil
}

// maxPlaced is the maximum number of remarks to look for in the newest version.
const maxPlaced = 200

// Locate finds where the remarks are in the newest version: see WhereNow.
func (v *Review) Locate(ctx context.Context, store *store.Store) error {
	made := each.Of(v.Remarks, func(r *Remark) record.Comment { return r.Made })
	now, err := WhereNow(ctx, store, v.Review, made[:min(len(made), maxPlaced)])
	for _, r := range v.Remarks {
		r.Now = now[r.Made.ID]
	}
	return err
}

// WhereNow returns where comments on a review are now, by id: at HEAD if what is checked out contains the reviewed
// code, else in the newest version of the change that this clone knows. Comments on the old side, or without a file,
// have no place there, and none has one if that version is not in this clone.
func WhereNow(ctx context.Context, store *store.Store, review record.Review,
	made []record.Comment) (map[string]*locate.Placed, error) {
	made = slices.DeleteFunc(slices.Clone(made), func(c record.Comment) bool {
		return c.File == "" || c.Side == record.SideOld
	})
	if len(made) == 0 {
		return nil, nil
	}
	at, err := newestVersion(ctx, store, review)
	if err != nil || at == "" {
		return nil, err
	}
	placed, err := locate.Places(ctx, store, made, at)
	now := map[string]*locate.Placed{}
	for i := range placed {
		now[made[i].ID] = &placed[i]
	}
	return now, err
}

// newestVersion returns the commit in which to look for the remarks on a review, or "" if it is not in this clone.
func newestVersion(ctx context.Context, store *store.Store, review record.Review) (gitstore.ID, error) {
	rounds, err := store.Conversation(ctx, review)
	if err != nil {
		return "", err
	}
	head, err := store.Repo.Head(ctx)
	if err != nil && !errors.Is(err, gitstore.ErrUnborn) {
		return "", err
	}
	last := rounds[len(rounds)-1]
	code := cmp.Or(last.At(), last.Request.Subject.Base)
	if last.At() == "" && last.Writer == store.Repo.Writer() { // the working tree of this clone
		return head, nil
	}
	if head != "" {
		if within, err := store.Repo.IsAncestor(ctx, code, head); err == nil && within {
			return head, nil
		}
	}
	subject, err := lineage.Newest(ctx, store, rounds)
	if err != nil {
		return "", gitstore.IgnoreNotFound(err)
	}
	if _, err := store.Repo.TreeOf(ctx, subject.Tree); err != nil {
		return "", gitstore.IgnoreNotFound(err)
	}
	return subject.Tree, nil
}

// Later says where something is in the newest version if it moved: "now at FILE:LINE" or "outdated: WHY"; else "".
func Later(at *locate.Placed) string {
	switch {
	case at == nil:
		return ""
	case at.Outdated:
		return "outdated: " + at.Why
	case at.Moved:
		return "now at " + safetext.Line(reply.Finding{File: at.File, Line: at.StartLine, EndLine: at.EndLine}.Place())
	}
	return ""
}

// Line is a line on one side of a file, from 1; 0 stands for the file.
type Line struct {
	Side record.Side
	Line int
}

// Line returns the line below which to show the remark: its last one, or the file if it is outdated.
func (r Remark) Line() Line {
	if r.Outdated {
		return Line{r.Side, 0}
	}
	return Line{r.Side, r.End}
}

// saying is a Remark or a type of a face that embeds one.
type saying interface{ said() *Remark }

func (r *Remark) said() *Remark { return r }

// ByFile groups remarks by files and lines of a change. index returns the index of a file in the change, or false.
// Remarks without a file, and on files outside the change, are omitted.
func ByFile[R saying](remarks []R, index func(name string) (int, bool)) map[int]map[Line][]R {
	bound := map[int]map[Line][]R{}
	for _, r := range remarks {
		at, known := index(r.said().File)
		if r.said().File == "" || !known {
			continue
		}
		if bound[at] == nil {
			bound[at] = map[Line][]R{}
		}
		bound[at][r.said().Line()] = append(bound[at][r.said().Line()], r)
	}
	return bound
}

// Lines returns the lines that have remarks, from the top.
func Lines[R any](bound map[Line][]R) []Line {
	return slices.SortedFunc(maps.Keys(bound), func(a, b Line) int {
		return cmp.Or(a.Line-b.Line, cmp.Compare(a.Side, b.Side))
	})
}

// InOrder sorts remarks in the order of a change with the given number of files: those without a file first, those on
// files outside the change last, and drafts after submitted remarks on the same line.
func InOrder[R saying](remarks []R, index func(name string) (int, bool), files int) []R {
	at := func(r *Remark) int {
		if r.File == "" {
			return -1
		}
		if i, known := index(r.File); known {
			return i
		}
		return files
	}
	drafts := map[bool]int{true: 1}
	return slices.SortedStableFunc(slices.Values(remarks), func(one, other R) int {
		a, b := one.said(), other.said()
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.End, b.End),
			cmp.Compare(drafts[a.Draft], drafts[b.Draft]), a.At.Compare(b.At))
	})
}
