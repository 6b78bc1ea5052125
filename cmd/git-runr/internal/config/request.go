package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// Request is what is asked for where nobody names a reviewer: of the configured ones, with
// their quorum and their judge.
func (c *Config) Request() record.ReviewRequest {
	return c.requestOf(strings.Split(c.Review.Reviewer, ","))
}

func (c *Config) requestOf(names []string) record.ReviewRequest {
	request := record.ReviewRequest{Reviewer: names[0], Others: names[1:], Panel: record.Panel{Judge: c.Review.Judge}}
	request.Others = request.Reviewers()[1:]
	if c.Review.Quorum > 1 {
		request.Quorum = c.Review.Quorum
	}
	return request
}

// Batch says which requests that the hooks made become one.
func (c *Config) Batch() intake.Batch {
	return intake.Batch{Rows: c.Hooks.Debounce > 0, Branch: c.Hooks.Scope == "branch"}
}

// RequestOf is Request of those who are named, none for the configured ones, looking for
// what kind says, "" for everything. It is an error where one of the names is nobody's.
func (c *Config) RequestOf(names []string, kind string) (record.ReviewRequest, error) {
	configured := len(names) == 0
	if configured {
		names = []string{c.Review.Reviewer}
	}
	names = strings.Split(strings.Join(names, ","), ",")
	request := c.requestOf(names)
	if err := c.checkPanel(names, configured); err != nil {
		return request, err
	}
	for _, name := range request.Reviewers() {
		if err := c.KnownAgent("reviewer", name); err != nil {
			return request, err
		}
		if kind != "" && name == role.Builtin {
			return request, exit.Problemf(exit.Usage, "the built-in reviewer looks for the same always: --kind wants an agent or a person").WithHint("git runr review --kind " + loop.KindNames()[0] + " --reviewer NAME")
		}
	}
	if judge := request.Judge; role.Reserved(judge) {
		return request, exit.Problemf(exit.Usage, "review.judge (%s): %s cannot judge: an agent is wanted", c.origin("review.judge"), judge)
	} else if judge != "" {
		if err := c.KnownAgent(fmt.Sprintf("review.judge (%s)", c.origin("review.judge")), judge); err != nil {
			return request, err
		}
	}
	prompt, err := c.kindPrompt(kind)
	request.Kind, request.KindPrompt = kind, prompt
	return request, err
}

// checkPanel refuses reviewers of whom one is named twice, and a quorum that they cannot
// reach. One that is configured for others is no more than they are.
func (c *Config) checkPanel(names []string, configured bool) error {
	agents := 0
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return exit.Problemf(exit.Usage, "reviewer: %q is named twice", name)
		}
		if name != record.Human {
			agents++
		}
	}
	from := c.origin("review.quorum")
	if c.Review.Quorum <= max(1, agents) || from != originFlag && !configured {
		return nil
	}
	where := "--quorum"
	if from != originFlag {
		where = "review.quorum (" + from + ")"
	}
	return exit.Problemf(exit.Usage, "%s: %d agents cannot agree, %d %s asked", where, c.Review.Quorum, agents, map[bool]string{true: "is", false: "are"}[agents == 1])
}

// kindPrompt is what is configured for a kind of review; "" for one of the program's own,
// and for none.
func (c *Config) kindPrompt(kind string) (string, error) {
	if prompt, ok := c.kinds[kind]; ok || kind == "" {
		return prompt, nil
	}
	all := slices.Sorted(maps.Keys(c.kinds))
	if own := loop.KindNames(); slices.Contains(own, kind) {
		return "", nil
	} else {
		all = append(own, all...)
	}
	return "", exit.Problemf(exit.Usage, "--kind: there is no kind of review called %q: %s, or one of [review.kinds.NAME]", kind, strings.Join(all, ", ")).WithHint("git runr help config")
}
