package builtin

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/syntax"
)

// executableBit finds a script that lost its executable bit and a text that gained one.
func executableBit(f File) []reply.Finding {
	if f.Deleted || f.Binary || f.Mode == f.OldMode {
		return nil
	}
	script := strings.HasSuffix(f.Path, ".sh")
	for _, lines := range [][]Line{f.Added, f.Context} {
		script = script || len(lines) > 0 && lines[0].Number == 1 && strings.HasPrefix(lines[0].Text, "#!")
	}
	switch {
	case f.OldMode == "100755" && f.Mode == "100644" && script:
		return fileFinding(f, reply.Note, "executable-bit", "the script is not executable any more",
			safetext.ShellLine("git", "update-index", "--chmod=+x", f.Path))
	case f.Mode == "100755" && !script && isA(f.Path, "text"):
		return fileFinding(f, reply.Note, "executable-bit", "the file is executable",
			safetext.ShellLine("git", "update-index", "--chmod=-x", f.Path))
	}
	return nil
}

// manifest describes a file of dependencies and the lock files beside it: see rules.toml.
type manifest struct {
	Locks      []string
	Dependency string // matches a dependency; the groups are its name and version
	pattern    func() *regexp.Regexp
}

var manifests = sync.OnceValue(func() map[string]manifest {
	all := table().Manifests
	for name, m := range all {
		m.pattern = lazy(m.Dependency)
		all[name] = m
	}
	return all
})

// notLocked are keys of a package.json that only look like dependencies.
var notLocked = []string{"version", "node", "npm", "yarn", "pnpm", "vscode"}

// locksBeside returns the possible lock files beside the manifests among paths.
func locksBeside(paths []string) (locks []string) {
	for _, p := range paths {
		for _, lock := range manifests()[path.Base(p)].Locks {
			locks = append(locks, path.Join(path.Dir(p), lock))
		}
	}
	return locks
}

// lockFiles finds a dependency that a manifest gained while the lock file beside it did not change.
// A lock file that changes alone is fine: that is how versions are raised.
func lockFiles(in Input) []reply.Finding {
	changed := each.SetOf(in.Files, func(f File) string { return f.Path })
	var found []reply.Finding
	for _, f := range in.Files {
		m := manifests()[path.Base(f.Path)]
		at := m.gained(f)
		if at == 0 || f.New || isA(f.Path, "vendored") || kindOf(f).fixture {
			continue
		}
		for _, name := range m.Locks {
			lock := path.Join(path.Dir(f.Path), name)
			if _, there := in.Sizes[lock]; there && !changed[lock] {
				found = append(found, reply.Finding{Severity: reply.Warning, File: f.Path, Line: at, Rule: "lock-file",
					Issue: "a dependency changes, and " + name + " does not", Fix: "update the lock file and commit it as well"})
			}
		}
	}
	return found
}

// gained returns the line of the manifest's first new dependency; 0 for none.
func (m manifest) gained(f File) int {
	if m.pattern == nil {
		return 0
	}
	read := func(l Line) string {
		match := m.pattern().FindStringSubmatch(l.Text)
		if match == nil || slices.Contains(notLocked, match[1]) {
			return ""
		}
		return match[1] + " " + strings.TrimSpace(match[2])
	}
	before := map[string]bool{"": true}
	for _, l := range f.Removed {
		before[read(l)] = true
	}
	for _, l := range f.Added {
		if !before[read(l)] {
			return l.Number
		}
	}
	return 0
}

var wholeText = lazy(`^\s*(?:["'][^"']*["']\s*)?\)`)

// gradeText accepts a call without an argument or with one constant text, and the definition of a function of that
// name.
func gradeText(m lineMatch) reply.Severity {
	before := strings.TrimSpace(m.line().code[:m.start+1])
	if wholeText().MatchString(m.rest) || strings.HasSuffix(before, "def") || strings.HasSuffix(before, "function") {
		return ""
	}
	return reply.Warning
}

// gradeSQL accepts lines with a comment, which explain, and other languages of queries.
func gradeSQL(m lineMatch) reply.Severity {
	noCode, explained := strings.TrimSpace(m.line().code) == "", strings.TrimSpace(m.line().comment) != ""
	if m.lang.ID == "sql" || m.lang.ID == "shell" || noCode || explained {
		return ""
	}
	return reply.Warning
}

var (
	testDeclared = lazy(`^\s*(?:func (Test\w+)\(|(?:async )?def (test_\w+)\(|(?:it|test)\(\s*["'` + "`" + `](.+?)["'` +
		"`" + `]\s*,)`)
	codeDeclared = lazy(
		`^\s*(?:export |default |pub(?:\([a-z]+\))? |async |static |public |private |protected )*(?:func|def|class|fn|function|type|struct|enum|trait|interface|const|var|let)\b|\bfunction\b|=>`)
)

// deletedTests finds a test that is deleted while no test is added, and while the code changes
// without removing anything that the test could have covered.
func deletedTests(files []File) []reply.Finding {
	var found []reply.Finding
	code := false
	for _, f := range files {
		k := kindOf(f)
		if k.exempt || k.docs || syntax.Reviewed(f.Path) == nil {
			continue
		}
		if !k.fixture {
			code = true
			if f.Deleted || anyLine(f.Removed, codeDeclared()) {
				return nil
			}
			continue
		}
		if anyLine(f.Added, testDeclared()) {
			return nil
		}
		found = append(found, deletedIn(f)...)
	}
	if !code {
		return nil
	}
	return found
}

// deletedIn returns a note on the tests that a file loses; none if it loses none.
func deletedIn(f File) []reply.Finding {
	names := []string{}
	for _, l := range f.Removed {
		if m := testDeclared().FindStringSubmatch(l.Text); m != nil {
			names = append(names, oneLine(m[1]+m[2]+m[3], 100))
		}
	}
	if len(names) == 0 {
		return nil
	}
	issue := prose.Count(len(names), "test") + " deleted: " + prose.Names(names)
	return fileFinding(f, reply.Note, "deleted-test", issue, "keep it, or say why it goes")
}

func anyLine(lines []Line, pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(lines, func(l Line) bool { return pattern.MatchString(l.Text) })
}
