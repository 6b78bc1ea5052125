package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"runtime"
	"strings"
	"time"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/gitstore"
	"git-runr/loop/agent"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/safetext"
)

// notifyTimeout is how long a command may take that hears of a review.
const notifyTimeout = 10 * time.Second

// notice is what hooks.notify reads on standard input.
type notice struct {
	Review     string         `json:"review_id"`
	Repository string         `json:"repository"` // its directory
	Commit     gitstore.ID    `json:"commit,omitempty"`
	Title      string         `json:"title,omitempty"`
	Branch     string         `json:"branch,omitempty"`
	Author     string         `json:"author,omitempty"`
	Verdict    reply.Verdict  `json:"verdict,omitempty"`
	Outcome    record.Outcome `json:"outcome"`
	Critical   int            `json:"critical"`
	Warnings   int            `json:"warnings"`
	Notes      int            `json:"notes"`
	Get        string         `json:"get"` // what to type
}

// hears is what follows the reviews of a worker in the background: hooks.notify and the
// desktop hear of those that did not pass, and the day's tidying is done. What goes wrong
// there is said, and changes nothing.
func (c *console) hears(store *record.Store, conf *config.Config) func(context.Context, record.Review) {
	return func(ctx context.Context, review record.Review) {
		defer c.tidy(ctx, store)
		line := review.Summary()
		if line.Outcome != record.OutcomeFailed {
			return
		}
		dir := cmp.Or(store.Repo.WorkTree, store.Repo.GitDir)
		said := notice{
			Review: line.ID, Repository: dir, Commit: line.Commit, Title: line.Title, Branch: line.Branch, Author: line.Author, Verdict: line.Verdict,
			Outcome: line.Outcome, Critical: line.Critical, Warnings: line.Warnings, Notes: line.Notes, Get: "git runr inbox get " + line.ID,
		}
		var doc bytes.Buffer
		if err := writeJSON(&doc, said); err != nil {
			return // unreachable: strings and numbers
		}
		if argv := conf.Notify(); len(argv) > 0 {
			if err := tellCommand(ctx, dir, argv, doc.Bytes()); err != nil {
				safetext.Fprintf(c.err, "hooks.notify: %v\n", err) // also of a quiet worker: its log is where one looks
			}
		}
		if argv := c.desktop(said); len(argv) > 0 && conf.Hooks.Desktop {
			if err := tellCommand(ctx, dir, argv, nil); err != nil && !errors.Is(err, agent.ErrNotFound) {
				safetext.Fprintf(c.err, "hooks.desktop: %v\n", err)
			}
		}
	}
}

// sessionVariables are how a command finds the desktop.
var sessionVariables = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}

func tellCommand(ctx context.Context, dir string, argv []string, input []byte) error {
	result, err := agent.Run(ctx, agent.Command{
		Args: argv, Dir: dir, Env: agent.Environ(os.Environ(), sessionVariables), Stdin: bytes.NewReader(input),
		Timeout: notifyTimeout, Grace: time.Second, MaxOutput: 4 << 10,
	})
	switch {
	case err != nil:
		return err
	case result.TimedOut:
		return fmt.Errorf("%s was stopped after %s", argv[0], notifyTimeout)
	case result.ExitCode != 0:
		return fmt.Errorf("%s ended with %d: %s", argv[0], result.ExitCode, prose.OneLine(prose.Tail(string(result.Stderr), 1)))
	}
	return nil
}

// desktop is the command that shows a notification; none where nobody sits at a desktop.
func (p *program) desktop(said notice) []string {
	if p.getenv("CI") != "" || p.getenv("SSH_CONNECTION") != "" {
		return nil
	}
	title := strings.TrimSpace(fmt.Sprintf("%s %s %s", said.Verdict, said.Commit.Short(), prose.OneLine(said.Title)))
	body := fmt.Sprintf("%d critical, %s. %s", said.Critical, prose.Count(said.Warnings, "warning"), said.Get)
	switch {
	case runtime.GOOS == "darwin":
		return []string{"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, body}
	case p.getenv("DISPLAY") != "" || p.getenv("WAYLAND_DISPLAY") != "":
		return []string{"notify-send", "--app-name=git-runr", "--", title, html.EscapeString(body)}
	}
	return nil
}
