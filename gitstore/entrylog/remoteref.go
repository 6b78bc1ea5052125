package entrylog

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// sharedPrefix is where refs are that clones decide something with: they are on the
// remote alone, and each moves only from a value that somebody has seen.
const sharedPrefix = "refs/runr/"

// SwapShared moves a ref of the remote under refs/runr/, which is no log, from old
// ("" where it does not exist) to new ("" deletes it). It is ErrLostRace when the
// ref holds another value, and ErrRemote when the remote cannot be asked.
func (s *Store) SwapShared(ctx context.Context, remote, ref string, new, old odb.ID) error {
	if err := s.checkShared(remote, ref); err != nil {
		return err
	}
	lease := fmt.Sprintf("--force-with-lease=%s:%s", ref, old)
	answers, err := s.push(ctx, remote, []string{string(new) + ":" + ref}, lease)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if a.ref == ref {
			return a.refusal(remote)
		}
	}
	return fmt.Errorf("%w %q says nothing of %s", gitdir.ErrRemote, remote, ref)
}

// ReadShared brings what a ref of the remote names, and gives its id; "" when the
// remote has no such ref.
func (s *Store) ReadShared(ctx context.Context, remote, ref string) (odb.ID, error) {
	if err := s.checkShared(remote, ref); err != nil {
		return "", err
	}
	there, err := s.listRemote(ctx, remote, ref)
	if err != nil {
		return "", err
	}
	staged := stagedShared(remote, ref)
	if there[ref] == "" {
		return "", s.refs.DropRefs(ctx, []string{staged})
	}
	if err := s.fetchRefs(ctx, remote, []string{"+" + ref + ":" + staged}, "--no-prune"); err != nil {
		if there, again := s.listRemote(ctx, remote, ref); again == nil && there[ref] == "" { // somebody gave it back meanwhile
			return "", s.refs.DropRefs(ctx, []string{staged})
		}
		return "", remoteError(remote, err)
	}
	return s.refs.Ref(ctx, staged)
}

// FetchShared brings all refs of the remote below place, such as refs/runr/leases/, as
// ReadShared does each.
func (s *Store) FetchShared(ctx context.Context, remote, place string) error {
	if err := s.checkShared(remote, place+"x"); err != nil {
		return err
	}
	err := s.fetchRefs(ctx, remote, []string{"+" + place + "*:" + stagedShared(remote, place) + "*"}, "--prune")
	if err != nil {
		return remoteError(remote, err)
	}
	return nil
}

// maxFetches bounds the fetches of FetchCommits: a remote refuses a fetch as a whole for one commit that it
// lacks, and anybody can ask for reviews of thousands of such.
const maxFetches = 32

// FetchCommits brings commits of the remote with their history; no ref names them. What the remote does
// not have is left out, and so may be others beside many that it does not have. The error is ErrRemote when the
// remote cannot be reached.
func (s *Store) FetchCommits(ctx context.Context, remote string, commits []odb.ID) error {
	if err := s.checkRemote(remote); err != nil || len(commits) == 0 {
		return err
	}
	left := [][]odb.ID{commits}
	for fetches := 0; len(left) > 0 && fetches < maxFetches; fetches++ {
		some := left[0]
		names := make([]string, len(some))
		for i, commit := range some {
			names[i] = string(commit)
		}
		err := s.fetchRefs(ctx, remote, names, "--no-prune")
		switch left = left[1:]; {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case unconnected(err):
			return remoteError(remote, err)
		case len(some) > 1:
			half := len(some) / 2
			left = append(left, some[:half], some[half:])
		}
	}
	return nil
}

// FetchRevision brings a branch of the remote to its ref below refs/remotes/, or a commit; what is neither, or is not
// there, is left out. A shallow clone gets no history with it. The error is ErrRemote when the remote cannot be reached.
func (s *Store) FetchRevision(ctx context.Context, remote, rev string) error {
	if err := s.checkRemote(remote); err != nil {
		return err
	}
	refspec := rev
	if branch, ok := strings.CutPrefix(rev, remote+"/"); ok && refdb.CheckRefName("refs/remotes/"+rev) == nil {
		refspec = "+refs/heads/" + branch + ":refs/remotes/" + rev
	} else if !s.objects.ValidID(odb.ID(rev)) {
		return nil
	}
	options := []string{"--no-prune"}
	if s.objects.Shallow() {
		options = append(options, "--depth=1")
	}
	err := s.fetchRefs(ctx, remote, []string{refspec}, options...)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if unconnected(err) {
		return remoteError(remote, err)
	}
	return nil
}

// Deepen brings more of the history of a commit into a shallow clone: by generations beyond what is here. It
// reports false where the clone is not shallow.
func (s *Store) Deepen(ctx context.Context, remote string, commit odb.ID, by int) (deeper bool, err error) {
	if err := s.checkRemote(remote); err != nil || !s.objects.Shallow() {
		return false, err
	}
	if err := s.fetchRefs(ctx, remote, []string{string(commit)}, "--no-prune", fmt.Sprintf("--deepen=%d", by)); err != nil {
		return false, remoteError(remote, err)
	}
	return true, nil
}

// LastShared is what ReadShared found last: the id, "" when it never found any.
func (s *Store) LastShared(ctx context.Context, remote, ref string) (odb.ID, error) {
	if err := s.checkShared(remote, ref); err != nil {
		return "", err
	}
	return s.refs.Ref(ctx, stagedShared(remote, ref))
}

func stagedShared(remote, ref string) string {
	return remotesPrefix + remote + "/" + strings.TrimPrefix(ref, sharedPrefix)
}

func (s *Store) checkShared(remote, ref string) error {
	if err := s.checkRemote(remote); err != nil {
		return err
	}
	if !strings.HasPrefix(ref, sharedPrefix) || strings.HasPrefix(ref, logPrefix) {
		return fmt.Errorf("ref %q is not shared in this way", ref)
	}
	return refdb.CheckRefName(ref)
}
