package builtin

import (
	"fmt"
	"path"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/reply"
)

// Maximum sizes of files, in bytes.
const (
	maxText   = 1 << 20
	maxBinary = 500 << 10
)

// wholeFile judges a file by its name, kind and size. The rules apply to new files; an older
// one is reported for values in an .env file, or if it grew too large.
func wholeFile(f File, k kind) []reply.Finding {
	if f.Deleted || f.Submodule() || f.Symlink() {
		return nil
	}
	return append(unwanted(f, k), tooLarge(f)...)
}

func fileFinding(f File, severity reply.Severity, rule, issue, fix string) []reply.Finding {
	return []reply.Finding{{Severity: severity, File: f.Path, Issue: issue, Fix: fix, Rule: rule}}
}

// unwanted finds new files that are usually committed by mistake.
func unwanted(f File, k kind) []reply.Finding {
	base := path.Base(f.Path)
	severity := k.warning()
	switch {
	case isEnvFile(base) && anyLine(f.Added, envValue()):
		if !f.New {
			severity = reply.Note
		}
		return fileFinding(f, severity, "env-file", "an environment file with values is committed",
			"commit a template without values (.env.example) and ignore "+base)
	case !f.New:
		return nil
	case isA(base, "leftover"), mergetoolFile().MatchString(base):
		return fileFinding(f, severity, "leftover-file", "a file that a merge or an editor left behind",
			"remove it from the commit")
	case isArtefact(base, f.Binary):
		return fileFinding(f, severity, "build-artefact", "a file that a build or the system makes",
			"remove it from the commit and ignore "+artefactPattern(base))
	case f.Binary && !isA(base, "asset") && f.Size <= maxBlob:
		return fileFinding(f, reply.Note, "binary-file", "a binary file that cannot be reviewed is added", "")
	}
	return nil
}

func tooLarge(f File) []reply.Finding {
	limit, what := int64(maxText), "text"
	if f.Binary {
		limit, what = maxBinary, "binary"
	}
	if f.Size > maxBlob { // git shows no lines of it, whatever it is
		what = "single"
	}
	grew := f.New || (f.OldSize >= 0 && f.OldSize <= limit)
	if !grew || f.Size <= limit {
		return nil
	}
	return fileFinding(f, reply.Warning, "large-file", fmt.Sprintf("a %s file of %s", what, prose.Bytes(f.Size)),
		"keep it outside the repository, or in large file storage")
}

func isEnvFile(p string) bool { return isA(p, "environment") && !isA(p, "environment template") }

var envValue = lazy(`^\s*(?:export\s+)?\w+\s*=\s*["']?[^\s"'#$]`)

// mergetoolFile matches the files that git mergetool leaves: x_BASE_123.c, x.REMOTE.123.c.
var mergetoolFile = lazy(`[._](?:BACKUP|BASE|LOCAL|REMOTE)[._]\d+(?:\.\w+)?$`)

func isArtefact(base string, binary bool) bool {
	return isA(base, "litter") || binary && isA(base, "binary artefact") && !isA(base, "binary of a project")
}

// artefactPattern returns the pattern for an ignore file.
func artefactPattern(base string) string {
	if ext := path.Ext(base); len(ext) > 1 && ext != base {
		return "*" + ext
	}
	return base
}
