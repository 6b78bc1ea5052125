package entrylog

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// sharedPrefix is the prefix of the refs by which clones coordinate. They exist on the remote only, and each moves by
// compare-and-swap.
const sharedPrefix = "refs/runr/"

// SwapShared moves a ref of the remote under refs/runr/ that is not a log from old ("" if it does not exist) to new
// ("" deletes it). It returns ErrLostRace if the ref has another value, and ErrRemote if the remote cannot be reached.
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

// ReadShared fetches a ref of the remote and returns its id, or "" if the remote has no such ref.
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
		if there, again := s.listRemote(ctx, remote, ref); again == nil && there[ref] == "" { // it was deleted meanwhile
			return "", s.refs.DropRefs(ctx, []string{staged})
		}
		return "", remoteError(remote, err)
	}
	return s.refs.Ref(ctx, staged)
}

// FetchShared fetches all refs of the remote below place, such as refs/runr/leases/, as ReadShared does one.
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

// maxFetches bounds the fetches of FetchCommits: a remote refuses a whole fetch for one commit that it does not have,
// and anybody can request reviews of thousands of such commits.
const maxFetches = 32

// FetchCommits fetches commits with their history; no ref names them. It leaves out commits that the remote does not
// have; if they are many, it may leave out others too. It returns ErrRemote if the remote cannot be reached.
func (s *Store) FetchCommits(ctx context.Context, remote string, commits []odb.ID) error {
	if err := s.checkRemote(remote); err != nil || len(commits) == 0 {
		return err
	}
	left := [][]odb.ID{commits}
	for fetches := 0; len(left) > 0 && fetches < maxFetches; fetches++ {
		some := left[0]
		names := each.Of(some, func(commit odb.ID) string { return string(commit) })
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

// FetchRevision fetches a branch of the remote to its ref below refs/remotes/, or a commit. It ignores a rev that is
// neither, or that the remote does not have. A shallow clone gets no history. It returns ErrRemote if the remote
// cannot be reached.
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

// Deepen fetches by more generations of the history of a commit into a shallow clone. It returns false if the clone is
// not shallow.
func (s *Store) Deepen(ctx context.Context, remote string, commit odb.ID, by int) (deeper bool, err error) {
	if err := s.checkRemote(remote); err != nil || !s.objects.Shallow() {
		return false, err
	}
	if err := s.fetchRefs(ctx, remote, []string{string(commit)}, "--no-prune",
		fmt.Sprintf("--deepen=%d", by)); err != nil {
		return false, remoteError(remote, err)
	}
	return true, nil
}

// LastShared returns the id that ReadShared found last, or "" if it never found one.
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
