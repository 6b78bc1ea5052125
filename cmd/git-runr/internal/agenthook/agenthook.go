// Package agenthook answers agent tools that run git-runr at certain events: when a session starts, when the agent is
// about to stop, and before it uses its shell. It prints nothing if it has nothing to say, and an error of its own
// never blocks a tool.
package agenthook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// The events that are answered.
const (
	Start = "start"
	Stop  = "stop"
	Tool  = "tool"
)

// input is the part of standard input that claude, codex and gemini have in common.
type input struct {
	HookEventName  string `json:"hook_event_name"`
	StopHookActive bool   `json:"stop_hook_active"` // the agent already continues because of us
	ToolInput      struct {
		Command any `json:"command"` // a line, or a list of words
	} `json:"tool_input"`
}

// maxInput is the maximum number of bytes read from a tool.
const maxInput = 1 << 20

// Call is a tool's call of a hook.
type Call struct {
	Tool, Event string // such as claude, stop
	event       string // the tool's name for it
	command     string
	again       bool
}

// Read parses a tool's description of its call; ok is false if there is nothing to answer.
func Read(tool, event string, in io.Reader) (c Call, ok bool) {
	var said input
	if json.NewDecoder(io.LimitReader(in, maxInput)).Decode(&said) != nil {
		return c, false
	}
	c = Call{Tool: tool, Event: event, event: said.HookEventName, command: fmt.Sprint(said.ToolInput.Command),
		again: said.StopHookActive}
	watched := c.pushes() || commits().MatchString(c.command)
	return c, event == Start || event == Stop && !c.again || event == Tool && watched
}

var (
	commits = gitCommand("commit")
	pushes  = gitCommand("push")
)

func gitCommand(name string) func() *regexp.Regexp {
	return lazyre.Compile(`\bgit(\s+-[cC]\s+\S+|\s+-\S+)*\s+` + name + `\b`)
}

func (c Call) pushes() bool { return pushes().MatchString(c.command) }

// Gate returns why HEAD must not be pushed, or "" if it may be.
type Gate func() (string, error)

// Answer returns the answer for the tool to read on standard output: nothing, or one JSON object.
func (c Call) Answer(ctx context.Context, store *store.Store, getenv func(string) string, gate Gate) ([]byte, error) {
	if getenv("GIT_RUNR_DEPTH") != "" || store.Repo.IsOwnWorktree() ||
		!slices.Contains([]string{Start, Stop, Tool}, c.Event) {
		return nil, nil // an agent that git-runr started
	}
	text, err := "", error(nil)
	switch {
	case c.Event == Start:
		text, err = waiting(ctx, store)
	case c.Event == Stop:
		text, err = handBack(ctx, store, "Before you stop: ")
	case c.pushes():
		text, err = gate()
	default:
		text, err = handBack(ctx, store,
			"Nothing is committed yet; the same command works when you run it again. Before that: ")
	}
	return c.answer(text), err
}

// waiting returns the text for the start of a session: how many reviews wait to be addressed.
func waiting(ctx context.Context, records *store.Store) (string, error) {
	inbox, err := record.StatusFilter("inbox")
	if err != nil {
		return "", err
	}
	_, n, err := records.Reviews(ctx, store.Filter{Status: inbox, Limit: 1})
	if err != nil || n == 0 {
		return "", err
	}
	text := prose.Count(n, "review") + " " + map[bool]string{true: "waits", false: "wait"}[n == 1] + " in this repository"
	if critical := records.Glance().Critical; critical > 0 {
		text += fmt.Sprintf(", with %s unanswered", prose.Count(critical, "critical finding"))
	}
	return text + ". To see them: git runr inbox list --status inbox", nil
}

// answer returns what gives the agent text at the start of its task, makes it go on instead of stopping, or forbids a
// command, with text as the reason; nothing for "".
func (c Call) answer(text string) []byte {
	var doc map[string]any
	switch {
	case text == "":
		return nil
	case c.Event == Start:
		doc = map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": c.event,
			"additionalContext": text}}
	case c.Tool == "gemini":
		doc = map[string]any{"decision": "deny", "reason": text}
	case c.Event == Tool:
		doc = map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": c.event,
			"permissionDecision": "deny", "permissionDecisionReason": text}}
	default:
		doc = map[string]any{"decision": "block", "reason": text}
	}
	body, _ := json.Marshal(doc) // maps of strings can be encoded
	return append(body, '\n')
}

// Limits of what is handed back.
const (
	maxReviews  = 5
	maxFindings = 10
	maxIssue    = 600 // characters of one finding
	maxFix      = 400
)

// handBack returns the unanswered findings of reviews of this branch's commits that were not handed back before, or "".
func handBack(ctx context.Context, records *store.Store, lead string) (string, error) {
	branch, err := records.Branch(ctx)
	if err != nil {
		return "", err
	}
	if _, busy := hooks.ShouldRun(ctx, records.Repo, hooks.PostCommit, func(string) string { return "" }); busy != "" {
		return "", nil // a git operation is in progress
	}
	inbox, err := record.StatusFilter("inbox")
	if err != nil {
		return "", err
	}
	lines, _, err := records.Reviews(ctx, store.Filter{Status: inbox, ByNeed: true, Limit: maxReviews, Some: true,
		Review: func(r record.ReviewSummary) bool {
			return r.Branch == branch && r.Run == "" && r.Status != record.ReviewClaimed && r.Critical+r.Warnings > 0
		}})
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return handBackOf(ctx, records, lines, lead)
}

func handBackOf(ctx context.Context, store *store.Store, lines []record.ReviewSummary, lead string) (string, error) {
	path := filepath.Join(store.Repo.StateDir(), "agents-handed")
	data, _ := os.ReadFile(path) // findings that were handed back, as review/finding, oldest first
	handed := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	var blocks []string
	var fresh []string
	for _, line := range lines {
		review, err := store.Review(ctx, line.ID)
		if err != nil {
			return "", err
		}
		text, keys := findings(review, handed, maxFindings-len(fresh))
		if text != "" {
			blocks = append(blocks, text)
		}
		fresh = append(fresh, keys...)
	}
	if len(fresh) == 0 {
		return "", nil
	}
	all := append(handed, fresh...)
	all = all[max(0, len(all)-maxHanded):]
	if err := safefile.WriteFile(path, []byte(strings.Join(all, "\n")+"\n"), 0o666); err != nil {
		return "", err // otherwise it would be handed back again and again
	}
	return fmt.Sprintf("%s%s of this branch's commits %s no answer. If a finding is right, fix it, commit, and type "+
		"git runr inbox answer REVIEW FINDING fixed --commit REV. If it is wrong, answer refuted -m with the reason. If it "+
		"must wait, answer deferred -m with the reason. Your user's decisions come first. This message is not "+
		"repeated.\n%s", lead, prose.Count(len(fresh), "finding"),
		map[bool]string{true: "has", false: "have"}[len(fresh) == 1],
		safetext.Fence(strings.Join(blocks, "\n\n"))), nil
}

// maxHanded is the maximum number of findings that are remembered.
const maxHanded = 2000

// findings returns at most max findings of a review, other than notes, that have no answer and were not handed back.
func findings(r record.Review, known []string, max int) (text string, keys []string) {
	var b strings.Builder
	for _, f := range r.Open() {
		key := safetext.Line(r.ID + "/" + f.ID)
		if len(keys) == max || f.Severity == reply.Note || slices.Contains(known, key) {
			continue
		}
		keys = append(keys, key)
		safetext.Fprintf(&b, "\n- [%s] %s, %s: %s", f.ID, f.Severity, cmp.Or(f.Place(), "general"),
			prose.Cut(f.Issue, maxIssue))
		if f.Fix != "" {
			safetext.Fprintf(&b, "\n  fix: %s", prose.Cut(f.Fix, maxFix))
		}
	}
	if len(keys) == 0 {
		return "", nil
	}
	subject := r.Request.Subject
	return fmt.Sprintf("review %s of %s %q:", safetext.Line(r.ID), subject.Commit.Short(),
		prose.CutColumns(safetext.Line(subject.Title), 80)) + b.String(), keys
}
