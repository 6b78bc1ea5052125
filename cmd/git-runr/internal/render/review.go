package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/suggest"
)

// ReviewDocument is a review in --json output: its folded state and, at the top level, what scripts need first.
type ReviewDocument struct {
	record.Review
	Outcome record.Outcome `json:"outcome,omitempty"`
	Looked  record.Looked  `json:"looked,omitempty"` // how far the most thorough reviewer looked
	Verdict reply.Verdict  `json:"verdict,omitempty"`
	Waiting []string       `json:"waiting_for"` // reviewers without an answer, and the judge
	// StillAsked names the people whose answers are still awaited.
	StillAsked []string               `json:"still_asked,omitempty"`
	SoFar      []string               `json:"so_far,omitempty"`   // output so far of reviewers working in this clone
	Absent     []string               `json:"absent,omitempty"`   // reviewers of Waiting whose answers are not required
	Opinions   []record.Opinion       `json:"opinions"`           // verdict of each reviewer, without refuted findings
	Disagree   bool                   `json:"disagree,omitempty"` // some pass it and others do not
	Findings   []record.Joined        `json:"findings"`           // of agents, with equal ones joined, and of people
	Requests   []record.JoinedRequest `json:"requests"`           // requests that are not findings
	Comments   []CommentDocument      `json:"comments"`           // by people
	// ChecksMissing says which checks did not run, if the review passes only with its checks.
	ChecksMissing string `json:"checks_missing,omitempty"`
	// These fields are set in a conversation of several rounds, oldest first: the rounds, what the author changed
	// since the previous one, and what is carried over from earlier ones.
	Rounds  []RoundDocument   `json:"rounds,omitempty"`
	Since   *store.Since      `json:"since_previous,omitempty"`
	Carried []CarriedDocument `json:"carried,omitempty"`
	// Unsettled lists what was answered in earlier rounds without the agreement of those who reported it.
	Unsettled []CarriedDocument `json:"unsettled,omitempty"`
	Settled   int               `json:"settled_before,omitempty"` // settled findings of earlier rounds

	// Unsigned lists events of people that are not signed by their address, if sync.verify is set.
	Unsigned []gitstore.ID `json:"unsigned,omitempty"`

	Markdown string `json:"markdown"` // the comments in the format that agents know, or ""
	Fix      string `json:"-"`        // config.FixLine, or ""
	// NotHere is what to type if the commit under review is not in this clone, or why nothing helps; else "". Place sets
	// it.
	NotHere string `json:"not_here,omitempty"`
	Forged  string `json:"forged,omitempty"` // why nobody can give a verdict on what the request names; Place sets it
}

// CommentDocument is a comment by a person.
type CommentDocument struct {
	record.Comment
	Reviewer string         `json:"reviewer"`
	Answer   *record.Answer `json:"answer,omitempty"`
	Now      *locate.Placed `json:"now,omitempty"` // its place in the newest version; see Place
}

// BuiltinIs explains the built-in reviewer. It is printed at the first use.
const BuiltinIs = `The built-in reviewer matches rules (secrets, conflict markers, stubs, debug lines, switched-off tests,
eval, SQL put together from strings, forgotten lock files, whitespace, odd files) and runs the checks.
It does not read code: a change without findings is checked, not reviewed.`

// NewReviewDocument returns the document of a review, without the current places of comments.
func NewReviewDocument(r record.Review) ReviewDocument {
	doc := ReviewDocument{
		Review: r, Outcome: r.Outcome(), Looked: r.Looked(), Verdict: r.Verdict(),
		Waiting:    append([]string{}, r.Waiting()...),
		StillAsked: r.StillAsked(), Absent: r.Absent(), Opinions: append([]record.Opinion{}, r.Opinions()...),
		Disagree: r.Disagree(),
		Findings: r.Joined(), Requests: r.Requests(), Comments: []CommentDocument{},
	}
	for _, sub := range r.Submissions {
		for _, c := range sub.Comments {
			line := CommentDocument{Comment: c, Reviewer: sub.Reviewer}
			if answer, ok := r.AnswerTo(c.ID); ok {
				line.Answer = &answer
			}
			doc.Comments = append(doc.Comments, line)
		}
	}
	if comments := r.Comments(); len(comments) > 0 {
		doc.Markdown = record.FormatReviewMessage(comments)
	}
	return doc
}

// Place sets where the comments of people are in the newest version, and whether what is under review is in this clone.
func (doc *ReviewDocument) Place(ctx context.Context, store *store.Store) error {
	here := store.Here(ctx, doc.Review)
	if forged := new(record.InputError); errors.As(here, &forged) {
		doc.Forged = forged.Why
	}
	if object := new(gitstore.MissingError); errors.As(here, &object) {
		doc.NotHere = cmp.Or(object.Try, "git runr sync")
		if doc.uncommitted() {
			doc.NotHere = object.What
		}
	}
	now, err := shown.WhereNow(ctx, store, doc.Review, doc.Review.Comments())
	for i, c := range doc.Comments {
		doc.Comments[i].Now = now[c.ID]
	}
	return err
}

// uncommitted reports whether the review is of files that were in no commit.
func (doc *ReviewDocument) uncommitted() bool {
	return doc.Request.Subject.Kind == record.SubjectWorktree || doc.Request.Subject.Kind == record.SubjectStaged
}

// RoundDocument is one round of a conversation.
type RoundDocument struct {
	Round   int                 `json:"round"`
	ID      string              `json:"review_id"`
	Status  record.ReviewStatus `json:"status"`
	Verdict reply.Verdict       `json:"verdict,omitempty"`
	Commit  gitstore.ID         `json:"commit,omitempty"`
	Base    gitstore.ID         `json:"base,omitempty"`
}

// CarriedDocument is a finding or comment of an earlier round, with its current lines and its newest answer.
type CarriedDocument struct {
	Round    int            `json:"round"`
	ID       string         `json:"id,omitempty"`
	File     string         `json:"file,omitempty"`
	Line     int            `json:"line,omitempty"`
	EndLine  int            `json:"end_line,omitempty"`
	Outdated string         `json:"outdated,omitempty"` // why it has no lines now
	Issue    string         `json:"issue"`
	By       string         `json:"by"`
	State    string         `json:"state"` // open, or the newest answer: claimed fixed, refuted
	Refuses  bool           `json:"refuses"`
	Answer   *record.Answer `json:"answer,omitempty"`
	Replies  []record.Reply `json:"replies,omitempty"`
	remark   *shown.Remark
}

// Converse sets the rounds of the conversation that the review belongs to.
func (doc *ReviewDocument) Converse(ctx context.Context, s *store.Store) error {
	earlier, err := shown.EarlierThan(ctx, s, doc.Review)
	if err != nil || len(earlier.Rounds) < 2 {
		return err
	}
	for i, r := range earlier.Rounds {
		subject := r.Request.Subject
		doc.Rounds = append(doc.Rounds, RoundDocument{i + 1, r.ID, r.Status, r.Verdict(), subject.Commit, subject.Base})
	}
	doc.Since, doc.Carried, doc.Unsettled = earlier.Since, carried(earlier.Carried), carried(earlier.Left)
	doc.Settled = earlier.Settled
	return nil
}

func carried(remarks []*shown.Remark) (lines []CarriedDocument) {
	for _, r := range remarks {
		line := CarriedDocument{
			Round: r.Round, ID: r.ID, File: r.File, Line: r.Start, Issue: r.Text, By: r.Author, State: cmp.Or(r.State(), "open"),
			Refuses: r.Refuses, Replies: r.Replies, Outdated: r.Why, remark: r,
		}
		if r.End > r.Start {
			line.EndLine = r.End
		}
		if last, ok := r.Last(); ok {
			line.Answer = &last
		}
		lines = append(lines, line)
	}
	return lines
}

// writeRounds prints the number of the round, and what changed since the previous one.
func writeRounds(w io.Writer, doc ReviewDocument) {
	n := 1 + slices.IndexFunc(doc.Rounds, func(r RoundDocument) bool { return r.ID == doc.ID })
	if n == 0 {
		return
	}
	if newest := doc.Rounds[len(doc.Rounds)-1]; n < len(doc.Rounds) {
		safetext.Fprintf(w, "round %d of %d; the newest is review %s\n", n, len(doc.Rounds), newest.ID)
		return
	}
	safetext.Fprintf(w, "round %d, after review %s\n", n, doc.Rounds[n-2].ID)
	if doc.Since == nil {
		return
	}
	changed := doc.Since.String()
	if doc.Since.Files > 0 {
		changed += ": git runr diff " + doc.ID
	}
	safetext.Fprintf(w, "since round %d %s\n", n-1, changed)
	if len(doc.Since.Clashes) > 0 {
		safetext.Fprintf(w, "the base changed the same lines: %s\n", strings.Join(doc.Since.Clashes, ", "))
	}
}

// writeCarried prints what is carried over from earlier rounds, and in short what they left unsettled.
func writeCarried(w io.Writer, doc ReviewDocument) {
	screen.When(w, len(doc.Carried) > 0, "\nCarried from earlier rounds:\n")
	for _, c := range doc.Carried {
		safetext.Fprintf(w, "\n%s\n", c.head())
		safetext.Fprintf(w, "%s\n", Indented(c.Issue))
		screen.When(w, c.Refuses, "  blocks the review until who reported it agrees, or a check or verify confirms the fix\n")
		if c.Answer != nil {
			safetext.Fprintf(w, "  %s\n", AnswerLine(*c.Answer))
		}
		writeReplies(w, "  ", c.Replies)
	}
	screen.When(w, len(doc.Unsettled) > 0, "\nAnswered in earlier rounds, but not settled:\n")
	for _, c := range doc.Unsettled {
		safetext.Fprintf(w, "  %s: %s\n", c.head(), prose.OneLine(c.Issue))
		safetext.Fprintf(w, "    %s\n", prose.OneLine(AnswerLine(*c.Answer)))
	}
	screen.When(w, doc.Settled > 0, "\n%s closed in earlier rounds.\n", prose.Count(doc.Settled, "finding"))
}

// head returns the id, the place, the reporter and the round.
func (c CarriedDocument) head() string {
	place := cmp.Or(c.remark.Place(), "general")
	if c.remark.Outdated {
		place += " (outdated: " + c.Outdated + ")"
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s  by %s, from round %d", c.ID, place, c.By, c.Round))
}

// notSigned follows the name of somebody who has to sign and did not.
const notSigned = " (not signed by this address)"

// Review prints a review for people.
func Review(w io.Writer, doc ReviewDocument) {
	writeReviewHead(w, doc)
	for _, sub := range doc.Submissions {
		if sub.Decision == "" {
			continue
		}
		by := sub.Of(sub.Reviewer)
		if slices.Contains(doc.Unsigned, sub.Event) {
			by += notSigned
		}
		safetext.Fprintf(w, "\nVerdict: %s by %s, %s\n", screen.MeaningOf(sub.Decision).Of(sub.Decision.Words()), by,
			prose.Count(len(sub.Comments), "comment"))
		screen.When(w, sub.Report.Summary != "", "%s\n", Indented(sub.Report.Summary))
	}
	writeComments(w, doc)
	writeCarried(w, doc)
	for _, f := range doc.Failures {
		reason := record.ReasonOf(f.Reason)
		safetext.Fprintf(w, "\nNot reviewed: %s. %s%s\n", cmp.Or(f.Detail, reason.Title), reason.Explanation,
			tookSuffix(f.Spent))
		writePassedOver(w, "  ", f.Spent)
		screen.When(w, f.Setting != nil, "  ended by %s\n", f.Setting)
		if doc.ClosedAt.IsZero() {
			NextSteps(w, f)
		}
	}
	writePanel(w, doc.Review)
	for _, i := range doc.InOrder() {
		if doc.Submissions[i].Decision == "" {
			writeSubmission(w, doc.Review, i)
		}
	}
	if whole := doc.RepliesTo(""); len(whole) > 0 {
		fmt.Fprintln(w, "\nOn the whole change:")
		writeReplies(w, "  ", whole)
	}
	for _, v := range doc.Verifications {
		safetext.Fprintf(w, "\nVerified by %s%s\n", v, tookSuffix(v.Spent))
		writePassedOver(w, "  ", v.Spent)
	}
	first := spend.Usage{} // of one answer or failure, whose own line says it
	if len(doc.Submissions) > 0 {
		first = doc.Submissions[0].Usage
	}
	if took := doc.Spending.String(); doc.Usage != first && (len(doc.Submissions) > 0 || len(doc.Failures) > 1) {
		screen.When(w, took != "", "\nAll calls for it took %s\n", took)
	}
	for _, lost := range doc.Lost {
		safetext.Fprintf(w, "\nNot counted: %s by %s: %s\n  it is kept: git show %s\n", lost.Type,
			cmp.Or(lost.Actor, lost.By), lost.Why, lost.Event.Short())
	}
	screen.Next(w, goOnWith(doc)...)
}

// goOnWith returns commands with which a person can continue a review: none before its commit is in this clone. The
// head has the line that gets it.
func goOnWith(doc ReviewDocument) (lines []string) {
	if doc.NotHere != "" {
		return nil
	}
	if len(suggest.Of(doc.Review)) > 0 && doc.ClosedAt.IsZero() {
		lines = []string{"git runr inbox apply " + doc.ID + " --all"}
	}
	switch {
	case slices.Contains(doc.Waiting, record.Human) &&
		(doc.Status == record.ReviewOpen || doc.Outcome == record.OutcomePassed):
		return []string{"git runr inbox comment " + doc.ID, "git runr inbox submit " + doc.ID}
	case doc.Status == record.ReviewSubmitted &&
		(doc.Outcome == record.OutcomeFailed || doc.Outcome == record.OutcomeCommented):
		lines = append(lines, "git runr inbox claim "+doc.ID, doc.Fix)
	case doc.Status == record.ReviewClaimed:
		lines = append(lines, doc.Fix, "git runr inbox resolve "+doc.ID)
	default:
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// NextSteps prints what happens after a reviewer failed, and what to type.
func NextSteps(w io.Writer, f record.Failure) {
	next := f.Next()
	safetext.Fprintf(w, "  %s\n", next.What)
	screen.Each(w, "    %s\n", next.Commands)
}

// Audience describes who sees a review or run that is not for everybody at the elected remote.
func Audience(name string) string {
	if name == "private" {
		return "private: it stays in this clone"
	}
	return "for people at " + name
}

// writeReviewHead prints the subject and the state of the review.
func writeReviewHead(w io.Writer, doc ReviewDocument) {
	subject := doc.Request.Subject
	if subject.Spec == subject.Commit.Short() {
		subject.Spec = ""
	}
	safetext.Fprintf(w, "Review %s  %s\n", screen.Name.Of(doc.ID), doc.Status)
	safetext.Fprintf(w, "%s\n",
		screen.Strong.Of(strings.TrimSpace(fmt.Sprintf("%s %s %s", subject.Spec, subject.Commit.Short(),
			prose.OneLine(subject.Title)))))
	screen.When(w, doc.Audience != "", "%s\n", Audience(doc.Audience))
	for _, p := range doc.Redactions {
		what := map[string]string{"": "the whole review", "text": "all texts with a given text"}[p.What]
		safetext.Fprintf(w, "%s redacted %s %s\n", p.Of(p.Actor), cmp.Or(what, "the thread of "+p.What),
			p.At.UTC().Format("2006-01-02 15:04:05Z"))
	}
	writeMessages(w, subject)
	screen.When(w, doc.Request.Kind != "", "for one kind of fault: %s\n", doc.Request.Kind)
	screen.When(w, len(subject.Paths) > 0, "only %s\n", strings.Join(subject.Paths, ", "))
	screen.When(w, doc.RequestedBy == "", "Its request is not here. Only the log of who asked has it; if the remote has "+
		"that log, git runr sync fetches it.\n")
	screen.When(w, doc.RequestedBy != "", "requested by %s on %s\n", doc.RequestedBy, screen.Time(doc.CreatedAt))
	screen.When(w, len(doc.FirstAsked()) > 0, "asked: %s\n", strings.Join(doc.FirstAsked(), ", "))
	for _, h := range doc.Handovers {
		safetext.Fprintf(w, "%s on %s\n", h.Words(), screen.Time(h.At))
	}
	screen.Each(w, "%s\n", doc.Whereabouts())
	screen.When(w, doc.Forged != "", "%s\n", doc.Forged)
	screen.When(w, doc.NotHere != "" && doc.uncommitted(), "%s\n", doc.NotHere)
	screen.When(w, doc.NotHere != "" && !doc.uncommitted(), "its commit is not in this clone; once it is pushed: %s\n",
		doc.NotHere)
	writeRounds(w, doc)
	if follows := doc.Request.Follows; follows != "" && len(doc.Rounds) == 0 {
		safetext.Fprintf(w, "asked again: follows review %s\n", follows)
	}
	if doc.Claim != nil {
		safetext.Fprintf(w, "claimed by %s%s\n", doc.Claim.Name(), Until(doc.Claim))
	}
	screen.When(w, doc.ClosedBy != "", "%s by %s on %s\n", doc.Status, doc.ClosedBy, screen.Time(doc.ClosedAt))
	note := doc.Note
	if doc.ClosedTooEarly() {
		note += ", before a refusal was known there: the review is refused"
	}
	screen.When(w, note != "", "%s\n", Indented(note))
	screen.When(w, doc.Request.Run != "", "round %d of run %s\n", doc.Request.Round, doc.Request.Run)
	if len(doc.Waiting) > len(doc.Absent) && doc.ClosedAt.IsZero() {
		s := doc.Summary()
		words := s.ApprovedWords()
		if words != "" {
			words += ", "
		}
		safetext.Fprintf(w, "%swaiting for: %s\n", words, strings.Join(s.WaitsFor(), ", "))
	}
	if back := doc.Summary(); len(back.BackTo) > 0 {
		safetext.Fprintf(w, "%s\n", backTo(back, ""))
	}
	people, answers := doc.Awaited()
	screen.When(w, answers > 0 && !doc.ClosedAt.IsZero() && doc.SupersededBy() == "", // else the later round says it
		"%s not confirmed by %s\n", prose.Count(answers, "answer"), strings.Join(people, ", "))
	screen.Each(w, "so far, %s\n", doc.SoFar)
	screen.When(w, doc.Request.Message != "", "\n%s\n", Indented(doc.Request.Message))
}

// writeMessages prints the messages of the commits under review, as git log does.
func writeMessages(w io.Writer, subject record.Subject) {
	screen.When(w, subject.MoreCommits > 0, "\n%s not shown\n", prose.Count(subject.MoreCommits, "older commit"))
	for _, m := range subject.Messages {
		text := m.Text
		if subject.Kind != record.SubjectRange {
			_, text, _ = strings.Cut(text, "\n") // the title is already printed
		} else {
			safetext.Fprintf(w, "\ncommit %s\n", m.Commit.Short())
		}
		safetext.Fprintf(w, "\n%s\n", Indented(text))
	}
	if len(subject.Messages) > 0 {
		fmt.Fprintln(w)
	}
}

// poses matches a line of a comment that could be taken for one that this program printed.
var poses = lazyre.Compile(`(?m)^(Verdict|Together|Judged|Review \d{14}|requested by|asked:|resolved by|waiting for|` +
	`back to|checked by|checks not run|Carried from|c-[0-9a-f]{10} |\s+\S.*: (PASS|CHECKED|NEEDS_FIX|CRITICAL)\b)`)

// writeComments prints the comments of people as one message, and then the id, the current place and the answer of
// each.
func writeComments(w io.Writer, doc ReviewDocument) {
	if len(doc.Comments) == 0 {
		screen.When(w, len(doc.Submissions) == 0, "\nReview %s has no submitted comments (status: %s).\n", doc.ID, doc.Status)
		return
	}
	said := safetext.Block(doc.Markdown) // byte for byte, for agents
	if tty, ok := w.(*screen.Writer); ok && tty.Columns > 0 || poses().MatchString(doc.Markdown) {
		said = Indented(doc.Markdown)
	}
	safetext.Fprintf(w, "\n%s\n\n", said)
	for _, c := range doc.Comments {
		later := shown.Later(c.Now)
		if later != "" {
			later = "  (" + later + ")"
		}
		safetext.Fprintf(w, "%s  %s%s  by %s%s\n", c.ID,
			screen.Place{File: c.File, Line: c.StartLine, Shown: placeOf(c.Comment)}, severityOf(c.Comment),
			commentBy(doc.Review, c.ID, c.Reviewer), later)
		for _, answer := range doc.LastAnswers(c.ID) {
			safetext.Fprintf(w, "  %s\n", AnswerLine(answer))
		}
		writeReplies(w, "  ", doc.RepliesTo(c.ID))
	}
}

// commentBy returns who made a comment and, if somebody else recorded it in that name, who did.
func commentBy(r record.Review, id, reviewer string) string {
	for _, sub := range r.Submissions {
		own := slices.ContainsFunc(sub.Comments, func(c record.Comment) bool { return c.ID == id })
		if own && sub.Recorder != "" && record.ByAnother(reviewer, sub.Recorder) {
			return sub.Of(reviewer)
		}
	}
	return reviewer
}

// writeReplies prints a thread as a quotation, so that no line of it looks like the program's own.
func writeReplies(w io.Writer, indent string, replies []record.Reply) {
	for _, r := range replies {
		text := "> " + strings.ReplaceAll(safetext.Text(string(Indented(r.Text))), "\n", "\n"+indent+"> ")
		safetext.Fprintf(w, "%s> %s, %s:\n%s%s\n", indent, r.Of(r.Actor), screen.Time(r.At), indent, safetext.Block(text))
	}
}

// AnswerLine returns an answer with who gave it and the reason.
func AnswerLine(a record.Answer) string {
	if a.Kind == record.AnswerWithdrawn { // nobody typed an answer
		return "withdrawn: " + a.Actor + " approved the change later"
	}
	said, agrees := ", says ", a.Reason == string(record.AnswerConfirmed)
	if agrees || a.ConfirmedBy == a.Actor && gitstore.ParseIdentity(a.Actor).Email != "" { // with somebody's answer
		said = ", confirmed by "
	}
	line := a.What() + said + a.Of(a.Actor)
	if a.Unproven {
		line += notSigned
	}
	if a.Reason != "" && !agrees {
		line += ": " + a.Reason
	}
	return line
}

// writeSubmission prints an agent's answer. at is its index in the submissions.
func writeSubmission(w io.Writer, r record.Review, at int) {
	sub := r.Submissions[at]
	if sub.Outcome == record.OutcomeNothing {
		why := censusLine(sub.Census)
		if sub.Census.Files == 0 {
			why = cmp.Or(sub.Report.Summary, why)
		}
		safetext.Fprintf(w, "\nNothing to review: %s\n", why)
		return
	}
	said := fmt.Sprintf("Verdict: %s by %s", sub.Said(), sub.By(sub.Reviewer))
	if strings.Contains(said, ";") {
		said = fmt.Sprintf("Verdict by %s: %s", sub.By(sub.Reviewer), sub.Said())
	}
	if sub.Report.Effective == reply.Checked {
		said = record.Says(sub.By(sub.Reviewer), sub.Report.Says(), len(sub.Report.Findings))
	}
	seen := censusLine(sub.Census)
	if log := sub.Beside(sub.Reviewer); log != "" {
		seen = log + ", " + seen
	}
	safetext.Fprintf(w, "\n%s (%s)%s\n", said, seen, tookSuffix(sub.Spent))
	writePassedOver(w, "  ", sub.Spent)
	if sub.Outcome == record.OutcomePartial {
		safetext.Fprintf(w, "This is not a pass for the whole change. Not reviewed: %s\n", sub.Census.Unread())
		if sub.Reviewer != record.Builtin && sub.Census.Left(record.LeftTooLarge) != "" {
			fmt.Fprintln(w,
				"  git config runr.review.maxBytes 10000000   sends up to 10 MB at once; then ask again with git runr review")
		}
	}
	screen.When(w, sub.Told != nil, "instructions of the project: %s\n", sub.Told)
	screen.When(w, sub.Report.Summary != "", "%s\n", Indented(sub.Report.Summary))
	for _, c := range sub.Checks {
		writeCheck(w, "", c, sub.Event)
	}
	screen.Each(w, "checks not run: %s\n", sub.SkippedBy)
	first := r.SaidFirst(at)
	writeJoined(w, r, first)
	if n := len(sub.Report.Findings) - len(first); n > 0 {
		safetext.Fprintf(w, "  %s more, shown with another reviewer\n", prose.Count(n, "finding"))
	}
	screen.Each(w, "  note: %s\n", sub.Report.Warnings)
	Words(w, sub.Report.Prose())
}

// Words prints what a reviewer wrote, verbatim.
func Words(w io.Writer, texts ...string) {
	var said []string
	for _, text := range texts {
		if text = safetext.Quote(text); text != "" {
			said = append(said, text)
		}
	}
	screen.When(w, len(said) > 0, "\nIn the reviewer's own words:\n%s\n", safetext.Block(strings.Join(said, "\n\n")))
}

// placeOf returns the place of a comment for people.
func placeOf(c record.Comment) string {
	if c.Side == record.SideOld {
		return c.Place() + " (old)"
	}
	return cmp.Or(c.Place(), "general")
}

// severityOf returns the severity that a person gave a comment, after two spaces, or "" if the person gave none.
func severityOf(c record.Comment) string {
	if c.Severity == "" {
		return ""
	}
	return "  " + string(c.Severity)
}

// Indented indents text by four columns, so that no line of it looks like the program's own.
func Indented(text string) safetext.Block {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		if lines[i] != "" {
			lines[i] = "    " + lines[i]
		}
	}
	return safetext.Block(strings.Join(lines, "\n"))
}

// Draft prints a person's draft of a review.
func Draft(w io.Writer, review string, draft store.Draft) {
	screen.When(w, len(draft.Comments) == 0, "Your draft of %s has no comments.\n", review)
	for _, c := range draft.Comments {
		safetext.Fprintf(w, "%s  %s%s\n%s\n", c.ID, placeOf(c), severityOf(c), Indented(c.Comment))
	}
}

// Until returns the end of a claim's lease in UTC, as " until 2006-01-02 15:04Z", or "" without a lease.
func Until(c *record.Claim) string {
	if c.Until.IsZero() {
		return ""
	}
	return " until " + screen.Time(c.Until).String()
}

// ChecksMissing returns which checks of a review did not run, or "" if all ran.
func ChecksMissing(review record.Review) string {
	ran := 0
	for _, sub := range review.Standing() {
		if left := sub.Census.NotRun(); left != "" {
			return left
		}
		ran += sub.Census.Checks
	}
	if ran == 0 {
		return "none ran, see [checks.NAME] in git runr help config"
	}
	return ""
}

// writePanel prints the common verdict of several reviewers, and the verdict of each.
func writePanel(w io.Writer, r record.Review) {
	opinions := r.Opinions()
	absent := r.Absent()
	if len(opinions) < 2 && len(absent) == 0 && len(r.Judgements) == 0 || len(opinions) == 0 {
		return
	}
	of := prose.Count(len(opinions), "reviewer")
	if q := r.Quorum(); q > 1 {
		of += fmt.Sprintf(" with a quorum of %d", q)
	}
	verdict := r.Verdict()
	safetext.Fprintf(w, "\nTogether: %s, of %s\n", saidOr(r.Unreadable(), orOutcome(verdict, r.Outcome())), of)
	for _, o := range opinions {
		line := fmt.Sprintf("%s: %s", o.Reviewer, saidOr(o.Unread, orOutcome(o.Verdict, o.Outcome)))
		if o.Stated != "" {
			line += fmt.Sprintf(" (%s before the judge)", o.Stated)
		}
		if sub, _ := r.Newest(o.Reviewer); sub.Recorder != "" && record.ByAnother(sub.Reviewer, sub.Recorder) {
			line += fmt.Sprintf(" (recorded by %s)", sub.Recorder)
		}
		safetext.Fprintf(w, "  %s\n", line)
	}
	screen.Each(w, "  %s: did not answer\n", absent)
	switch {
	case r.Outvoted():
		safetext.Fprintf(w, "They disagree: fewer than %d fail it for the same reason. Their findings are disputed.\n",
			r.Quorum())
	case r.Disagree():
		safetext.Fprintf(w, "They disagree whether it passes.\n")
	}
	if requests := r.Requests(); len(requests) > 0 && len(opinions) > 1 {
		fmt.Fprintln(w, "Also requested:")
		for _, j := range requests {
			safetext.Fprintf(w, "  - %s (%s)\n", prose.OneLine(j.Text), strings.Join(j.SaidBy, ", "))
		}
	}
	for _, j := range r.Judgements {
		safetext.Fprintf(w, "Judged by %s: %s\n", j.By, j.Count())
	}
}

// saidOr returns text, or that an answer could not be read.
func saidOr(unread bool, text string) string {
	if unread {
		return "unreadable"
	}
	return text
}

// orOutcome returns the verdict, or the outcome if there is none.
func orOutcome(v reply.Verdict, o record.Outcome) string {
	if v != "" {
		return string(v)
	}
	return strings.ReplaceAll(string(o), "_", " ")
}

// writeJoined prints the findings that a reviewer reported first. Those that the judge refuted get one line each at
// the end.
func writeJoined(w io.Writer, r record.Review, findings []record.Joined) {
	var refuted []record.Joined
	for _, j := range findings {
		if j.Judged != nil && j.Judged.Kind == record.Refuted {
			refuted = append(refuted, j)
			continue
		}
		Findings(w, []reply.Finding{j.Finding}, r.Request.Subject.Tree)
		safetext.Fprintf(w, "            %s%s", j.ID, besideFinding(j))
		if answer, ok := r.AnswerTo(j.ID); ok {
			safetext.Fprintf(w, ": %s", AnswerLine(answer))
		}
		fmt.Fprintln(w)
		writeReplies(w, "            ", r.RepliesTo(j.ID))
		if j.Judged != nil && j.Judged.Kind == record.Confirmed {
			safetext.Fprintf(w, "            confirmed by %s: %s\n", r.Request.Judge, j.Judged.Reason)
		}
	}
	if len(refuted) == 0 {
		return
	}
	safetext.Fprintf(w, "\n  %d refuted by %s, not counted:\n", len(refuted), r.Request.Judge)
	for _, j := range refuted {
		safetext.Fprintf(w, "    %s%s  %s\n      why: %s\n", j.ID, besideFinding(j),
			strings.TrimSpace(j.Place()+"  "+prose.OneLine(j.Issue)), j.Judged.Reason)
	}
}

// besideFinding describes who else reported a finding, what is similar, and whether it is disputed.
func besideFinding(j record.Joined) string {
	text := ""
	if len(j.SaidBy) > 1 {
		text += ", reported by " + strings.Join(j.SaidBy, ", ")
	}
	if len(j.Similar) > 0 {
		text += ", similar to " + strings.Join(j.Similar, ", ")
	}
	if j.Disputed {
		text += ", disputed"
	}
	return text
}
