package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/safetext"
)

// reviewJSON is a review as --json shows it: the folded state and, at the top
// level, what a script asks for first.
type reviewJSON struct {
	record.Review
	Outcome  record.Outcome  `json:"outcome,omitempty"`
	Verdict  reply.Verdict   `json:"verdict,omitempty"`
	Waiting  []string        `json:"waiting_for"` // reviewers who have not answered
	Findings []reply.Finding `json:"findings"`    // of agents, and comments of people with their ids
	Comments []commentJSON   `json:"comments"`    // of people
	// ChecksMissing says why a review is no pass that is one only with its checks.
	ChecksMissing string `json:"checks_missing,omitempty"`
	Markdown      string `json:"markdown"` // the comments in the form that agents know, "" without any
}

// commentJSON is a comment of a person.
type commentJSON struct {
	record.Comment
	Reviewer string         `json:"reviewer"`
	Answer   *record.Answer `json:"answer,omitempty"` // what became of it
	Now      *record.Placed `json:"now,omitempty"`    // where it is at HEAD; git runr inbox get fills it in
}

func reviewDocument(r record.Review) reviewJSON {
	doc := reviewJSON{
		Review: r, Outcome: r.Outcome(), Verdict: r.Verdict(), Waiting: append([]string{}, r.Waiting()...),
		Findings: append([]reply.Finding{}, r.Findings()...), Comments: []commentJSON{},
	}
	for _, sub := range r.Submissions {
		for _, c := range sub.Comments {
			line := commentJSON{Comment: c, Reviewer: sub.Reviewer}
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

// writeReview shows a review to a person.
func writeReview(w io.Writer, r record.Review) { writeReviewDocument(w, reviewDocument(r)) }

func writeReviewDocument(w io.Writer, doc reviewJSON) {
	writeReviewHead(w, doc)
	for _, sub := range doc.Submissions {
		if sub.Decision != "" {
			writeDecision(w, sub)
		}
	}
	writeComments(w, doc)
	for _, f := range doc.Failures {
		reason := record.ReasonOf(f.Reason)
		safetext.Fprintf(w, "\nNot reviewed: %s. %s%s\n", cmp.Or(f.Detail, reason.Title), reason.Explanation, tookSuffix(f.Spent))
		writePassedOver(w, "  ", f.Spent)
		if f.Setting != nil {
			safetext.Fprintf(w, "  ended by %s\n", f.Setting)
		}
		if doc.ClosedAt.IsZero() {
			writeNext(w, f)
		}
	}
	for _, sub := range doc.Submissions {
		if sub.Decision == "" {
			writeSubmission(w, doc.Review, sub)
		}
	}
	writeSpending(w, doc.Review)
	for _, lost := range doc.Lost {
		safetext.Fprintf(w, "\nNot counted: %s by %s: %s\n  it is kept: git show %s\n", lost.Type, cmp.Or(lost.Actor, lost.By), lost.Why, lost.Event.Short())
	}
}

// writeSpending shows what all calls for a review took, where that is more than what one
// answer or failure says.
func writeSpending(w io.Writer, r record.Review) {
	first := record.Usage{}
	for _, sub := range r.Submissions[:min(1, len(r.Submissions))] {
		first = sub.Usage
	}
	if took := r.Spending.String(); took != "" && r.Usage != first && (len(r.Submissions) > 0 || len(r.Failures) > 1) {
		safetext.Fprintf(w, "\nAll calls for it took %s\n", took)
	}
}

// writeNext says what happens after a reviewer failed, and what to type.
func writeNext(w io.Writer, f record.Failure) {
	next := f.Next()
	safetext.Fprintf(w, "  %s\n", next.What)
	for _, line := range next.Commands {
		safetext.Fprintf(w, "    %s\n", line)
	}
}

// writeReviewHead says what the review is of and where it stands.
func writeReviewHead(w io.Writer, doc reviewJSON) {
	subject := doc.Request.Subject
	safetext.Fprintf(w, "Review %s  %s\n", doc.ID, doc.Status)
	safetext.Fprintf(w, "%s\n", strings.TrimSpace(fmt.Sprintf("%s %s %s", subject.Spec, subject.Commit.Short(), subject.Title)))
	writeMessages(w, subject)
	if len(subject.Paths) > 0 {
		safetext.Fprintf(w, "only %s\n", strings.Join(subject.Paths, ", "))
	}
	safetext.Fprintf(w, "requested by %s on %s\n", doc.RequestedBy, shortTime(doc.CreatedAt))
	for _, line := range doc.Whereabouts() {
		safetext.Fprintf(w, "%s\n", line)
	}
	if follows := doc.Request.Follows; follows != "" {
		safetext.Fprintf(w, "asked again: follows review %s\n", follows)
	}
	if doc.Claim != nil && doc.Status == record.ReviewClaimed {
		until := ""
		if !doc.Claim.Until.IsZero() {
			until = " until " + shortTime(doc.Claim.Until)
		}
		safetext.Fprintf(w, "claimed by %s%s\n", doc.Claim.By, until)
	}
	if doc.ResolvedBy != "" {
		safetext.Fprintf(w, "resolved by %s on %s\n", doc.ResolvedBy, shortTime(doc.ResolvedAt))
	}
	if doc.Note != "" {
		safetext.Fprintf(w, "%s\n", indented(doc.Note))
	}
	if run := doc.Request.Run; run != "" {
		safetext.Fprintf(w, "round %d of run %s\n", doc.Request.Round, run)
	}
	if len(doc.Waiting) > 0 && doc.ClosedAt.IsZero() {
		safetext.Fprintf(w, "waiting for: %s\n", strings.Join(doc.Waiting, ", "))
	}
	if doc.Request.Message != "" {
		safetext.Fprintf(w, "\n%s\n", indented(doc.Request.Message))
	}
}

// writeMessages shows what the commits under review say of themselves, as git log does.
func writeMessages(w io.Writer, subject record.Subject) {
	if subject.MoreCommits > 0 {
		safetext.Fprintf(w, "\n%s not shown\n", prose.Count(subject.MoreCommits, "older commit"))
	}
	for _, m := range subject.Messages {
		text := m.Text
		if subject.Kind != record.SubjectRange {
			_, text, _ = strings.Cut(text, "\n") // the title stands above
		} else {
			safetext.Fprintf(w, "\ncommit %s\n", m.Commit.Short())
		}
		safetext.Fprintf(w, "\n%s\n", indented(text))
	}
	if len(subject.Messages) > 0 {
		fmt.Fprintln(w)
	}
}

// writeDecision is a person's verdict and what they said on the whole.
func writeDecision(w io.Writer, sub record.Submission) {
	safetext.Fprintf(w, "\nVerdict: %s by %s, %s\n", decisionWords(sub.Decision), sub.Reviewer, prose.Count(len(sub.Comments), "comment"))
	if sub.Report.Summary != "" {
		safetext.Fprintf(w, "%s\n", indented(sub.Report.Summary))
	}
}

// writeComments shows the comments of people as one message, and after it the id of
// each, where it is now and what became of it.
func writeComments(w io.Writer, doc reviewJSON) {
	if len(doc.Comments) == 0 {
		if len(doc.Submissions) == 0 {
			safetext.Fprintf(w, "\nReview %s has no submitted comments (status: %s).\n", doc.ID, doc.Status)
		}
		return
	}
	safetext.Fprintf(w, "\n%s\n\n", safetext.Block(doc.Markdown))
	for _, c := range doc.Comments {
		safetext.Fprintf(w, "%s  %s  by %s%s\n", c.ID, placeOf(c.Comment), c.Reviewer, nowAt(c))
		if c.Answer != nil {
			safetext.Fprintf(w, "  %s\n", answerLine(*c.Answer))
		}
	}
}

// nowAt says where a comment is now, when that is not where it was made.
func nowAt(c commentJSON) string {
	switch {
	case c.Now == nil:
		return ""
	case c.Now.Outdated:
		return "  (outdated: " + c.Now.Why + ")"
	case c.Now.Moved:
		place := record.Comment{File: c.Now.File, StartLine: c.Now.StartLine, EndLine: c.Now.EndLine}.Place()
		return "  (now at " + place + ")"
	}
	return ""
}

func answerLine(a record.Answer) string {
	line := a.What() + ", says " + a.Actor
	if a.Reason != "" {
		line += ": " + a.Reason
	}
	return line
}

func writeSubmission(w io.Writer, r record.Review, sub record.Submission) {
	if sub.Outcome == record.OutcomeNothing {
		why := censusLine(sub.Census)
		if sub.Census.Files == 0 {
			why = cmp.Or(sub.Report.Summary, why)
		}
		safetext.Fprintf(w, "\nNothing to review: %s\n", why)
		return
	}
	safetext.Fprintf(w, "\nVerdict: %s by %s (%s)%s\n", sub.Report.Effective, sub.By(sub.Reviewer), censusLine(sub.Census), tookSuffix(sub.Spent))
	writePassedOver(w, "  ", sub.Spent)
	if sub.Outcome == record.OutcomePartial {
		safetext.Fprintf(w, "This is no pass of the whole change. Not reviewed: %s\n", sub.Census.Unread())
		if sub.Census.Left(record.LeftTooLarge) != "" {
			fmt.Fprintln(w, "  git config runr.review.maxBytes 10000000   sends up to 10 MB at once; then ask again with git runr review")
		}
	}
	if sub.Report.Summary != "" {
		safetext.Fprintf(w, "%s\n", indented(sub.Report.Summary))
	}
	for _, c := range sub.Checks {
		writeCheck(w, "", c, sub.Event)
	}
	for _, why := range sub.SkippedBy {
		safetext.Fprintf(w, "not checked: %s\n", why)
	}
	for _, f := range sub.Report.Findings {
		writeFindings(w, []reply.Finding{f})
		safetext.Fprintf(w, "            %s", f.ID)
		if answer, ok := r.AnswerTo(f.ID); ok {
			safetext.Fprintf(w, ": %s", answerLine(answer))
		}
		fmt.Fprintln(w)
	}
	for _, warning := range sub.Report.Warnings {
		safetext.Fprintf(w, "  note: %s\n", warning)
	}
	writeWords(w, sub.Report.Prose())
}

// writeWords shows what a reviewer wrote, as it was written.
func writeWords(w io.Writer, texts ...string) {
	var said []string
	for _, text := range texts {
		if text = safetext.Quote(text); text != "" {
			said = append(said, text)
		}
	}
	if len(said) > 0 {
		safetext.Fprintf(w, "\nIn the reviewer's own words:\n%s\n", safetext.Block(strings.Join(said, "\n\n")))
	}
}

// placeOf is where a comment was made, for people.
func placeOf(c record.Comment) string {
	if c.Side == record.SideOld {
		return c.Place() + " (old)"
	}
	return cmp.Or(c.Place(), "general")
}

// indented is what somebody wrote, four columns in: none of its lines can be taken for one
// of the program's.
func indented(text string) safetext.Block {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		if lines[i] != "" {
			lines[i] = "    " + lines[i]
		}
	}
	return safetext.Block(strings.Join(lines, "\n"))
}

// decisionWords say a person's decision.
func decisionWords(d record.Decision) string {
	switch d {
	case record.Approve:
		return "approved"
	case record.RequestChanges:
		return "changes requested"
	}
	return "commented"
}
