package diagnose

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/track"
)

// UnmetCode is one code of Diagnosis.UnmetChecks and its meaning. In codes, CHECK is typecheck, test, build, lint,
// format, docs or security, or the name of a check of another kind, and PATH is a path.
type UnmetCode struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
}

// Endings of the codes about one check.
const (
	outputMissing = "_output_missing"
	outputStale   = "_output_stale"
	checkFailed   = "_failed"
)

const (
	coverageMissing    = "test_coverage_not_reported"
	coverageLow        = "test_coverage_insufficient"
	fileMissing        = "file_not_created: "
	evidenceIncomplete = "evidence_incomplete"
)

// UnmetCodes returns all codes.
func UnmetCodes() []UnmetCode {
	return []UnmetCode{
		{"CHECK" + outputMissing, "requested, but the check was never run"},
		{"CHECK" + checkFailed, "the check ran on the newest tree and failed"},
		{"CHECK" + outputStale, "requested, but the check ran only before the last change"},
		{coverageMissing, "coverage was requested, but no evidence gives a figure"},
		{coverageLow, "coverage was reported, but is too low"},
		{fileMissing + "PATH", "a file was requested, but the run has not written it"},
		{evidenceIncomplete, "evidence was requested that no configured check gives"},
	}
}

// unmet compares what was asked for with what was provided.
type unmet struct {
	run    record.Run
	checks matcher
	known  proof
	codes  []string
}

// unmetOf returns the codes of everything that requests and the task's done criteria ask for without evidence, and of
// every failing check.
func unmetOf(run record.Run, checks matcher, requests []string, known proof) []string {
	u := &unmet{run: run, checks: checks, known: known}
	for _, r := range requests {
		u.ask(r)
	}
	for _, c := range doneChecks(run.Plan) {
		u.askChecks(c)
	}
	for _, c := range checks {
		if known.of(c.Check).state == failed {
			u.failed(c)
		}
	}
	slices.SortStableFunc(u.codes, func(a, b string) int { return cmp.Compare(codeRank(a), codeRank(b)) })
	return u.codes
}

func (u *unmet) add(code string) {
	u.codes = each.Once(u.codes, code)
}

// ask adds the codes of one request.
func (u *unmet) ask(request string) {
	mapped := u.askChecks(request)
	for _, file := range filesToCreate(request) {
		mapped = true
		if !slices.ContainsFunc(filesMade(u.run), func(f string) bool {
			return f == file || strings.HasSuffix(f, "/"+file)
		}) {
			u.add(fileMissing + file)
		}
	}
	if !mapped && asksForEvidence(request) {
		u.add(evidenceIncomplete)
	}
}

// fates returns the requests over all rounds. A request that the newest round does not repeat is met if the newest
// evidence shows that: the check that was the finding passes, or the check whose output was requested.
func fates(run record.Run, checks matcher, known proof) []track.Request {
	tracked := run.Requests()
	for i, t := range tracked {
		if t.State == track.NotAsked &&
			(checks.shows(t.Text, known) || known[strings.TrimPrefix(t.Rule, record.RuleOfCheck)].state == passed) {
			tracked[i].State = track.Met
		}
	}
	return tracked
}

// shows reports whether request asks for evidence, and each check that it mentions passed on the newest tree.
func (m matcher) shows(request string, known proof) bool {
	mentions := m.mentions(request)
	return len(mentions) > 0 && asksForEvidence(request) && !slices.ContainsFunc(mentions, func(said mention) bool {
		return said.check == nil || said.category == catCoverage || known.of(said.check.Check).state != passed
	})
}

// filesMade returns the paths that the run's attempts and people changed, even if their work is not in this clone.
func filesMade(run record.Run) []string {
	files := run.Files()
	for _, a := range run.Attempts {
		if run.Plan.Imported != "" && a.Reverted == nil {
			files = append(files, a.Files...)
		}
	}
	return files
}

// askChecks adds codes for the checks that request mentions, as far as evidence is missing, and reports whether it
// mentions any.
func (u *unmet) askChecks(request string) bool {
	mentions := u.checks.mentions(request)
	for _, m := range mentions {
		if m.category == catCoverage {
			u.coverage(m.check)
			continue
		}
		name, e := m.category, evidence{}
		if m.check != nil {
			name, e = u.name(*m.check), u.known.of(m.check.Check)
		} else if !slices.Contains([]string{catTypecheck, catTest, catBuild, catLint}, name) {
			continue // words about documents or security seldom mean a check
		}
		switch e.state {
		case neverRun:
			u.add(name + outputMissing)
		case failed, failedBefore:
			u.failed(*m.check)
		case stale:
			u.add(name + outputStale)
		}
	}
	return len(mentions) > 0
}

// failed adds the code for a failing check.
func (u *unmet) failed(check checkWords) {
	was := u.known.of(check.Check).was
	if strings.Contains(was, "%") && strings.Contains(was, "need") && check.member(catCoverage) > 0 {
		u.add(coverageLow)
		return
	}
	u.add(u.name(check) + checkFailed)
}

// coverage adds codes for a request about coverage, other than that the check fails. check is nil if no configured
// check reports coverage.
func (u *unmet) coverage(check *checkWords) {
	if check == nil {
		u.add(coverageMissing)
		return
	}
	switch e := u.known.of(check.Check); {
	case !strings.Contains(e.was, "%"):
		u.add(coverageMissing)
	case e.state == stale:
		u.add(u.name(*check) + outputStale)
	case e.state == failedBefore:
		u.failed(*check)
	}
}

// name returns the name of a check in codes: its kind, or its own name if it has none or shares it with another check.
func (u *unmet) name(check checkWords) string {
	own, kind := codeName(check.Name), check.kind()
	if kind == "" {
		return own
	}
	alike := each.Count(u.checks, func(other checkWords) bool { return other.kind() == kind })
	if alike > 1 {
		return own
	}
	return kind
}

// codeName returns a check's name without characters that a script must quote.
func codeName(name string) string { return strings.Join(prose.Words(name), "_") }

// codeRanks are the beginnings of codes in the order of the list. Codes of other checks come before those of files.
var codeRanks = []string{catTypecheck + "_", "test_output", "test_failed", coverageMissing, coverageLow, catBuild + "_",
	catLint + "_", catFormat + "_", catDocs + "_", catSecurity + "_", "", fileMissing, evidenceIncomplete}

// codeRank returns the position of a code in the list.
func codeRank(code string) int {
	other := slices.Index(codeRanks, "")
	for i, begin := range codeRanks {
		if begin != "" && strings.HasPrefix(code, begin) {
			return i
		}
	}
	return other
}

// doneChecks returns what a task's done criteria require one by one.
func doneChecks(plan runplan.Plan) []string {
	if strings.TrimSpace(plan.DoneCriteria) == strings.TrimSpace(plan.Task) || plan.FromReview != "" {
		return nil // not structured: the whole task, or the findings again
	}
	return runner.DoneChecks(plan.DoneCriteria)
}

// asksForEvidence reports whether a request asks to see something instead of to have something changed.
func asksForEvidence(request string) bool {
	r := newRequest(request)
	return r.has(phrases("evidence,proof")) || r.has(phrases("output,log,result")) &&
		r.has(phrases("include,provide,show,attach,paste,report,missing,share,post,supply,run"))
}

var (
	creates    = prose.WordSet(`create add write provide missing`)
	beforePath = prose.WordSet(`a an the new file files called named and missing empty test tests module script page at`)
)

// filesToCreate returns the paths of files that a request asks to create.
func filesToCreate(request string) []string {
	fields := strings.Fields(withoutPlace(request))
	var files []string
	creating := false // a verb of creation was read, and since then only words that may precede a path
	for i, field := range fields {
		bare := barePath(field)
		word := strings.ToLower(strings.Trim(field, ".,;:()`'\"*"))
		switch {
		case isFile(bare) && (creating || saidMissing(fields[i+1:])):
			files = each.Once(files, bare)
		case creates.Has(word):
			creating = true
		case !beforePath.Has(word):
			creating = false
		}
	}
	return files
}

// saidMissing reports whether the words after a path say that it does not exist.
func saidMissing(after []string) bool {
	text := strings.Join(prose.Words(strings.Join(after[:min(len(after), 4)], " ")), " ") + " "
	return slices.ContainsFunc(absences, func(said string) bool { return strings.HasPrefix(text, said+" ") })
}

var absences = []string{"is missing", "does not exist", "doesn t exist", "was not created", "has not been",
	"must exist", "must be created", "should exist"}

func barePath(field string) string {
	return strings.TrimPrefix(strings.TrimRight(strings.Trim(field, "`'\"*()[],;:"), ".!?,;:`'\""), "./")
}

// isFile reports whether s is a path that can be shown and that ends in a file name.
func isFile(s string) bool {
	base := path.Base(s)
	ext := path.Ext(base)
	named := len(ext) > 1 && len(ext) <= 12 && len(prose.Words(ext)) == 1 && strings.Trim(ext[1:], "0123456789") != ""
	return named && safetext.Line(s) == s && !strings.Contains(s, "://") && !strings.ContainsAny(s, "*$<>|(){}=") &&
		!path.IsAbs(s)
}

// withoutPlace removes the place of a finding from a request: "a.go:12: add a check".
func withoutPlace(request string) string {
	place, rest, ok := strings.Cut(request, ": ")
	if ok && !strings.Contains(place, " ") && strings.ContainsAny(place, "./:") {
		return rest
	}
	return request
}
