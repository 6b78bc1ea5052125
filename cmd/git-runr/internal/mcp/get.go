package mcp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

// when writes as fmt.Fprintf does, if a condition holds.
func when(b *strings.Builder, holds bool, format string, args ...any) {
	if holds {
		fmt.Fprintf(b, format, args...)
	}
}

// writeFacts writes what was requested, and the state of the review.
func (c call) writeFacts(b *strings.Builder, r record.Review) {
	fmt.Fprintf(b, "\nstatus: %s\n", r.Status)
	if outcome := r.Outcome(); outcome != "" {
		fmt.Fprintf(b, "outcome: %s\n", outcome)
	}
	fmt.Fprintf(b, "applies to: %s\n", appliesTo(r.Request.Subject))
	if paths := r.Request.Subject.Paths; len(paths) > 0 {
		fmt.Fprintf(b, "files: %s\n", line(strings.Join(paths, ", "), maxString))
	}
	fmt.Fprintf(b, "asked for by: %s at %s\n", line(r.RequestedBy, 200), isoTime(r.CreatedAt))
	for _, where := range r.Whereabouts() {
		fmt.Fprintf(b, "the code: %s\n", line(where, 500))
	}
	when(b, r.Request.Follows != "", "follows: review %s, of the code as it was before\n", line(r.Request.Follows, 200))
	if kind := r.Request.Kind; kind != "" {
		fmt.Fprintf(b, "only this kind of fault was looked for: %s\n", line(kind, 200))
	}
	if s := r.Summary(); len(s.Waiting) > 0 && r.ClosedAt.IsZero() {
		if words := s.ApprovedWords(); words != "" {
			fmt.Fprintln(b, words)
		}
		fmt.Fprintf(b, "waiting for: %s\n", line(strings.Join(s.WaitsFor(), ", "), 500))
	}
	for _, f := range r.Failures {
		fmt.Fprintf(b, "reviewer %s could not be run: %s\n", line(f.Reviewer, 200), line(f.Reason+" "+f.Detail, 500))
		if r.ClosedAt.IsZero() {
			next := f.Next()
			fmt.Fprintf(b, "%s the user can type %s\n", next.What, strings.Join(next.Commands, ", then "))
		}
	}
	c.writeClaim(b, r)
	when(b, r.ResolvedBy != "", "resolved by: %s\n", line(r.ResolvedBy, 200))
	when(b, r.Note != "", "note: %s\n", line(r.Note, maxString))
	if run := r.Request.Run; run != "" {
		fmt.Fprintf(b, "round %d of run %s, which goes on from the verdict: git runr resume %s\n", r.Request.Round, run, run)
	}
	for _, m := range r.Request.Subject.Messages {
		fmt.Fprintf(b, "message of commit %s:\n%s\n", m.Commit.Short(), safetext.Quote(m.Text))
	}
	if n := r.Request.Subject.MoreCommits; n > 0 {
		fmt.Fprintf(b, "and %s\n", prose.Count(n, "older commit"))
	}
	when(b, r.Request.Message != "", "message of the request:\n%s\n", safetext.Quote(r.Request.Message))
}

func (c call) writeClaim(b *strings.Builder, r record.Review) {
	if r.Claim == nil || r.Status != record.ReviewClaimed {
		return
	}
	fmt.Fprintf(b, "claimed by: %s", line(r.Claim.By, 200))
	switch {
	case record.SameActor(r.Claim.By, c.actor):
		b.WriteString(" (you)")
	case r.Claim.Lapsed(c.Store.Now()):
		b.WriteString(" (lapsed: you may claim it)")
	}
	b.WriteString("\n")
}

// together summarises the opinions of several reviewers, and the judge's counts if there are any.
func together(r record.Review) string {
	var b strings.Builder
	if opinions := r.Opinions(); len(opinions) > 1 {
		fmt.Fprintf(&b, "together: %s, with a quorum of %d of %d who answered; they disagree: %t\n", r.Verdict(), r.Quorum(),
			len(opinions), r.Disagree())
		for _, j := range r.Requests() {
			fmt.Fprintf(&b, "also requested by %s: %s\n", line(strings.Join(j.SaidBy, ", "), 200), line(j.Text, 500))
		}
	}
	for _, j := range r.Judgements {
		fmt.Fprintf(&b, "judged by %s: %s\n", line(j.By, 200), j.Count())
	}
	return b.String()
}

// writeSubmission writes the result of one reviewer.
func writeSubmission(b *strings.Builder, sub record.Submission) {
	said := fmt.Sprintf("%s by %s", verdictOf(sub), line(sub.Reviewer, 200))
	if sub.Decision == "" && sub.Outcome != record.OutcomeNothing && len(sub.Checks) > 0 {
		said = fmt.Sprintf("by %s: %s", line(sub.Reviewer, 200), line(sub.Said(), 500))
	}
	if sub.Report.Effective == reply.Checked && sub.Outcome != record.OutcomeNothing {
		said = record.Says(line(sub.Reviewer, 200), string(reply.Checked), len(sub.Report.Findings))
	}
	fmt.Fprintf(b, "%s at %s, %s\n", said, isoTime(sub.At),
		prose.Count(len(sub.Comments)+len(sub.Report.Findings), "comment"))
	if left := sub.Census.Left(); left != "" {
		fmt.Fprintf(b, "not shown to the reviewer: %s\n", line(left, maxString))
	}
	for _, said := range []string{sub.Report.Summary, sub.Report.Prose()} {
		if said = safetext.Quote(said); said != "" {
			b.WriteString(said + "\n\n")
		}
	}
	for _, check := range sub.Checks {
		if !check.OK() {
			fmt.Fprintf(b, "check %s did not pass: %s: %s\n", line(check.Name, 200), line(check.Command, 500),
				line(check.Why(), 500))
			when(b, check.Output != "" && sub.Event != "", "  whole output: %s\n", record.LogCommand(sub.Event, check.Name))
		}
	}
	for _, why := range sub.SkippedBy {
		fmt.Fprintf(b, "checks not run: %s\n", line(why, 500))
	}
}

func verdictOf(sub record.Submission) string {
	if sub.Outcome == record.OutcomeNothing {
		return "nothing to review"
	}
	return cmp.Or(string(sub.Decision), sub.Report.Says())
}

// writeFinding writes one finding with its id. A comment is printed in full above, so only its beginning is repeated.
func writeFinding(b *strings.Builder, f reply.Finding) {
	most := maxText
	if strings.HasPrefix(f.ID, "c-") {
		most = 100
	}
	fmt.Fprintf(b, "- [%s] %s, %s: %s\n", f.ID, f.Severity, safetext.Line(cmp.Or(f.Place(), "general")),
		line(f.Issue, most))
	when(b, f.Fix != "", "  fix: %s\n", line(f.Fix, maxString))
}

// writeSayers writes which reviewers made a finding, and the judge's remark on it.
func writeSayers(b *strings.Builder, j record.Joined) {
	when(b, len(j.SaidBy) > 1, "  reported by: %s\n", line(strings.Join(j.SaidBy, ", "), 500))
	when(b, len(j.Similar) > 0, "  similar: %s\n", line(strings.Join(j.Similar, ", "), 500))
	if j.Disputed {
		b.WriteString("  disputed: fewer than the quorum reported it\n")
	}
	if j.Judged != nil && j.Judged.Kind == record.Confirmed {
		fmt.Fprintf(b, "  confirmed by the judge: %s\n", line(j.Judged.Reason, 500))
	}
}

// answered describes in one line how a finding was answered.
func answered(a record.Answer) string {
	text := "answered: " + a.What()
	if a.Reason != "" {
		text += ", " + line(a.Reason, 500)
	}
	return text + " (" + line(a.Actor, 200) + ")"
}

// replied describes a reply in a thread in one line.
func replied(p record.Reply) string {
	return fmt.Sprintf("reply by %s at %s: %s", line(p.Actor, 200), isoTime(p.At), line(p.Text, maxString))
}
