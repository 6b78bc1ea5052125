package main

import (
	"context"
	"time"

	"git-runr/gitstore"
)

// longestRewrite is how long a worker waits for git to end a rebase whose post-rewrite
// hook has started it: that takes milliseconds.
const longestRewrite = 2 * time.Second

// awaitRewrite waits for debounce, and until git has put away what a rebase left: where
// reviewed commits went is looked at after that.
func awaitRewrite(ctx context.Context, repo *gitstore.Repo, debounce time.Duration) error {
	if err := sleep(ctx, debounce); err != nil {
		return err
	}
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); repo.Operation() == "rebase" && waited < longestRewrite; waited += step {
		if err := sleep(ctx, step); err != nil {
			return err
		}
	}
	return nil
}
