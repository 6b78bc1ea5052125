package reviewing

import (
	"context"
	"path"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Files that nobody writes by hand, unless the project's attributes say otherwise.
var (
	generatedFiles = gitstore.LazyGlobs(
		"**/*.lock", "**/package-lock.json", "**/npm-shrinkwrap.json", "**/pnpm-lock.yaml", "**/go.sum",
		"**/*.min.js", "**/*.min.css", "**/*.snap", "**/bun.lockb",
	)
	vendoredFiles = gitstore.LazyGlobs("**/vendor/**", "**/node_modules/**", "**/bower_components/**",
		"**/Godeps/_workspace/**")
)

// The attributes with which a project marks generated and vendored files.
const (
	attrGenerated = "linguist-generated"
	attrVendored  = "linguist-vendored"
)

// generated returns, by path, why files of a change are left out: they are generated or vendored. It reads the
// attributes from before the change, which must not be able to hide its own files. The files that configure this, for
// this program or for git, are never left out.
func generated(ctx context.Context, s *store.Store, from gitstore.ID,
	files []gitstore.FileStat) (map[string]string, error) {
	paths := each.Of(files, func(f gitstore.FileStat) string { return f.Path })
	attributes, err := s.Repo.Attributes(ctx, from, paths, attrGenerated, attrVendored)
	if err != nil {
		return nil, err
	}
	left := map[string]string{}
	for _, p := range paths {
		if name := path.Base(p); name == ".gitattributes" || name == ".runr.toml" {
			continue
		}
		switch {
		case is(attributes[p][attrGenerated], generatedFiles().Match(p)):
			left[p] = record.LeftGenerated
		case is(attributes[p][attrVendored], vendoredFiles().Match(p)):
			left[p] = record.LeftVendored
		}
	}
	return left, nil
}

// is reads an attribute; other is the result if it is not set.
func is(value string, other bool) bool {
	switch strings.ToLower(value) {
	case "":
		return other
	case "unset", "false":
		return false
	}
	return true
}

// without splits patch into the files that are not in left, and those that are.
func without(patch []byte, left map[string]string) (kept, rest []byte, err error) {
	if len(left) == 0 {
		return patch, nil, nil
	}
	kept = make([]byte, 0, len(patch))
	for f, err := range unidiff.Files(string(patch)) {
		switch {
		case err != nil:
			return nil, nil, err
		case left[f.Path()] == "":
			kept = append(kept, f.Text...)
		default:
			rest = append(rest, f.Text...)
		}
	}
	return kept, rest, nil
}
