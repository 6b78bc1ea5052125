package reviewing

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/anchor"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
)

func splitText(text []byte) []string { return anchor.SplitLines(string(text)) }

// Examination has an agent examine findings of others, with the code at hand, and rule on each with one of two words:
// whether an old finding still holds, or whether a panel's finding is right.
type Examination struct {
	Store    *store.Store
	Progress checking.Progress
	Agent    role.Reviewer
	Name     string            // of the agent
	At       gitstore.ID       // the commit checked out for it
	Lead     string            // the question
	Words    reply.RulingWords // the two possible rulings
}

// ExaminedFinding is one finding and the material shown with it.
type ExaminedFinding struct {
	reply.Finding
	Material string // blocks of a prompt
}

// Limits of one call, so that its material fits into one prompt.
const (
	examFindings = 20
	examBytes    = 200 << 10
)

// Ask examines all findings in one checkout. It discards an answer after which the checkout has changed. raw is the
// text of the answers, calls are the calls made.
func (e Examination) Ask(ctx context.Context,
	findings []ExaminedFinding) (said []reply.Ruling, raw string, calls []spend.Call, failure *record.Failure, err error) {
	var texts []string
	err = checking.InCheckout(ctx, e.Store, e.At, func(ctx context.Context, tree *gitstore.Worktree) error {
		read := reading{e.Store, e.Progress, tree, tree.TreeAsMade, e.Name,
			e.Name + " changed files that it was only to read: "}
		failure, err = read.only(ctx, func(ctx context.Context) (failed *record.Failure, err error) {
			for len(findings) > len(said) && failed == nil {
				group := nextGroup(findings[len(said):])
				e.Progress.Step(e.Words.Settles+"?", fmt.Sprintf("%s by %s", prose.Count(len(group), "finding"), e.Name))
				answer, rulings, err := e.askOf(ctx, tree.Dir, group)
				calls = append(calls, answer.Calls...)
				if err != nil {
					return nil, err
				}
				failed, texts, said = answer.Failure, append(texts, answer.Raw), append(said, rulings...)
			}
			return failed, nil
		})
		return err
	})
	return said, strings.Join(texts, "\n\n"), calls, failure, err
}

// nextGroup returns the first findings, as many as one call examines.
func nextGroup(findings []ExaminedFinding) []ExaminedFinding {
	size := 0
	for i, f := range findings {
		if size += len(f.Material); i == examFindings || i > 0 && size > examBytes {
			return findings[:i]
		}
	}
	return findings
}

// askOf makes one call.
func (e Examination) askOf(ctx context.Context, dir string,
	group []ExaminedFinding) (role.ReviewAnswer, []reply.Ruling, error) {
	nonce := checking.NewNonce()
	files := each.Of(group, func(f ExaminedFinding) string { return f.File })
	text := e.prompt(group, nonce)
	answer, err := e.Agent.Review(ctx, role.ReviewJob{
		Tree: e.At, Files: files, Dir: dir, Nonce: nonce, Prompt: func() string { return text }, OnLine: e.Progress.Line,
	})
	return answer, reply.ParseRulings(answer.Raw, nonce, e.Words, len(group)), err
}

func (e Examination) prompt(group []ExaminedFinding, nonce string) string {
	return FillPrompt(prompts, "examine.md", struct {
		Examination
		Findings []ExaminedFinding
		Form     string // of the answer
	}{e, group, reply.RulingInstructions(nonce, e.Words, len(group))})
}

// WriteLines writes the lines of a finding in a version, and some lines around them, at most 8 KiB. It writes nothing
// if there are none.
func WriteLines(ctx context.Context, b *strings.Builder, s *store.Store, tag string, version gitstore.ID,
	f reply.Finding, around int) error {
	if f.File == "" {
		return nil
	}
	text, err := s.Repo.Blob(ctx, version, f.File)
	if err != nil {
		return gitstore.IgnoreNotFound(err)
	}
	all := splitText(text)
	from, to := max(0, f.Line-1-around), min(len(all), max(f.Line, f.EndLine)+around)
	if from < to {
		WriteBlock(b, tag, safetext.Quote(prose.CutMiddle(strings.Join(all[from:to], "\n"), change.MaxMessageBytes)))
	}
	return nil
}

// ShownAround is the number of lines shown around a finding.
const ShownAround = 30
