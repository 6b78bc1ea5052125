package web

import (
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// TestForgedRequest: the page says that a request shows other contents than the commit has that it names, takes no
// verdict on it, and says who cancelled it.
func TestForgedRequest(t *testing.T) {
	s := newSite(t)
	head := gitstore.ID(runGit(t, s.dir, "rev-parse", "HEAD"))
	s.put("evil.txt", []byte("evil\n"))
	s.commit("evil")
	evil := gitstore.ID(runGit(t, s.dir, "rev-parse", "HEAD"))
	subject := record.Subject{Kind: record.SubjectCommit, Spec: "HEAD~1", Title: "harmless",
		Base: head, Commit: head, Tree: evil}
	request := record.ReviewRequest{Subject: subject, Reviewer: record.Human}
	review, err := s.Store.RequestReview(t.Context(), request, "cli")
	if err != nil {
		t.Fatal(err)
	}
	const forged = "shows other contents than that commit has: it is forged or damaged"
	shows(t, s.page("/review/"+review.ID), forged)
	submit := "/api/review/submissions/" + review.ID + "/submit"
	if answer := s.browser("POST", submit, `{"decision":"approve"}`).want(400); answer.object()["error"] == nil {
		t.Errorf("no reason: %s", answer.text)
	}
	s.form("/review/" + review.ID + "/cancel")
	shows(t, s.page("/review/"+review.ID), "Cancelled by <b>Ada</b>")
}
