package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/safetext"
)

// TaskTitle is the first heading of a task file, or else its first line.
func TaskTitle(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			return strings.TrimSpace(heading)
		}
		if first == "" {
			first = line
		}
	}
	return first
}

// criteriaTitles are the headings under which a task file says when it is done.
var criteriaTitles = []string{"done criteria", "done when", "acceptance criteria", "acceptance checks", "acceptance", "definition of done"}

// DoneCriteria is the section of a task file that says when it is done; the whole
// text where there is none.
func DoneCriteria(text string) string {
	var section []string
	level := 0
	for _, l := range splitMarkdown(text).lines {
		hashes, title := headingOf(l.text)
		if l.kind != lineText { // a remark in a shell's code begins as a heading does
			hashes = 0
		}
		if hashes > 0 && level > 0 && hashes <= level {
			break
		}
		if level > 0 {
			section = append(section, l.text)
		} else if hashes > 0 && isCriteriaTitle(strings.ToLower(strings.Trim(title, " :"))) {
			level = hashes
		}
	}
	return orElse(strings.TrimSpace(strings.Join(section, "\n")), strings.TrimSpace(text))
}

func isCriteriaTitle(title string) bool {
	for _, t := range criteriaTitles {
		if strings.HasPrefix(title, t) {
			return true
		}
	}
	return false
}

// PlanReview makes a submitted review what plan works on: its findings, on the
// commit that it speaks of.
func PlanReview(plan *RunPlan, review Review) error {
	subject := review.Request.Subject
	if subject.Commit == "" {
		return fmt.Errorf("review %s is of a working tree, not of a commit: %w", review.ID, gitstore.ErrNotFound)
	}
	plan.FromReview, plan.Base = review.ID, subject.Commit
	plan.Entity = Entity{Type: "review", Identifier: review.ID, Title: subject.Title}
	settled := 0
	for _, sub := range review.Submissions {
		findings := sub.findings()
		todo := slices.DeleteFunc(slices.Clone(findings), review.settledFinding)
		settled += len(findings) - len(todo)
		plan.Findings = append(plan.Findings, todo...)
		asked := sub.requests()
		if len(todo) == 0 && (len(findings) > 0 || sub.Outcome == OutcomePassed && len(asked) == 0) {
			continue
		}
		plan.Requests = append(plan.Requests, asked...)
		if said := sub.words(); said.Text != "" {
			plan.Said = append(plan.Said, said)
		}
		plan.mend(sub.Checks, findings)
	}
	boundWords(plan.Said)
	if len(plan.Findings)+len(plan.Requests)+len(plan.Said) == 0 {
		return fmt.Errorf("review %s found nothing to fix: %w", review.ID, gitstore.ErrNoChange)
	}
	plan.Task = fmt.Sprintf("Address the review of %s (%s).\n\n%s", subject.Commit.Short(), safetext.Line(subject.Title), review.Request.Message)
	if settled > 0 {
		plan.Task += fmt.Sprintf("\n\n%s of the review is settled already and not listed: leave that alone.", Count(settled, "finding"))
	}
	plan.DoneCriteria = "Everything that the review asks for is met.\n" + formatFindings(plan.Findings)
	return nil
}

// mend makes checks that fail a thing to do, where no finding says so already.
func (p *RunPlan) mend(results []CheckResult, findings []Finding) {
	for _, c := range results {
		if !c.Fails() || slices.Contains(p.FailedChecks, c.Name) {
			continue
		}
		p.FailedChecks = append(p.FailedChecks, c.Name)
		if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == RuleOfCheck+c.Name }) {
			p.Requests = append(p.Requests, oneLine("check "+c.Name+" fails: "+c.Why()))
		}
	}
}

// asksFor reports whether it is part of the work that check passes: it then counts
// although it failed before the run. It is one that failed in the review that is
// addressed, or one whose command the task names.
func (p RunPlan) asksFor(check Check) bool {
	const shortest = 4 // "make" and shorter stand in texts by chance
	return slices.Contains(p.FailedChecks, check.Name) ||
		p.FromReview == "" && len(check.Command) > shortest && strings.Contains(p.Task+"\n"+p.DoneCriteria, check.Command)
}

// settledFinding reports whether f was fixed or refuted since.
func (r Review) settledFinding(f Finding) bool {
	answer, _ := r.AnswerTo(f.ID)
	return answer.Kind == AnswerFixed || answer.Kind == AnswerRefuted
}

// PlanInPlace makes the checkout as it is, uncommitted changes included, what plan
// begins from.
func (s *Store) PlanInPlace(ctx context.Context, plan *RunPlan) error {
	plan.InPlace = true
	tree, err := s.Repo.Checkout()
	if err != nil {
		return err
	}
	id, err := tree.NormalTree(ctx)
	if err != nil {
		return fmt.Errorf("record the working tree: %w", err)
	}
	head, err := s.Repo.ReadCommit(ctx, plan.Base)
	if err != nil || head.Tree == id {
		return err
	}
	if plan.Base, err = s.keepTree(ctx, id, head.ID, "the checkout before the run"); err != nil {
		return err
	}
	return s.Repo.Pin(ctx, "base of a run in place", plan.Base)
}

// PlanContext makes an executor's finished work what plan works on: what the
// checkout adds to HEAD, or HEAD itself where the executor committed already.
func (s *Store) PlanContext(ctx context.Context, plan *RunPlan, result string, files []string) error {
	tree, err := s.Repo.Checkout()
	if err != nil {
		return err
	}
	id, err := tree.NormalTree(ctx)
	if err != nil {
		return fmt.Errorf("record the working tree: %w", err)
	}
	head, err := s.Repo.ReadCommit(ctx, plan.Base)
	if err != nil {
		return err
	}
	plan.Context = &Context{ExecutorResult: result, Files: files, Commit: head.ID}
	if id == head.Tree {
		if len(head.Parents) == 0 {
			return fmt.Errorf("the working tree has no changes and HEAD has no parent: %w", gitstore.ErrNoChange)
		}
		plan.Base = head.Parents[0]
		plan.Context.Message = cutMiddle(strings.TrimSpace(s.message(ctx, head.ID)), maxMessageBytes)
		return nil
	}
	if plan.Context.Commit, err = s.keepTree(ctx, id, head.ID, oneLine(orElse(plan.Entity.Name(), "executor's work"))); err != nil {
		return err
	}
	if err := s.Repo.Pin(ctx, "an executor's work", plan.Context.Commit); err != nil {
		return err
	}
	snap, err := tree.Snapshot(ctx, "refs/runr-local/snapshots/context-"+string(plan.Context.Commit), "the checkout that the run started from")
	plan.Context.Snapshot = snap.ID
	return err
}
