package store

import "github.com/git-runr/git-runr/loop/record"

// Glance counts what waits for somebody, according to the cache.
type Glance struct {
	Critical int `json:"critical"` // open critical findings
	Waiting  int `json:"waiting"`  // waiting reviews
}

// Glance counts what waits. It reads no log and writes nothing, and an outdated, damaged or missing cache is not an
// error: shell prompts call it all the time.
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

// criticalMost is how many of the newest reviews with critical findings Critical reads, since a commit waits for it.
const criticalMost = 20

// Critical returns the newest reviews of commits on a branch ("" for a detached HEAD) with open critical findings,
// according to the cache, like Glance.
func (s *Store) Critical(branch string) []record.ReviewSummary {
	idx := s.lastRead()
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
