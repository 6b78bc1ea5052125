package gitstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Sharing goes in three steps. A fetch brings the remote's logs to a staging place
// of its own, so that nothing that it brings can overwrite what is here. AdoptLogs
// looks at them and takes them over, forward only. A push names its refs one by one.
// Nothing is pruned, nothing is added to the user's refspecs, and refs/runr-local/
// never leaves the clone (reference: reliability facts 2.1).

const (
	remotesPrefix  = "refs/runr-remotes/"
	divergedPrefix = "refs/runr-local/diverged/"
)

// stagedPrefix is where the logs of a remote are staged.
func stagedPrefix(remote string) string { return remotesPrefix + remote + "/log/" }

// Remotes lists the names of the configured remotes, sorted.
func (r *Repo) Remotes() []string {
	var names []string
	for key := range r.Config {
		name, isRemote := strings.CutPrefix(key, "remote.")
		name, isURL := strings.CutSuffix(name, ".url")
		if isRemote && isURL && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ElectRemote chooses the remote to share with: name if it is given, else
// runr.remote, else origin, else the only one. It is ErrNotFound, with the names that
// there are, when that is none. A URL is not taken: only what the user configured.
func (r *Repo) ElectRemote(name string) (string, error) {
	have := r.Remotes()
	if name == "" {
		name = r.Config.Get("runr.remote")
	}
	switch {
	case name != "":
	case slices.Contains(have, "origin"):
		name = "origin"
	case len(have) == 1:
		name = have[0]
	case len(have) == 0:
		return "", fmt.Errorf("no remote is configured: %w", ErrNotFound)
	default:
		return "", fmt.Errorf("which remote: runr.remote is not set, and there are %s: %w", strings.Join(have, ", "), ErrNotFound)
	}
	return name, r.checkRemote(name)
}

// checkRemote refuses what is not the name of a configured remote.
func (r *Repo) checkRemote(name string) error {
	have := r.Remotes()
	if slices.Contains(have, name) && !strings.HasPrefix(name, "-") && checkRefName(stagedPrefix(name)+"x") == nil {
		return nil
	}
	if len(have) == 0 {
		return fmt.Errorf("remote %q: no remote is configured: %w", name, ErrNotFound)
	}
	return fmt.Errorf("remote %q: there are %s: %w", name, strings.Join(have, ", "), ErrNotFound)
}

// FetchLogs brings the remote's logs to refs/runr-remotes/. What is here already
// stays, also when the remote has it no more. Objects are checked as they come.
func (r *Repo) FetchLogs(ctx context.Context, remote string) error {
	if err := r.checkRemote(remote); err != nil {
		return err
	}
	_, err := r.transport(ctx, remote, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune",
		"--no-recurse-submodules", "--no-auto-maintenance", "--no-show-forced-updates", "--refmap=",
		"--end-of-options", remote, "+"+logPrefix+"*:"+stagedPrefix(remote)+"*")
	if err != nil {
		return remoteError(remote, err)
	}
	return nil
}
