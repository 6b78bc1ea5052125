package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// WithoutMachine replaces what identifies this machine in text, because text is recorded for
// others: the working directory dir, PATH, the home and temporary directories of env, the
// names of user and host. Paths below dir become relative to it.
func WithoutMachine(text, dir string, env []string) string {
	temp := cmp.Or(lastValue(env, "TMPDIR"), os.TempDir())
	home := lastValue(env, "HOME")
	if path := lastValue(env, "PATH"); len(path) > 1 {
		text = strings.ReplaceAll(text, path, "<PATH>")
	}
	for _, name := range bothNames(dir) {
		text = withoutDir(text, name, "", ".")
	}
	for _, name := range bothNames(temp) {
		text = withoutDir(text, name, "<tmp>/", "<tmp>")
	}
	for _, name := range bothNames(home) {
		text = withoutDir(text, name, "~/", "~")
	}
	host, _ := os.Hostname()
	for mark, name := range map[string]string{"<user>": filepath.Base(home), "<host>": host} {
		if len(name) > 2 && !slices.Contains(sharedNames, strings.ToLower(name)) {
			text = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(text, mark)
		}
	}
	return text
}

// sharedNames are names of users and hosts that identify no machine, and words that checks
// often print.
var sharedNames = []string{"root", "user", "home", "test", "tests", "runner", "build", "builder", "admin", "nobody",
	"node", "localhost", "app", "work", "src"}

// bothNames returns dir and its real path if that differs; none for "" and the root.
func bothNames(dir string) []string {
	if len(filepath.Clean(dir)) < 2 {
		return nil
	}
	return namesOf(filepath.Clean(dir))
}

// withoutDir replaces dir and a separator by below, and dir alone by whole.
func withoutDir(text, dir, below, whole string) string {
	text = strings.ReplaceAll(text, dir+string(filepath.Separator), below)
	return regexp.MustCompile(regexp.QuoteMeta(dir)+`($|[^\w.-])`).ReplaceAllString(text, whole+"$1")
}
