package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
)

// anotherModule is a program outside this module that folds the newest review of a repository from its events.
const anotherModule = `package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

func main() {
	ctx := context.Background()
	repo, err := gitstore.Open(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer repo.Close()
	records := store.NewStore(repo, time.Now)
	listed, _, err := records.Reviews(ctx, store.Filter{Status: record.WaitingStatus})
	if err != nil {
		log.Fatal(err)
	}
	for _, summary := range listed {
		events, err := records.ReviewEvents(ctx, summary.ID)
		if err != nil {
			log.Fatal(err)
		}
		review, skipped := record.FoldReview(events)
		fmt.Println(review.Status, review.Request.Reviewer, len(skipped))
		for _, said := range review.Submissions {
			fmt.Println(said.Reviewer, said.Decision, said.Report.Summary)
			for _, comment := range said.Comments {
				fmt.Println(comment.Comment)
			}
		}
	}
}
`

// Another module can import the packages that contain the record; its program builds and folds a review.
func TestAnotherModuleFoldsAReview(t *testing.T) {
	repo, env := scripttest.Repo(t)
	scripttest.RunIn(t, repo, env, "git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
	scripttest.RunIn(t, repo, env, "git-runr", "-q", "inbox", "submit", "latest", "--request-changes", "-m", "not yet",
		"--as", "ann")
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(ours), "\n")
	module := "module example.com/reviews\n" + requires + // the versions of this module, so that no network is needed
		"\nrequire github.com/git-runr/git-runr v0.0.0\n\nreplace github.com/git-runr/git-runr => " + root + "\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": module, "go.sum": string(sums), "main.go": anotherModule} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	offline := append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	out := scripttest.RunIn(t, dir, offline, "go", "run", ".", repo)
	if want := "submitted human 0\nann request_changes \nnot yet\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
}
