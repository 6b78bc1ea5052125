package entrylog

import (
	"context"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// Probe asks a remote for its logs and returns their number, and tests by a dry run of a push of tip whether it
// accepts this writer's log. read and push are the errors of the two tests.
func (s *Store) Probe(ctx context.Context, remote string, tip odb.ID) (logs int, read, push error) {
	there, err := s.listRemote(ctx, remote, logPrefix+"*")
	if err != nil || tip == "" {
		return 0, err, nil
	}
	writer := s.WriterFor(s.AudienceOf(remote))
	ref := logPrefix + writer
	if _, taken := there[ref]; taken || writer == "" {
		ref = logPrefix + "probe" // any name serves, because nothing is pushed
	}
	answers, err := s.push(ctx, remote, []string{string(tip) + ":" + ref}, "--dry-run")
	if err != nil {
		return len(there), nil, err
	}
	for _, answer := range answers {
		if err := answer.refusal(remote); err != nil {
			return len(there), nil, err
		}
	}
	return len(there), nil, nil
}
