package entrylog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// Sharing has three steps. A fetch mirrors the remote's logs in a staging place, so that
// nothing fetched can overwrite the logs here. AdoptLogs checks the staged logs and moves
// the logs here forward to them. A push names its refs one by one. Only the staging place is
// pruned, nothing is added to the user's refspecs, and refs/runr-local/ never leaves the
// clone.

const (
	remotesPrefix  = "refs/runr-remotes/"
	divergedPrefix = "refs/runr-local/diverged/"
)

// stagedPrefix returns the prefix of the refs where the logs of a remote are staged.
func stagedPrefix(remote string) string { return remotesPrefix + remote + "/log/" }

// stagedNotes returns the ref where the notes of a remote are staged.
func stagedNotes(remote string) string { return remotesPrefix + remote + "/notes" }

// ElectRemote returns the remote to share with: name if it is given, else sync.remote, else origin, else the only
// remote. It returns ErrNotFound, with the configured names, if there is no such remote. It does not accept a URL.
func (s *Store) ElectRemote(name string) (string, error) {
	have := s.dir.Remotes()
	if set := s.elects.Load(); set != nil {
		name = cmp.Or(name, *set)
	}
	switch name = cmp.Or(name, s.dir.Config.Get("runr.remote"), s.dir.Config.Get("runr.sync.remote")); {
	case name != "":
	case slices.Contains(have, "origin"):
		name = "origin"
	case len(have) == 1:
		name = have[0]
	case len(have) == 0:
		return "", noRemote("no remote is configured to share with", "git remote add origin URL")
	default:
		return "", noRemote("which remote to share with: runr.remote is not set, and there are "+strings.Join(have, ", "),
			"git config runr.remote "+plainName(have[0]))
	}
	return name, s.checkRemote(name)
}

// checkRemote returns an error unless name is a configured remote.
func (s *Store) checkRemote(name string) error {
	have := s.dir.Remotes()
	if slices.Contains(have, name) && !strings.HasPrefix(name, "-") && refdb.CheckRefName(stagedPrefix(name)+"x") == nil {
		return nil
	}
	named := func(key string) bool { return strings.HasPrefix(key, "remote."+name+".") }
	switch {
	case !slices.Contains(have, name) && slices.ContainsFunc(slices.Collect(maps.Keys(s.dir.Config)), named):
		return noRemote(fmt.Sprintf("remote %q has no URL", name), "git remote set-url "+plainName(name)+" URL")
	case len(have) == 0:
		return noRemote(fmt.Sprintf("there is no remote %q, and no other", name), "git remote add "+plainName(name)+" URL")
	}
	are := "are"
	if len(have) == 1 {
		are = "is"
	}
	return noRemote(fmt.Sprintf("there is no remote %q: there %s %s", name, are, strings.Join(have, ", ")),
		"git remote add "+plainName(name)+" URL")
}

// plainName returns name if it needs no quoting on a command line, else "NAME".
func plainName(name string) string {
	if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_./-") != "" ||
		strings.HasPrefix(name, "-") {
		return "NAME"
	}
	return name
}

// noRemote returns an ErrNotFound that says what to type.
func noRemote(what, try string) error {
	return odb.NewMissing(what, try, gitdir.ErrNotFound, nil)
}

// brokenRef returns a ref of git-runr whose object cannot be read, or "". git fetches nothing while there is one.
func (s *Store) brokenRef(ctx context.Context) string {
	refs, _ := s.refs.Refs(ctx, sharedPrefix, remotesPrefix) // if they cannot be read, git's own error is shown
	for ref, id := range refs {
		if s.checkReadable(ctx, id) != nil {
			return ref
		}
	}
	return ""
}

// wantedRefs returns the refspecs of a fetch.
func wantedRefs(remote, notes string) []string {
	specs := []string{
		"+" + logPrefix + "*:" + stagedPrefix(remote) + "*",
		"+" + archivesPrefix + "*:" + stagedArchives(remote) + "*",
	}
	if notes != "" {
		specs = append(specs, "+"+notes+"*:"+stagedNotes(remote)+"*")
	}
	return specs
}

// fetchRefs fetches refspecs and nothing else. It passes them on standard input, because a command line may be too
// short.
func (s *Store) fetchRefs(ctx context.Context, remote string, refspecs []string, options ...string) error {
	args := append([]string{"fetch", "--quiet", "--no-tags", "--no-prune-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", "--no-auto-maintenance", "--no-show-forced-updates", "--refmap=", "--stdin"}, options...)
	_, err := s.transport(ctx, remote, strings.Join(refspecs, "\n")+"\n", append(args, "--end-of-options", remote)...)
	return err
}

// Rejection is a log that was not accepted, and why.
type Rejection struct{ Writer, Reason string }
