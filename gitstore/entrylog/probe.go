package entrylog

import (
	"context"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Probe asks a remote for the logs that it has, and whether it would take this writer's, by a
// push of tip that git does not carry out. read is why the one cannot be done, push why the other.
func (s *Store) Probe(ctx context.Context, remote string, tip odb.ID) (logs int, read, push error) {
	there, err := s.listRemote(ctx, remote, logPrefix+"*")
	if err != nil || tip == "" {
		return 0, err, nil
	}
	writer := s.WriterFor(s.AudienceOf(remote))
	ref := logPrefix + writer
	if _, taken := there[ref]; taken || writer == "" {
		ref = logPrefix + "probe" // whatever that log is at: nothing is pushed
	}
	answers, err := s.push(ctx, remote, []string{string(tip) + ":" + ref}, "--dry-run")
	for _, answer := range answers {
		if err == nil {
			err = answer.refusal(remote)
		}
	}
	return len(there), nil, err
}
