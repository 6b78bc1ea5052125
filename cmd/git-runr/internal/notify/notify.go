// Package notify tells the user about a review that a background worker finished: by the command hooks.notify and by
// a notification on the desktop.
package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// timeout is the maximum time for a notification command.
const timeout = 10 * time.Second

// Notice is the JSON that hooks.notify reads on standard input.
type Notice struct {
	Review     string         `json:"review_id"`
	Repository string         `json:"repository"` // directory
	Commit     gitstore.ID    `json:"commit,omitempty"`
	Title      string         `json:"title,omitempty"`
	Branch     string         `json:"branch,omitempty"`
	Author     string         `json:"author,omitempty"`
	Verdict    reply.Verdict  `json:"verdict,omitempty"`
	Outcome    record.Outcome `json:"outcome"`
	Critical   int            `json:"critical"`
	Warnings   int            `json:"warnings"`
	Notes      int            `json:"notes"`
	Get        string         `json:"get"` // command that shows the review
}

// Of returns the notice of a review in the repository at dir.
func Of(r record.ReviewSummary, dir string) Notice {
	return Notice{
		Review: r.ID, Repository: dir, Commit: r.Commit, Title: r.Title, Branch: r.Branch, Author: r.Author,
		Verdict: r.Verdict,
		Outcome: r.Outcome, Critical: r.Critical, Warnings: r.Warnings, Notes: r.Notes, Get: "git runr show " + r.ID,
	}
}

// Command runs argv with the notice on standard input. It does nothing if argv is empty.
func (n Notice) Command(ctx context.Context, argv []string) error {
	var doc bytes.Buffer
	if err := stdio.WriteJSON(&doc, n); err != nil {
		return err
	}
	return n.run(ctx, argv, &doc)
}

// Desktop shows the notice on the desktop, if there is one and it supports notifications.
func (n Notice) Desktop(ctx context.Context, getenv func(string) string) error {
	err := n.run(ctx, n.desktop(getenv), nil)
	if errors.Is(err, agent.ErrNotFound) {
		return nil
	}
	return err
}

// sessionVariables are the variables by which a command finds the desktop.
var sessionVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
	"DBUS_SESSION_BUS_ADDRESS"}

func (n Notice) run(ctx context.Context, argv []string, input io.Reader) error {
	if len(argv) == 0 {
		return nil
	}
	result, err := agent.Run(ctx, agent.Command{
		Args: argv, Dir: n.Repository, Env: agent.Environ(os.Environ(), sessionVariables), Stdin: input,
		Timeout: timeout, Grace: time.Second, MaxOutput: 4 << 10,
	})
	switch {
	case err != nil:
		return err
	case result.TimedOut:
		return fmt.Errorf("%s was stopped after %s", argv[0], timeout)
	case result.ExitCode != 0:
		return fmt.Errorf("%s ended with %d: %s", argv[0], result.ExitCode,
			prose.OneLine(prose.Tail(string(result.Stderr), 1)))
	}
	return nil
}

// desktop returns the command that shows a notification, or nil without a desktop.
func (n Notice) desktop(getenv func(string) string) []string {
	if getenv("CI") != "" || getenv("SSH_CONNECTION") != "" {
		return nil
	}
	title := strings.TrimSpace(fmt.Sprintf("%s %s %s", n.Verdict, n.Commit.Short(), prose.OneLine(n.Title)))
	body := fmt.Sprintf("%d critical, %s. %s", n.Critical, prose.Count(n.Warnings, "warning"), n.Get)
	switch {
	case runtime.GOOS == "darwin":
		return []string{"osascript", "-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, body}
	case getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "":
		return []string{"notify-send", "--app-name=git-runr", "--", title, html.EscapeString(body)}
	}
	return nil
}
