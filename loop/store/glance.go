package store

import (
	"github.com/git-runr/git-runr/loop/record"
)

// Glance is what waits for somebody, by the cache as it is.
type Glance struct {
	Critical int `json:"critical"` // findings that nobody answered
	Waiting  int `json:"waiting"`  // reviews
}

// Glance counts what waits. No log is read, nothing is written, and a cache that is behind,
// damaged or missing is no error: for a shell's prompt, which is asked for all the time.
func (s *Store) Glance() Glance {
	idx := s.cached()
	defer idx.close()
	var g Glance
	_ = idx.scan([]byte{shelfWaiting}, func(r *row) error {
		g.Critical += r.critical
		g.Waiting++
		return nil
	})
	return g
}

// criticalMost is how many of the newest reviews with something critical are looked into:
// a commit waits for it.
const criticalMost = 20

// Critical are the newest reviews of commits on a branch ("" for a detached HEAD) that found
// something critical which nobody answered: by the cache, as Glance.
func (s *Store) Critical(branch string) []record.ReviewSummary {
	idx := s.cached()
	defer idx.close()
	var found []record.ReviewSummary
	looked := 0
	_ = idx.scan([]byte{shelfWaiting}, func(r *row) error {
		if r.need != record.NeedCritical {
			return nil
		}
		if looked++; looked > criticalMost {
			return errEnough
		}
		if line, err := loadLine[record.ReviewSummary](r); err == nil && line.Branch == branch {
			found = append(found, line)
		}
		return nil
	})
	return found
}
