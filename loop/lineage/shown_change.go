package lineage

import (
	"context"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// staleOtherChanges makes a pass stale where the commit, or the range that ends with it, does not make the change that
// its reviewer saw. A request with the same id, or a move, may name any commit, and anybody who can push writes one. It
// starts no process, except for merges.
func staleOtherChanges(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	by map[gitstore.ID][]cover) error {
	single := each.Where(commits, func(c gitstore.LoggedCommit) bool {
		return slices.ContainsFunc(by[c.ID], func(said cover) bool { return said.claims() && !said.ranged })
	})
	changes, err := changesOf(ctx, s, single)
	if err != nil {
		return err
	}
	own, ranges := map[gitstore.ID]string{}, map[gitstore.Span]string{}
	for i, c := range single {
		own[c.ID] = changes[i]
	}
	for id, said := range by {
		var other []int
		for i, c := range said {
			if _, known := ranges[c.span]; c.claims() && c.ranged && !known {
				if ranges[c.span], err = changeOfRange(ctx, s, c); err != nil {
					return err
				}
			}
			makes := own[id]
			if c.ranged {
				makes = ranges[c.span]
			}
			if c.claims() && makes != c.change && !c.namedInShallow(s.Repo, id, makes) {
				other = append(other, i)
			}
		}
		joined, err := joins(ctx, s, id, each.Of(other, func(i int) cover { return said[i] }), maxJoins)
		if err != nil {
			return err
		}
		for _, i := range other {
			said[i] = said[i].ofOtherChange(id, joined)
		}
	}
	return nil
}

// claims reports whether c passes, and says which change its reviewer saw.
func (c cover) claims() bool {
	return c.change != "" && !c.Refused && (c.State == CoverReviewed || c.State == CoverCarried)
}

// namedInShallow reports whether a pass counts because its reviewer named the commit: the clone is shallow and lacks
// what the commit, or the range that makes no change known here, is compared with.
func (c cover) namedInShallow(repo *gitstore.Repo, commit gitstore.ID, makes string) bool {
	if c.saw != c.span.To {
		return false
	}
	cut := repo.CutOff()
	return slices.Contains(cut, commit) || c.ranged && makes == "" && len(cut) > 0
}

// carriedFrom returns the commit from which c's change was carried to a commit, or "".
func (c cover) carriedFrom(commit gitstore.ID) gitstore.ID {
	for _, m := range c.moves {
		if m.To == commit && m.State == record.MoveCarried {
			return m.From
		}
	}
	return ""
}

// ofOtherChange returns c for a commit that makes another change than its reviewer saw: joined is what was said of the
// commits that were joined to it, nil if it was not made so.
func (c cover) ofOtherChange(commit gitstore.ID, joined *joint) cover {
	if joined != nil && c.carriedFrom(commit) != "" {
		c.Level, c.approvers = lower(c.Level, joined.level), shared(c.approvers, joined.approvers)
		c.NotCompared = joined.notCompared
		return c
	}
	if c.From = c.origin.To; c.From == commit || c.ranged {
		c.From = ""
	}
	c.State, c.Level, c.Passed, c.change, c.ranged = CoverStale, "", false, "", false
	return c
}

// changeOfRange names the change of a range, as gitstore.ChangeIDs does. It is "" if the range begins neither at the
// empty tree nor at a commit in the history of its end.
func changeOfRange(ctx context.Context, s *store.Store, c cover) (string, error) {
	names, err := s.Repo.ChangeIDs(ctx, []gitstore.Span{c.span, {To: c.span.From}})
	if err != nil || c.span.From == "" || names[1] == gitstore.NoChange {
		return names[0], err
	}
	for _, id := range slices.Backward(c.row) {
		commit, err := s.Repo.ReadCommit(ctx, id)
		if err != nil {
			return "", ctx.Err()
		}
		if slices.Contains(commit.Parents, c.span.From) {
			return names[0], nil
		}
	}
	return "", nil
}

// joint is what was said of all commits that were joined to one: the lowest level of them, and who approved each.
type joint struct {
	level       Level
	approvers   []record.Speaker
	notCompared bool // some of the commits are not in this clone
}

// maxJoins is how many steps of a squash in steps are followed.
const maxJoins = 50

// joins returns what was said of the commits, or ranges, that a commit was joined from: those that the covers said were
// carried from. It returns nil if they are not successive, if the commit makes another change than they do together, or
// if one of them makes another than its reviewer saw and was not joined itself. One change alone was not joined with
// anything. What is not in this clone any more cannot be compared: it counts as checked at most. steps limits the steps
// that are followed.
func joins(ctx context.Context, s *store.Store, commit gitstore.ID, said []cover, steps int) (*joint, error) {
	var from []gitstore.ID
	parts, seen := map[gitstore.ID][]cover{}, map[string]bool{}
	for _, c := range said {
		if id := c.carriedFrom(commit); id != "" {
			from, parts[id], seen[c.change] = each.Once(from, id), append(parts[id], c), true
		}
	}
	if steps == 0 || len(seen) < 2 {
		return nil, nil
	}
	changes, here, err := changesOfParts(ctx, s, commit, parts)
	if err != nil || here && changes == nil {
		return nil, err
	}
	var all *joint
	for _, id := range from {
		direct := each.Where(parts[id], func(c cover) bool { return !here || c.change == changes[id] })
		part := together(direct)
		if len(direct) == 0 {
			if part, err = joins(ctx, s, id, parts[id], steps-1); err != nil || part == nil {
				return nil, err
			}
		}
		if all == nil {
			all = part
		}
		all = &joint{lower(all.level, part.level), shared(all.approvers, part.approvers), all.notCompared || part.notCompared}
	}
	if !here && all != nil {
		all = &joint{lower(all.level, LevelChecked), nil, true}
	}
	return all, nil
}

// changesOfParts names the change of each part that a commit was joined from, by the last commit of the part. It
// returns nil if the parts are not successive, or do not make the commit's change together. here is false if this clone
// lacks one of them.
func changesOfParts(ctx context.Context, s *store.Store, commit gitstore.ID,
	parts map[gitstore.ID][]cover) (changes map[gitstore.ID]string, here bool, err error) {
	joined, err := s.Repo.ReadCommit(ctx, commit)
	if err != nil || len(joined.Parents) != 1 {
		return nil, true, ctx.Err()
	}
	after := map[gitstore.ID]gitstore.Span{} // the parts by the commit after which they begin
	for id, said := range parts {
		part, err := s.Repo.ReadCommit(ctx, id)
		if err != nil {
			return nil, false, ctx.Err()
		}
		span := gitstore.Span{To: id}
		if len(part.Parents) == 1 {
			span.From = part.Parents[0]
		}
		if ranged, ok := each.First(said, func(c cover) bool { return c.ranged && c.origin.To == id }); ok {
			span = ranged.origin
		}
		after[span.From] = span
	}
	first := slices.DeleteFunc(slices.Collect(maps.Keys(after)), func(id gitstore.ID) bool { return len(parts[id]) > 0 })
	if len(first) != 1 || len(after) < len(parts) {
		return nil, true, nil
	}
	spans := []gitstore.Span{{From: joined.Parents[0], To: commit}, {From: first[0]}}
	for next, ok := after[first[0]]; ok && len(spans) < 2+len(parts); next, ok = after[next.To] {
		spans = append(spans, next)
		spans[1].To = next.To
	}
	names, err := s.Repo.ChangeIDs(ctx, spans)
	if err != nil || len(spans) < 2+len(parts) || names[0] == "" || names[0] != names[1] {
		return nil, true, err
	}
	changes = map[gitstore.ID]string{}
	for i, span := range spans[2:] {
		changes[span.To] = names[2+i]
	}
	return changes, true, nil
}

// together returns what several covers say of one commit: the highest level, and everybody who approved it.
func together(said []cover) *joint {
	all := joint{}
	for _, c := range said {
		if slices.Index(Levels, c.Level) > slices.Index(Levels, all.level) {
			all.level = c.Level
		}
		all.approvers = append(all.approvers, c.approvers...)
	}
	return &all
}

// lower returns the lower one of two levels.
func lower(a, b Level) Level {
	if slices.Index(Levels, a) < slices.Index(Levels, b) {
		return a
	}
	return b
}

// shared returns those of people who are among others too.
func shared(people, others []record.Speaker) []record.Speaker {
	return each.Where(people, func(by record.Speaker) bool {
		return slices.ContainsFunc(others, func(other record.Speaker) bool { return record.SameActor(by.By, other.By) })
	})
}
