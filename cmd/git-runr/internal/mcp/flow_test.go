package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestListOfToolsIsShort: the list of all tools, which a model reads before its first word, is at most 12,000 bytes
// long.
func TestListOfToolsIsShort(t *testing.T) {
	listed, err := newProject(t).chat().ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(listed)
	if err != nil || len(body) > 12_000 {
		t.Errorf("tools/list has %d bytes, %v", len(body), err)
	}
	t.Logf("tools/list has %d bytes", len(body))
}

// TestFlow counts the calls for requesting, waiting, reading, fixing, answering and requesting again.
func TestFlow(t *testing.T) {
	for _, n := range []int{3, 30} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := newProject(t)
			p.write("a.txt", strings.Repeat("line\n", 50))
			p.commit("second")
			c, calls := p.chat(), 0
			call := func(tool string, a args) map[string]any {
				calls++
				return c.document(tool, a)
			}
			id := call("review", args{"reviewer": "builtin"})["review_id"].(string)
			p.found(id, n)
			read := call("review_wait", args{"id": id})
			if read["done"] != true || len(read["findings"].([]any)) != n {
				t.Fatalf("done %v, %d findings", read["done"], len(read["findings"].([]any)))
			}
			p.write("a.txt", "mended\n")
			p.commit("third")
			var answers []args
			for _, f := range read["findings"].([]any) {
				answers = append(answers, args{"finding": f.(map[string]any)["id"], "answer": "fixed", "commit": "HEAD"})
			}
			if left := call("review_answer", args{"id": id, "answers": answers})["unanswered"].([]any); len(left) > 0 {
				t.Errorf("unanswered: %v", left)
			}
			again := p.review(call("review", args{"again": id})["review_id"].(string)).Request
			if again.Follows != id || again.Reviewer != "builtin" || again.Subject.Kind != record.SubjectRange {
				t.Errorf("asked again: %+v", again)
			}
			if before := p.review(id).Request.Subject; again.Subject.Base != before.Base ||
				again.Subject.Commit == before.Commit {
				t.Errorf("asked of %+v, before of %+v", again.Subject, before)
			}
			if calls > 6 {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// found submits a review with n findings, as its agent does.
func (p *project) found(id string, n int) {
	p.t.Helper()
	sub := record.Submission{Reviewer: "builtin", Outcome: record.OutcomeFailed,
		Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix}}
	for i := range n {
		sub.Report.Findings = append(sub.Report.Findings, reply.Finding{Severity: reply.Warning, File: "a.txt", Line: i + 1,
			Issue: fmt.Sprintf("Word%d is written where a line of its own is, and nothing reads what function%d gives back", i,
				i)})
	}
	reply.Identify(sub.Report.Findings)
	if _, err := p.store().SubmitReview(p.t.Context(), id, sub, ""); err != nil {
		p.t.Fatal(err)
	}
}

// TestAnswersAreAllOrNothing: if one answer of a batch is invalid, none is recorded.
func TestAnswersAreAllOrNothing(t *testing.T) {
	p := newProject(t)
	id, ids := p.many(2, "hm")
	text := p.chat().refused("review_answer", args{"id": id, "answers": []args{
		{"finding": ids[0], "answer": "deferred"}, {"finding": ids[1], "answer": "refuted"}}})
	wants(t, text, "answers[1]: reason is required", "No answer was recorded")
	if left := p.review(id).Unanswered(); len(left) != 2 {
		t.Errorf("unanswered: %v", left)
	}
}

// TestHabits: arguments in forms that models often use are accepted, although the schema names others.
func TestHabits(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\ntwo\n")
	p.commit("second")
	id := p.asked("").ID
	c := p.chat()
	c.call("review_list", args{"status": nil, "limit": "3"})
	c.call("review_comment", args{"review_id": id, "path": "a.txt", "line": "2", "severity": "WARNING",
		"comment": "why two?"})
	c.call("review_submit", args{"reviewId": id, "event": "REQUEST_CHANGES",
		"comments": `[{"file":"a.txt","line":1,"body":"why one?"}]`})
	comments := p.review(id).Comments()
	if len(comments) != 2 || comments[0].StartLine != 2 {
		t.Errorf("comments %+v", comments)
	}
	wants(t, c.refused("review_submit", args{"id": id, "verdict": "APPROVED"}), "only people approve")
	c.call("review_get", args{"id": id, "unanswered": "true"})
	c.call("review_answer", args{"id": id, "finding": comments[0].ID, "answer": "Deferred"})
	c.call("review_answer",
		args{"id": id, "answers": args{"finding": comments[1].ID, "answer": "refuted", "reason": "it is one"}})
	if left := p.review(id).Unanswered(); len(left) != 0 {
		t.Errorf("unanswered: %v", left)
	}
	c.call("review", args{"files": "a.txt", "reviewer": "human"})
	c.call("review", args{"paths": []string{"a.txt"}, "reviewer": "human"})
	if paths := p.review(record.Latest).Request.Subject.Paths; !slices.Equal(paths, []string{"a.txt"}) {
		t.Errorf("paths %v", paths)
	}
}

// TestAgentIsNoPerson: an agent's submission counts as an agent's, and a review that was requested from a person
// still waits for that person.
func TestAgentIsNoPerson(t *testing.T) {
	p := newProject(t)
	id := p.asked("").ID
	c := p.chat()
	c.refused("review_submit", args{"id": id, "verdict": "approve"})
	c.call("review_submit", args{"id": id, "actor": "Grace", "verdict": "comment", "message": "well done"})
	r := p.review(id)
	sub := r.Submissions[0]
	if !strings.HasPrefix(sub.Reviewer, "tester/1-") || sub.Looked != record.LookedAgent {
		t.Errorf("submitted by %q, looked %s", sub.Reviewer, sub.Looked)
	}
	if !slices.Equal(r.Waiting(), []string{record.Human}) {
		t.Errorf("waiting for %v", r.Waiting())
	}
	wants(t, c.refused("review_resolve", args{"id": id, "force": true}), "has not answered or approved (human)")
	for _, who := range []string{"AUTHOR", "COMMITTER"} { // Grace has not written the change
		t.Setenv("GIT_"+who+"_NAME", "Grace")
		t.Setenv("GIT_"+who+"_EMAIL", "grace@example.com")
	}
	p.submit(id, record.Person{Decision: record.Approve})
	if r = p.review(id); r.Looked() != record.LookedPerson || len(r.Waiting()) > 0 {
		t.Errorf("looked %s, waiting for %v", r.Looked(), r.Waiting())
	}
}

// TestRepliesAndCarriedThreads: an agent replies in a thread, and finds the thread with its replies in the next round,
// where it answers it.
func TestRepliesAndCarriedThreads(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\ntwo\n")
	p.commit("second")
	first := p.asked("").ID
	c := p.chat()
	p.submit(first, record.Person{Actor: "Bob <bob@example.com>", Decision: record.RequestChanges,
		Comments: []record.Comment{
			{File: "a.txt", StartLine: 2, EndLine: 2, Comment: "why two?"}}})
	finding := p.review(first).Comments()[0].ID
	wants(t, c.refused("review_reply", args{"id": first, "finding": finding, "text": " "}), "text is missing")
	c.call("review_reply", args{"id": first, "finding": finding, "text": "it *has* to be <two>"})
	c.call("review_reply", args{"id": first, "text": "of the whole"})
	said := p.review(first).RepliesTo(finding)
	if len(said) != 1 || !strings.HasPrefix(said[0].Actor, "tester/1-") || len(p.review(first).Unanswered()) != 1 {
		t.Errorf("replies %+v", said)
	}
	wants(t, c.call("review_get", args{"id": first}), "why two?", "it *has* to be <two>", "of the whole")

	p.write("a.txt", "one\ntwo and more\n")
	p.commit("third")
	again := c.document("review", args{"again": first})["review_id"].(string)
	text, doc := c.call("review_get", args{"id": again}), c.document("review_get", args{"id": again})
	wants(t, text, "round: 2, after review "+first, "from round 1, by Bob <bob@example.com>; answer it here",
		"it *has* to be <two>")
	if doc["round"] != float64(2) || doc["findings"].([]any)[0].(map[string]any)["round"] != float64(1) {
		t.Errorf("%v", doc)
	}
	c.call("review_reply", args{"id": again, "finding": finding, "text": "and now?"})
	c.call("review_answer", args{"id": again, "finding": finding, "answer": "fixed", "commit": "HEAD"})
	if answer, ok := p.review(first).AnswerTo(finding); !ok || !answer.Claimed() ||
		len(p.review(first).RepliesTo(finding)) != 2 {
		t.Errorf("the thread belongs to the round that it began in: %+v", p.review(first))
	}
	wants(t, c.call("review_get", args{"id": again}), "claimed fixed", "and now?")
}

// TestUnsettledOfEarlierRounds: an answer that the reporter did not confirm is a finding of the next round, with the
// answer; only the settled ones are counted.
func TestUnsettledOfEarlierRounds(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\ntwo\n")
	p.commit("second")
	first := p.asked("").ID
	bob := "Bob <bob@example.com>"
	p.submit(first, record.Person{Actor: bob, Decision: record.RequestChanges, Comments: []record.Comment{
		{File: "a.txt", StartLine: 1, EndLine: 1, Comment: "why one?"},
		{File: "a.txt", StartLine: 2, EndLine: 2, Comment: "why two?"}}})
	for i, by := range []string{"Ada", bob} {
		_, err := p.store().AnswerFinding(t.Context(), first, record.Answer{
			Finding: p.review(first).Comments()[i].ID, Kind: record.AnswerRefuted, Reason: "nah", Actor: by}, false)
		if err != nil {
			t.Fatal(err)
		}
	}
	p.write("a.txt", "one\ntwo\nthree\n")
	p.commit("third")
	c := p.chat()
	again := c.document("review", args{"again": first})["review_id"].(string)
	text, doc := c.call("review_get", args{"id": again}), c.document("review_get", args{"id": again})
	wants(t, text, "why one?", "from round 1, by Bob <bob@example.com>; answered; who reported it has not agreed",
		"answered: refuted, nah; by Ada (writer ", "1 finding closed in earlier rounds")
	if findings := doc["findings"].([]any); len(findings) != 1 || doc["settled_before"] != float64(1) {
		t.Errorf("%v", doc)
	}
}

// TestAnswersOfTwo: a finding is shown with the newest answer of each who answered.
func TestAnswersOfTwo(t *testing.T) {
	p := newProject(t)
	id, comments := p.many(1, "why?")
	for _, answer := range []record.Answer{
		{Actor: "Bob <bob@example.com>", Kind: record.AnswerDeferred, Reason: "later"},
		{Actor: "Ann <ann@example.com>", Kind: record.AnswerRefuted, Reason: "no"}} {
		answer.Finding = comments[0]
		if _, err := p.store().AnswerFinding(t.Context(), id, answer, false); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, p.chat().call("review_get", args{"id": id}), "answered: deferred, later; by Bob",
		"answered: refuted, no; by Ann")
}

// TestCheckNotRun: a check that did not run is not said to have failed.
func TestCheckNotRun(t *testing.T) {
	text := textOf("submission", record.Submission{Checks: []record.CheckResult{
		{Name: "missing", Command: "nope", NotRun: "nope is not installed"}, {Name: "bad", Command: "no", ExitCode: 1}}})
	wants(t, text, "check missing: nope: not run: nope is not installed\n", "check bad did not pass: no: exit 1\n")
}
