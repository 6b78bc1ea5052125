package checkup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// audiences says who sees what is recorded, and names git's settings that would send it to others, and patterns of
// private branches that keep nothing private. idle reports that no hooks can be installed.
func audiences(ctx context.Context, store *store.Store, conf *config.Config, idle bool) []Result {
	problems := patterns(ctx, store, conf.Sync.Private)
	gate := conf.Hooks.PrePush != "off" && !idle
	for _, remote := range store.Repo.Remotes() {
		leaks, err := leaksTo(ctx, store.Repo, remote)
		if err != nil {
			return []Result{warn("audiences", err.Error())}
		}
		if leaks.Detail == "" {
			continue
		}
		if gate {
			leaks.Detail += "; if the pre-push hook is installed, it refuses the private ones"
		}
		problems = append(problems, leaks)
	}
	kept, err := store.Repo.Refs(ctx, "refs/runr-local/private/")
	const pushes = "git push --mirror would push the private records of this clone"
	switch {
	case err != nil || len(kept) == 0 || gate:
	case idle:
		remote, _ := store.Repo.ElectRemote(conf.Sync.Remote)
		line := safetext.ShellLine(append([]string{"git"}, gitstore.PushOthers(cmp.Or(remote, "REMOTE"))...)...)
		problems = append(problems, warn("audiences", pushes+"; to push all other refs:", line))
	default:
		problems = append(problems, warn("audiences", pushes+": only the pre-push hook refuses it, also under warn",
			"git config runr.hooks.prePush warn", "git runr hooks install"))
	}
	return append([]Result{ok("audiences", seenBy(store.Repo, conf.Sync.Private))}, problems...)
}

// notAccepted names the logs of remotes that this clone did not take over at the last sync.
func notAccepted(ctx context.Context, store *store.Store) (all []Result) {
	for _, remote := range store.Repo.Remotes() {
		left, err := share.Left(ctx, store, remote)
		if err != nil {
			return append(all, warn("logs", err.Error()))
		}
		for _, log := range left[:min(len(left), logsShown)] {
			all = append(all, warn("logs", fmt.Sprintf("not accepted from %s at %s: %s", log.Writer, remote, log.Reason)))
		}
		if more := len(left) - logsShown; more > 0 {
			all = append(all, warn("logs", fmt.Sprintf("%d more are not accepted from %s", more, remote), "git runr fsck"))
		}
	}
	return all
}

// logsShown is the maximum number of logs of one remote that notAccepted names.
const logsShown = 5

// seenBy lists who sees what this clone records.
func seenBy(repo *gitstore.Repo, private []string) string {
	parts := []string{"shared with nobody: no remote"}
	if home := repo.RemoteOf(gitstore.Audience{}); home != "" {
		parts[0] = "shared at " + home
	}
	for _, writer := range repo.Own() {
		if remote := repo.Audience(writer).Remote; remote != "" {
			parts = append(parts, "what was asked of "+remote+" only there")
		}
	}
	only := "--private"
	if len(private) > 0 {
		only += " and branches " + strings.Join(private, ", ")
	}
	return strings.Join(append(parts, "private: "+only), "; ")
}

// patterns names the patterns of private branches that match nothing: everything on their branches is shared.
func patterns(ctx context.Context, records *store.Store, private []string) (problems []Result) {
	if len(private) == 0 {
		return nil
	}
	branches, err := records.ReviewBranches(ctx)
	refs, failed := records.Repo.Refs(ctx, "refs/heads/", "refs/remotes/")
	if err != nil || failed != nil {
		return []Result{warn("sync.private", "the branches cannot be listed", "git runr fsck")}
	}
	for ref := range refs {
		branches = append(branches, store.BranchOf(ref))
	}
	for _, pattern := range private {
		globs := gitstore.CompileGlobs([]string{pattern})
		look := safetext.ShellLine("git", "branch", "--all")
		switch {
		case len(globs) == 0:
			problems = append(problems, fail("sync.private", fmt.Sprintf("%q is malformed: it keeps nothing private", pattern),
				"git runr help config"))
		case !slices.ContainsFunc(branches, globs.Match):
			problems = append(problems, warn("sync.private", fmt.Sprintf("%q matches no branch: it keeps nothing private yet",
				pattern), look))
		}
	}
	return problems
}

// leaksTo returns what a plain git push to remote would send there although it is for others, or a Result without
// Detail.
func leaksTo(ctx context.Context, repo *gitstore.Repo, remote string) (Result, error) {
	key := "remote." + remote + "."
	if repo.Config.Bool(key + "mirror") {
		unset := safetext.ShellLine("git", "config", "--unset-all", key+"mirror")
		return warn("remote "+remote, key+"mirror is set: git push "+remote+" pushes every ref, private records too", unset),
			nil
	}
	specs := repo.Config[key+"push"]
	if len(specs) == 0 {
		return Result{}, nil
	}
	refs, err := repo.Refs(ctx, "refs/runr/log/", "refs/notes/runr")
	if err != nil {
		return Result{}, err
	}
	var wrong []string // patterns of refs that are not for remote
	for _, prefix := range gitstore.PrivateRefs() {
		if pushes(specs, prefix) {
			wrong = append(wrong, prefix+"*")
		}
	}
	for ref := range refs {
		writer, log := strings.CutPrefix(ref, "refs/runr/log/")
		audience := gitstore.Audience{} // of the notes
		if log {
			audience = repo.Audience(writer)
		}
		if audience != repo.AudienceOf(remote) && pushes(specs, ref) {
			wrong = append(wrong, ref)
		}
	}
	if len(wrong) == 0 {
		return Result{}, nil
	}
	slices.Sort(wrong)
	result := warn("remote "+remote, key+"push pushes what is not for it: "+strings.Join(wrong, ", "))
	for _, ref := range wrong {
		exclude := safetext.ShellLine("git", "config", "--add", key+"push", "^"+ref)
		result.Type = append(result.Type, exclude)
	}
	return result, nil
}

// pushes reports whether refspecs of a push include ref, or, if ref ends with a slash, something below it.
func pushes(specs []string, ref string) bool {
	pushed := false
	for _, spec := range specs {
		if excluded, not := strings.CutPrefix(spec, "^"); not && includes(excluded, ref, true) {
			return false
		}
		pushed = pushed || includes(strings.TrimPrefix(spec, "+"), ref, false)
	}
	return pushed
}

// includes reports whether the source of a refspec names ref; of a ref that ends with a slash, all or something below.
func includes(spec, ref string, all bool) bool {
	from, _, _ := strings.Cut(spec, ":")
	before, after, pattern := strings.Cut(from, "*")
	switch whole := pattern && after == "" && strings.HasPrefix(ref, before); {
	case strings.HasSuffix(ref, "/"):
		return whole || !all && strings.HasPrefix(before, ref)
	case pattern:
		return whole || len(ref) >= len(before)+len(after) && strings.HasPrefix(ref, before) && strings.HasSuffix(ref, after)
	}
	return from == ref
}
