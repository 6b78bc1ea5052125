package reviewing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Verifier checks open findings, and those only claimed to be fixed, against the current code.
type Verifier struct {
	Store    *store.Store                                       // required
	Rules    role.Reviewer                                      // the built-in reviewer, for its own findings; required
	Judge    string                                             // the agent that judges the rest; "": none
	Reviewer func(name string) (role.Reviewer, *record.Failure) // required with Judge
	Terms    Terms
	Closing  closing.Rule
	Progress checking.Progress // required
	// Machine limits the check to findings of rules and checks.
	Machine bool
}

// Verified is the result for one finding.
type Verified struct {
	Review  string            `json:"review_id"`
	Finding string            `json:"finding"`
	Place   string            `json:"place,omitempty"`  // where it was found
	Now     string            `json:"now,omitempty"`    // the current place, if known
	Kind    record.AnswerKind `json:"answer,omitempty"` // the recorded answer; "" if the finding is still open
	By      string            `json:"by,omitempty"`     // who answered
	Reason  string            `json:"reason"`
	Failure string            `json:"failure,omitempty"` // why the judge gave no answer: a stop reason
	there   bool              // it is certainly still there, not only possibly
}

// Stands reports whether the finding is open.
func (r Verified) Stands() bool { return r.Kind == "" || r.Kind == record.AnswerOpen }

// Verify checks the findings of a review that are open or claimed to be fixed, and records those that are settled. It
// returns all of them in order, and the usage of the judge's calls. A finding remains open unless its rule finds
// nothing there any more, its lines were deleted, or the judge settles it in the required form.
func (v *Verifier) Verify(ctx context.Context, review record.Review) (results []Verified, took spend.Usage, err error) {
	open := slices.DeleteFunc(review.Findings(), func(f reply.Finding) bool {
		answer, _ := review.AnswerTo(f.ID)
		return !review.IsOpen(f) && !answer.Claimed()
	})
	if len(open) == 0 {
		return nil, took, nil
	}
	at, why, err := codeOfNow(ctx, v.Store, review)
	if err != nil {
		return nil, took, fmt.Errorf("review %s: %w", review.ID, err)
	}
	results = make([]Verified, len(open))
	for i, f := range open {
		results[i] = Verified{Review: review.ID, Finding: f.ID, Place: f.Place(), Reason: why}
	}
	if at == "" {
		return results, took, nil
	}
	scene := v.scene(review, at)
	for i, f := range open {
		if err := scene.judge(ctx, f, &results[i]); err != nil {
			return results, took, fmt.Errorf("review %s, finding %s: %w", review.ID, f.ID, err)
		}
	}
	if v.Judge != "" {
		if took, err = scene.ask(ctx, open, results); err != nil {
			return results, took, err
		}
	}
	return results, took, v.record(ctx, review, at, results)
}

// Look checks an answer that claims a finding to be fixed or gone, with the finding's rule and deletions in the commit
// that the answer names, and sets ConfirmedBy. It returns a *record.InputError if the finding is still there.
func (v *Verifier) Look(ctx context.Context, review record.Review, answer record.Answer) (record.Answer, error) {
	f, known := review.Finding(answer.Finding)
	if !known || !answer.Claimed() || answer.Commit == "" {
		return answer, nil
	}
	result := Verified{}
	if err := v.scene(review, answer.Commit).judge(ctx, f.Finding, &result); err != nil {
		return answer, gitstore.IgnoreNotFound(err) // a part of it is not in this clone
	}
	now, err := v.Store.Repo.TreeOf(ctx, answer.Commit)
	was, wasErr := v.Store.Repo.TreeOf(ctx, review.Request.Subject.Tree)
	if err == nil && wasErr == nil && now == was && !result.there {
		result.remains("", "its files are those that were reviewed")
	}
	if result.there {
		where := ""
		if at := cmp.Or(result.Now, f.Place()); at != "" { // a comment on the whole change has no place
			where = ", at " + at
		}
		why := fmt.Sprintf("%s is not %s in %s%s: %s", answer.Finding, answer.Kind, answer.Commit.Short(), where,
			result.Reason)
		return answer, &record.InputError{Why: why}
	}
	answer.ConfirmedBy = result.By
	return answer, nil
}

func (v *Verifier) scene(review record.Review, at gitstore.ID) *scene {
	return &scene{v: v, review: review, at: at, rules: map[string][]reply.Finding{}}
}

// record records the settled findings and contradicts claims about findings that are still there: it reopens a review
// that was closed by claims alone. It leaves findings to others who have answered them.
func (v *Verifier) record(ctx context.Context, review record.Review, at gitstore.ID, results []Verified) error {
	for i := range results {
		r := &results[i]
		if answer, _ := review.AnswerTo(r.Finding); r.there && answer.Claimed() {
			r.Kind, r.By = record.AnswerOpen, cmp.Or(r.By, record.Itself)
		}
		if r.Kind == "" {
			continue
		}
		if r.Kind == record.AnswerOpen && review.Status == record.ReviewResolved && review.ResolvedBy == record.Itself {
			var err error
			if review, err = v.Store.ReopenReview(ctx, review.ID, record.Itself); err != nil {
				return err
			}
		}
		answer := record.Answer{Finding: r.Finding, Kind: r.Kind, Commit: at, Reason: r.Reason, Actor: r.By}
		answered, err := v.Store.AnswerFinding(ctx, review.ID, answer, false)
		state, refused := new(record.StateError), new(record.InputError)
		if errors.As(err, &state) || errors.As(err, &refused) { // somebody else's finding, or the reviewed code itself
			r.Kind, r.Reason = "", "not recorded: "+err.Error()
			continue
		}
		if err != nil {
			return err
		}
		review = answered
	}
	_, err := closing.Close(ctx, v.Store, review, v.Closing)
	return err
}

// codeOfNow returns the commit against which a review's findings are checked: HEAD or the branch of the request,
// whichever contains the reviewed commit. Elsewhere the code may be missing without having been removed; why then gives
// the reason.
func codeOfNow(ctx context.Context, s *store.Store, review record.Review) (at gitstore.ID, why string, err error) {
	commit := review.At()
	if commit == "" {
		return "", "it is on content that was not committed", nil
	}
	if _, err := s.Repo.ReadCommit(ctx, commit); err != nil {
		return "", fmt.Sprintf("commit %s is not in this clone", commit.Short()), gitstore.IgnoreNotFound(err)
	}
	head, _ := s.Repo.Head(ctx) // an error: no commit yet, or no such branch
	branch, _ := s.Repo.Ref(ctx, "refs/heads/"+review.Request.Subject.Branch)
	for _, tip := range []gitstore.ID{head, branch} {
		if tip == "" {
			continue
		}
		if has, err := s.Repo.IsAncestor(ctx, commit, tip); err != nil || has {
			return tip, "", err
		}
	}
	return "", fmt.Sprintf("commit %s is neither in HEAD nor in its branch", commit.Short()), nil
}

// scene is the code against which the findings of one review are checked.
type scene struct {
	v      *Verifier
	review record.Review
	at     gitstore.ID
	rules  map[string][]reply.Finding // findings of the rules, by version and file
}

// judge decides about a finding as far as that needs no agent.
func (s *scene) judge(ctx context.Context, f reply.Finding, result *Verified) error {
	if name, ofCheck := strings.CutPrefix(f.Rule, record.RuleOfCheck); ofCheck {
		s.byCheck(ctx, name, result)
		return nil
	}
	if s.v.Machine && !s.byRules(f) {
		result.Reason = "no rule found it"
		return nil
	}
	if f.File == "" {
		result.Reason = "it names no file"
		return nil
	}
	place, err := PlaceFinding(ctx, s.v.Store, s.review, f, s.at)
	if err != nil {
		return err
	}
	if place == nil {
		result.Reason = "the code that was reviewed has no such place"
		return nil
	}
	if !place.Outdated {
		result.Now = record.Comment{File: place.File, StartLine: place.StartLine, EndLine: place.EndLine}.Place()
	}
	if s.byRules(f) {
		return s.byRule(ctx, f, *place, result)
	}
	gone, err := s.deleted(ctx, f, *place)
	switch {
	case err != nil:
		return err
	case gone:
		return s.unlessMoved(ctx, f, result, "its code was deleted: "+f.Place())
	case place.Outdated:
		result.Reason = place.Why
	case place.StartLine == 0:
		result.Reason, err = s.fileNow(ctx, f.File, place.File)
	default:
		result.Reason = "the code there is as it was"
	}
	return err
}

// fileNow says whether a file that was reviewed has changed. It is called name now.
func (s *scene) fileNow(ctx context.Context, file, name string) (string, error) {
	was, err := s.v.Store.Repo.File(ctx, s.review.Request.Subject.Tree, file)
	if err != nil {
		return "the file that was reviewed is not in this clone", gitstore.IgnoreNotFound(err)
	}
	now, err := s.v.Store.Repo.File(ctx, s.at, name)
	if err != nil {
		return "the file is gone", gitstore.IgnoreNotFound(err)
	}
	if was.ID == now.ID && was.Mode == now.Mode {
		return "the file is as it was", nil
	}
	return "the file was changed, and the finding names no line of it", nil
}

// remains records that the finding is still there, why, and who says so; by is "" for a rule.
func (r *Verified) remains(by, reason string) { r.there, r.By, r.Reason = true, by, reason }

func (r *Verified) settle(kind record.AnswerKind, by, reason string) {
	r.Kind, r.By, r.Reason = kind, by, reason
}

// byRules reports whether a rule of the built-in reviewer, not a check, found f.
func (s *scene) byRules(f reply.Finding) bool {
	return f.Rule != "" && !strings.HasPrefix(f.Rule, record.RuleOfCheck) &&
		slices.ContainsFunc(s.review.Submissions, func(sub record.Submission) bool {
			return sub.Reviewer == role.Builtin &&
				slices.ContainsFunc(sub.Report.Findings, func(o reply.Finding) bool { return o.ID == f.ID })
		})
}

// byCheck settles the finding of a check that passes on the current tree, according to this clone's kept results.
func (s *scene) byCheck(ctx context.Context, name string, result *Verified) {
	result.Reason = fmt.Sprintf("check %s was not run on %s", name, s.at.Short())
	for _, sub := range s.review.Submissions {
		for _, c := range sub.Checks {
			if c.Name != name {
				continue
			}
			now, known := checking.Kept(ctx, s.v.Store, runplan.Check{Name: name, Command: c.Command}, s.at)
			switch {
			case known && now.OK():
				result.settle(record.AnswerFixed, record.Itself, fmt.Sprintf("check %s passes on %s", name, s.at.Short()))
				return
			case known:
				result.Reason = fmt.Sprintf("check %s still fails on %s", name, s.at.Short())
			}
		}
	}
}

// PlaceFinding returns the place of a finding in a commit or tree, or nil if the reviewed code has no such place.
func PlaceFinding(ctx context.Context, s *store.Store, review record.Review, f reply.Finding,
	at gitstore.ID) (*locate.Placed, error) {
	if f.File == "" {
		return nil, nil
	}
	c := record.Comment{ID: f.ID, File: f.File, StartLine: f.Line, EndLine: f.EndLine, Commit: review.Request.Subject.Tree}
	for _, said := range review.Comments() {
		if said.ID == f.ID {
			c = said
		}
	}
	if c.Side == record.SideOld {
		return nil, nil
	}
	if c.Blob == "" {
		entry, err := s.Repo.File(ctx, c.Commit, c.File)
		if err != nil {
			return nil, gitstore.IgnoreNotFound(err)
		}
		c.Blob = entry.ID
	}
	placed, err := locate.Place(ctx, s, c, at)
	return &placed, err
}

// byRule runs the rule that found f on the current file. It attributes hits elsewhere, in lines that the rule found
// before, to other findings.
func (s *scene) byRule(ctx context.Context, f reply.Finding, place locate.Placed, result *Verified) error {
	before, err := s.found(ctx, s.review.Request.Subject.Tree, f.File, f.Rule)
	if err != nil {
		return err
	}
	now, err := s.found(ctx, s.at, place.File, f.Rule)
	if err != nil {
		return err
	}
	at := func(o hit) bool { return o.Line == f.Line }
	if !slices.ContainsFunc(before, at) {
		result.Reason = fmt.Sprintf("rule %s does not say it of these lines when it sees the whole file", f.Rule)
		return nil
	}
	here := func(o hit) bool { return !place.Outdated && (f.Line == 0 || o.Line == place.StartLine) }
	others := each.SetOf(slices.DeleteFunc(before, at), func(o hit) string { return o.text })
	another := func(o hit) bool { return f.Line > 0 && others[o.text] && !here(o) }
	now = slices.DeleteFunc(now, another)
	switch {
	case slices.ContainsFunc(now, here):
		result.remains("", fmt.Sprintf("rule %s still finds it", f.Rule))
	case place.Outdated && len(now) > 0:
		result.Reason = fmt.Sprintf("%s, and rule %s still finds something at %s", place.Why, f.Rule, now[0].Place())
	case f.Rule == record.RuleSecret:
		return s.leaked(ctx, f, result)
	case place.Outdated:
		return s.unlessMoved(ctx, f, result, fmt.Sprintf("%s, and rule %s finds nothing there any more", place.Why, f.Rule))
	default:
		result.settle(record.AnswerFixed, record.Itself, fmt.Sprintf("rule %s finds nothing there any more", f.Rule))
	}
	return nil
}

// unlessMoved settles f as gone, unless its lines are in another file now.
func (s *scene) unlessMoved(ctx context.Context, f reply.Finding, result *Verified, gone string) error {
	repo := s.v.Store.Repo
	text, err := repo.Blob(ctx, s.review.Request.Subject.Tree, f.File)
	if err != nil {
		return err
	}
	lines := splitText(text)
	if f.Line > 0 {
		lines = lines[min(f.Line-1, len(lines)):min(max(f.Line, f.EndLine), len(lines))]
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return len(strings.TrimSpace(line)) < telling
	})
	if len(lines) > 0 {
		lines = lines[:min(len(lines), tellingLines)]
		was, err := repo.FilesWith(ctx, s.review.Request.Subject.Tree, lines)
		if err != nil {
			return err
		}
		now, err := repo.FilesWith(ctx, s.at, lines)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(now, func(file string) bool { return !slices.Contains(was, file) }); i >= 0 {
			result.Reason = fmt.Sprintf("the lines are in %s now", now[i])
			return nil
		}
	}
	result.settle(record.AnswerGone, record.Itself, gone)
	return nil
}

const (
	telling      = 4  // minimum length in bytes of a line that identifies moved code
	tellingLines = 20 // maximum number of lines to look for in other files
)

// leaked reports where a secret is that was removed from its file. A later commit does not remove it from the history:
// it is gone when no branch contains a commit that has it.
func (s *scene) leaked(ctx context.Context, f reply.Finding, result *Verified) error {
	repo := s.v.Store.Repo
	var having []gitstore.ID
	for _, id := range s.review.Summary().Places() {
		if hits, err := s.found(ctx, id, f.File, f.Rule); err != nil || len(hits) > 0 {
			having = append(having, id) // unreadable: it may have the secret
		}
	}
	gone, err := repo.Unreachable(ctx, having)
	if err != nil {
		return err
	}
	still := slices.DeleteFunc(having, func(id gitstore.ID) bool { return slices.Contains(gone, id) })
	if len(still) == 0 {
		result.settle(record.AnswerGone, record.Itself, "no branch of the clone that verified it has it any more")
		return nil
	}
	pushed, err := repo.OnRemote(ctx, still[0])
	reason := fmt.Sprintf("it is still in commit %s: amend or rebase before you push", still[0].Short())
	if pushed {
		reason = fmt.Sprintf("it is still in commit %s, which was pushed: revoke it and say refuted", still[0].Short())
	}
	result.remains("", reason)
	return err
}

// hit is a finding of a rule with the text of its line.
type hit struct {
	reply.Finding
	text string
}

// found returns what a rule finds in a whole file of a version, or nothing if the version lacks the file.
func (s *scene) found(ctx context.Context, version gitstore.ID, file, rule string) ([]hit, error) {
	repo := s.v.Store.Repo
	entry, err := repo.File(ctx, version, file)
	if err != nil {
		return nil, gitstore.IgnoreNotFound(err)
	}
	key := string(entry.ID) + " " + file
	all, known := s.rules[key]
	if !known {
		if all, err = s.runRules(ctx, version, file); err != nil {
			return nil, err
		}
		s.rules[key] = all
	}
	text, err := repo.ReadBlob(ctx, entry.ID)
	if err != nil {
		return nil, err
	}
	lines := splitText(text)
	var hits []hit
	for _, f := range all {
		if f.Rule == record.RuleLimit { // the list is incomplete
			return []hit{{Finding: f}}, nil
		}
		if f.Rule != rule {
			continue
		}
		h := hit{Finding: f}
		if f.Line > 0 && f.Line <= len(lines) {
			h.text = lines[f.Line-1]
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// runRules has the built-in reviewer examine a whole file as if it were new.
func (s *scene) runRules(ctx context.Context, version gitstore.ID, file string) ([]reply.Finding, error) {
	patch, _, err := s.v.Store.Repo.Diff(ctx, gitstore.DiffSpec{To: version, Paths: []string{file}})
	if err != nil {
		return nil, err
	}
	answer, err := s.v.Rules.Review(ctx, role.ReviewJob{Patch: patch, Tree: version, Files: []string{file}})
	return answer.Report.Findings, err
}

// deleted reports whether the lines of f, or its file, were removed without a replacement.
func (s *scene) deleted(ctx context.Context, f reply.Finding, place locate.Placed) (bool, error) {
	if !place.Outdated {
		return false, nil
	}
	repo, tree := s.v.Store.Repo, s.review.Request.Subject.Tree
	if _, err := repo.File(ctx, s.at, f.File); err != nil {
		return errors.Is(err, gitstore.ErrNotFound), gitstore.IgnoreNotFound(err)
	}
	if f.Line == 0 {
		return false, nil
	}
	patch, _, err := repo.Diff(ctx, gitstore.DiffSpec{From: tree, To: s.at, Paths: []string{f.File}})
	if err != nil {
		return false, err
	}
	for file, err := range unidiff.Files(string(patch)) {
		if err != nil {
			return false, nil // an unreadable patch proves nothing
		}
		for _, hunk := range file.Hunks {
			if takesOut(hunk, f.Line, max(f.Line, f.EndLine)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// takesOut reports whether hunk removes old lines start to end and adds none there.
func takesOut(hunk unidiff.Hunk, start, end int) bool {
	for i := 0; i < len(hunk.Lines); i++ {
		removed, added := hunk.Block(i)
		if removed == 0 {
			continue
		}
		first, last := hunk.Lines[i].Old, hunk.Lines[i+removed-1].Old
		if added == 0 && first <= start && end <= last {
			return true
		}
		i += removed + added - 1
	}
	return false
}
