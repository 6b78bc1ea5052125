package builtin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/syntax"
)

// maxFindings is the maximum number of findings in a report; a last note counts the rest.
const maxFindings = 200

// Input is the material of a review.
type Input struct {
	Files  []File
	Rest   []File               // generated and vendored files, searched for secrets only
	Shown  int                  // files of the change that are examined
	Sizes  map[string]int64     // bytes of the new content by path, if the diff does not say, and of lock files
	Checks []record.CheckResult // on the change, judged
	Said   []Said               // the commits under review
	Hidden []reply.Finding      // secrets in what the diff does not show

	Secrets *Secrets // with which the change is searched
}

// Review reviews the diff and the checks' results. Its verdict is CRITICAL for a critical
// finding, NEEDS_FIX for a warning or a failing check, PASS_WITH_NOTES for notes only, else
// PASS. A diff without files is NEEDS_FIX: nothing was seen, so nothing can pass. The error is that of ctx.
func Review(ctx context.Context, in Input) (reply.Report, error) {
	found := slices.Clone(in.Hidden)
	isMoved := moved(in.Files)
	for _, f := range in.Files {
		if n, known := in.Sizes[f.Path]; known && f.Size < 0 {
			f.Size = n
		}
		wasMoved := func(found reply.Finding) bool { return isMoved(f, found) }
		found = append(found, slices.DeleteFunc(in.reviewFile(ctx, f), wasMoved)...)
	}
	for _, f := range in.Rest {
		found = append(found, in.Secrets.inFile(ctx, f, kind{exempt: true, fixture: kindOf(f).fixture}, nil)...)
	}
	if ctx.Err() != nil {
		return reply.Report{}, ctx.Err()
	}
	found = append(append(found, lockFiles(in)...), deletedTests(in.Files)...)
	for _, said := range in.Said {
		found = append(found, in.Secrets.inMessage(said)...)
	}
	arrange(found)
	left := max(0, len(found)-maxFindings)
	found = found[:len(found)-left]
	failing, fromChecks := reviewChecks(in)
	found = append(found, fromChecks...)
	arrange(found)
	if left > 0 {
		found = append(found, reply.Finding{Severity: reply.Note, Rule: record.RuleLimit,
			Issue: fmt.Sprintf("%d more findings were left out", left)})
	}
	return report(in, found, failing), nil
}

func withoutBlanks(text string) string { return strings.Join(strings.Fields(text), "") }

// moved returns a function that reports whether the line of a finding in the code of f existed
// before the change, in any of files, and was only moved or indented. Secrets, conflict markers
// and whitespace are reported in moved lines too.
func moved(files []File) func(f File, found reply.Finding) bool {
	removed := map[string]bool{}
	for _, f := range files {
		for _, l := range f.Removed {
			removed[withoutBlanks(l.Text)] = true
		}
	}
	return func(f File, found reply.Finding) bool {
		if len(removed) == 0 || !slices.Contains(codeRules, found.Rule) {
			return false
		}
		i, ok := slices.BinarySearchFunc(f.Added, found.Line, func(l Line, n int) int { return cmp.Compare(l.Number, n) })
		return ok && removed[withoutBlanks(f.Added[i].Text)]
	}
}

// codeRules are the rules for lines of code.
var codeRules = []string{"debug", "stub", "focused-test", "skipped-test", "code-from-text", "sql-from-text"}

// reviewFile applies the rules to one file. It ends early when ctx does.
func (in Input) reviewFile(ctx context.Context, f File) []reply.Finding {
	if ctx.Err() != nil {
		return nil
	}
	k := kindOf(f)
	lang := syntax.Reviewed(f.Path)
	if lang == nil {
		lang = &syntax.Language{}
	}
	lines := takeApart(ctx, lang, f)
	found := conflictMarkers(f, k, lines)
	found = append(found, in.Secrets.inFile(ctx, f, k, lines)...)
	if k.exempt || ctx.Err() != nil {
		return found
	}
	found = append(append(found, wholeFile(f, k)...), executableBit(f)...)
	if f.Symlink() || f.Deleted {
		return found
	}
	found = append(append(found, whitespace(f, k, lines)...), placeholderText(f, k)...)
	if k.docs {
		return found
	}
	return append(append(found, matchLines(f, k, lang, lines)...), workComments(f, k, lines)...)
}

// reviewChecks returns the names of the failing checks, and their findings. If several checks
// report the same words for one line, as build, vet and test do, the first one's is kept.
func reviewChecks(in Input) (failing []string, found []reply.Finding) {
	said := map[reply.Finding]bool{}
	for _, result := range in.Checks {
		if result.Fails() {
			failing = append(failing, result.Name)
		}
		for _, f := range in.Secrets.checkFindings(result) {
			_, issue, _ := strings.Cut(f.Issue, ": ")
			same := reply.Finding{File: f.File, Line: f.Line, Issue: issue}
			if f.File == "" || !said[same] {
				found = append(found, f)
			}
			said[same] = true
		}
	}
	return failing, found
}

// arrange sorts the findings by severity, file and line.
func arrange(found []reply.Finding) {
	slices.SortStableFunc(found, func(a, b reply.Finding) int {
		return cmp.Or(cmp.Compare(reply.SeverityRank(a.Severity), reply.SeverityRank(b.Severity)),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Issue, b.Issue))
	})
}

func report(in Input, found []reply.Finding, failing []string) reply.Report {
	r := reply.Report{Format: "builtin", Findings: append([]reply.Finding{}, found...), Warnings: []string{}}
	reply.Identify(r.Findings)
	isRequest := func(f reply.Finding) bool { return f.Severity != reply.Note }
	r.Requests = each.Of(each.Where(r.Findings, isRequest), reply.RequestOf)
	stated := reply.Pass
	if reply.HasSeverity(found, reply.Warning) {
		stated = reply.NeedsFix
	}
	r.Verdict = reply.EffectiveVerdict(stated, found, len(failing) > 0)
	if len(in.Files) == 0 {
		r.Verdict = reply.NeedsFix
		r.Warnings = append(r.Warnings, "the diff names no file: nothing was reviewed")
	}
	r.Effective = reply.EffectiveVerdict(r.Verdict, r.Findings, len(failing) > 0)
	r.Approved = r.Effective.Passed()
	r.Summary = summary(in, found, failing)
	return r
}

func summary(in Input, found []reply.Finding, failing []string) string {
	if len(in.Files) == 0 {
		return "nothing to review: the diff names no file"
	}
	said := cmp.Or(reply.CountSeverities(found), "no problem")
	added := 0
	for _, f := range in.Files {
		added += len(f.Added)
	}
	said += fmt.Sprintf(" in %s, %s", prose.Count(in.Shown, "file"), prose.Count(added, "added line"))
	if len(failing) > 0 {
		said += "; failing: " + oneLine(strings.Join(failing, ", "), 200)
	}
	for _, c := range in.Checks {
		if c.Flaky {
			said += "; flaky: " + oneLine(c.Name, 60)
		}
	}
	submodules := each.Where(in.Files, func(f File) bool { return f.Submodule() && !f.Deleted })
	if len(submodules) > 0 {
		paths := each.Of(submodules, func(f File) string { return f.Path })
		said += "; the content of submodules was not looked at: " + oneLine(strings.Join(paths, ", "), 200)
	}
	if in.Secrets.loaded().own {
		said += "; " + ownRulesOnly
	}
	notRun := each.Where(in.Checks, func(c record.CheckResult) bool { return c.NotRun != "" })
	if len(notRun) > 0 {
		why := each.Of(notRun, func(c record.CheckResult) string { return c.Name + " (" + c.NotRun + ")" })
		said += "; not run: " + oneLine(strings.Join(why, ", "), 300)
	}
	return said
}

// ownRulesOnly says what a review did not look for.
const ownRulesOnly = "gitleaks' rules are missing: keys and tokens were guessed from how random a text looks, and " +
	"not looked for in generated files and messages of commits"
