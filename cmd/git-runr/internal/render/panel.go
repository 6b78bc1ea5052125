package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
)

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
	safetext.Fprintf(w, "\nTogether: %s, of %s\n", orOutcome(verdict, r.Outcome()), of)
	for _, o := range opinions {
		line := fmt.Sprintf("%s: %s", o.Reviewer, orOutcome(o.Verdict, o.Outcome))
		if o.Stated != "" {
			line += fmt.Sprintf(" (%s before the judge)", o.Stated)
		}
		safetext.Fprintf(w, "  %s\n", line)
	}
	for _, name := range absent {
		safetext.Fprintf(w, "  %s: did not answer\n", name)
	}
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
			safetext.Fprintf(w, ": %s", answerLine(answer))
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
