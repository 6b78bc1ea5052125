package gitstore

import (
	"slices"
	"strings"
)

// PrivateRefs returns the prefixes of the refs that must not leave this clone. Git has no setting that excludes refs
// from push --mirror, and outside of refs/ git gc would remove what they name.
func PrivateRefs() []string { return []string{"refs/runr-local/", "refs/runr-remotes/"} }

// IsPrivateRef reports whether a ref must not leave this clone.
func IsPrivateRef(ref string) bool {
	return slices.ContainsFunc(PrivateRefs(), func(prefix string) bool { return strings.HasPrefix(ref, prefix) })
}

// PushOthers returns the arguments of git push that push all refs but the private ones, as push --mirror does.
func PushOthers(remote string) []string {
	args := []string{"push", "--prune", remote, "+refs/*:refs/*"}
	for _, prefix := range PrivateRefs() {
		args = append(args, "^"+prefix+"*")
	}
	return args
}
