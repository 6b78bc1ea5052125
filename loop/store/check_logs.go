package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// Check reads every record of every log with its attachments, and returns the number of events and what cannot be
// read. It notes missing or damaged records for sync, which requests them. With rebuild it also rebuilds the cache
// and the notes.
func (s *Store) Check(ctx context.Context, rebuild bool) (events int, unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return 0, nil, err
	}
	idx := openIndex(s.indexPath()).afresh()
	defer func() { idx.close() }()
	attached := attachments{}
	b := &build{store: s, idx: idx, groups: groups{count: !rebuild}}
	defer func() { b.groups.Close() }()
	err = s.eachRecord(ctx, idx, tips, func() (func(record.Event), func(gitstore.Entry)) {
		b.groups.Close()
		clear(attached)
		b.groups, b.high = groups{count: !rebuild}, nil
		return b.add, attached.add
	})
	if err != nil {
		return 0, nil, err
	}
	if err := attached.check(ctx, s, idx); err != nil {
		return 0, nil, err
	}
	if err := b.finish(ctx); err != nil {
		return 0, nil, err
	}
	events, unreadable = idx.Events, idx.unreadable()
	if !rebuild {
		return events, unreadable, s.noteDamage(ctx, tips, idx.Damaged)
	}
	idx.Tips = maps.Clone(tips)
	return events, unreadable, errors.Join(idx.save(s), s.project(ctx, true))
}

// Rebuild rebuilds the cache and the notes from the logs.
func (s *Store) Rebuild(ctx context.Context) error {
	_, _, err := s.Check(ctx, true)
	return err
}

// attachments holds, for each log, one record per attachment tree.
type attachments map[string]map[gitstore.ID]gitstore.Entry

func (a attachments) add(entry gitstore.Entry) {
	if a[entry.Writer] == nil {
		a[entry.Writer] = map[gitstore.ID]gitstore.Entry{}
	}
	a[entry.Writer][entry.Tree] = gitstore.Entry{ID: entry.ID, Writer: entry.Writer, Tree: entry.Tree}
}

// check reads the attachments and adds missing or damaged ones to idx. It checks all logs together, and each log by
// itself only if something is wrong.
func (a attachments) check(ctx context.Context, s *Store, idx *index) error {
	var all []gitstore.Entry
	for _, of := range a {
		all = slices.AppendSeq(all, maps.Values(of))
	}
	if damaged, err := s.Repo.CheckAttachments(ctx, all); err != nil || len(damaged) == 0 {
		return err
	}
	for _, writer := range slices.Sorted(maps.Keys(a)) {
		entries := slices.SortedFunc(maps.Values(a[writer]), func(x, y gitstore.Entry) int {
			return strings.Compare(string(x.ID), string(y.ID))
		})
		damaged, err := s.Repo.CheckAttachments(ctx, entries)
		if err != nil {
			return fmt.Errorf("check log of %s: %w", writer, err)
		}
		for _, d := range damaged {
			idx.damage(d)
		}
	}
	return nil
}

// noteDamage saves in the cache the damage that a full check has found.
func (s *Store) noteDamage(ctx context.Context, tips gitstore.Tips, damaged []damagedRecord) error {
	idx, err := s.indexAt(ctx, tips)
	if err != nil {
		return err
	}
	defer idx.close()
	if !slices.Equal(idx.Damaged, damaged) {
		idx.Damaged = damaged
		_ = idx.save(s)
	}
	return nil
}
