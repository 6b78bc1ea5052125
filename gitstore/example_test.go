package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// scratch returns an empty repository and a function that removes it.
func scratch(ctx context.Context) (*gitstore.Repo, func()) {
	dir, err := os.MkdirTemp("", "gitstore-example")
	if err != nil {
		log.Fatal(err)
	}
	repo, err := gitstore.Init(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	return repo, func() { os.RemoveAll(dir) }
}

// Append calls the function with the tips of all logs, under the lock of the clone.
func ExampleRepo_Append() {
	ctx := context.Background()
	repo, remove := scratch(ctx)
	defer remove()

	entry, err := repo.Append(ctx, func(_ context.Context, tips gitstore.Tips, _ string) (gitstore.Record, error) {
		if len(tips) > 0 {
			return gitstore.Record{}, gitstore.ErrNoChange
		}
		return gitstore.Record{
			Author:      gitstore.Identity{Name: "Ada", Email: "ada@example.com"},
			When:        time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Message:     "measured: 3 errors",
			Attachments: map[string][]byte{"check.log": []byte("a.go:1: undefined: x\n")},
		}, nil
	})
	if err != nil {
		log.Fatal(err)
	}

	tips, err := repo.Tips(ctx)
	if err != nil {
		log.Fatal(err)
	}
	read, err := repo.Entry(ctx, tips[repo.Writer()])
	if err != nil {
		log.Fatal(err)
	}
	output, err := repo.Attachment(ctx, read.ID, "check.log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(entry.ID.Short(), " ", read.When.Format(time.RFC3339), " ", read.Message, string(output))
	// Output:
	// ff9d2ce 2026-01-02T03:04:05Z measured: 3 errors
	// a.go:1: undefined: x
}

// A ref moves only from the value that its caller expects.
func ExampleRepo_SwapRef() {
	ctx := context.Background()
	repo, remove := scratch(ctx)
	defer remove()

	who, at := gitstore.Identity{Name: "Ada", Email: "ada@example.com"}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tree, err := repo.EmptyTree(ctx)
	if err != nil {
		log.Fatal(err)
	}
	commit, err := repo.WriteCommit(ctx, gitstore.Commit{Tree: tree, Author: who, Committer: who, AuthorWhen: at,
		CommitterWhen: at, Message: "first\n"})
	if err != nil {
		log.Fatal(err)
	}
	const name = "refs/runr-local/example"
	fmt.Println(repo.SwapRef(ctx, name, commit, ""))
	fmt.Println(errors.Is(repo.SwapRef(ctx, name, commit, ""), gitstore.ErrLostRace))
	// Output:
	// <nil>
	// true
}
