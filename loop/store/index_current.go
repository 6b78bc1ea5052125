package store

import (
	"context"
	"errors"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
)

// save writes the changes of the index, under a lock, unless somebody has written another index meanwhile. What cannot
// be written stays in memory, since it is only a cache.
func (idx *index) save(s *Store) error {
	unlock, ok, err := s.Repo.TryLock("index")
	if err != nil || !ok {
		return err
	}
	defer unlock()
	old := readManifest(s.indexPath())
	if old.read != idx.read {
		return nil
	}
	if err := idx.stack.Settle(); err != nil {
		return err
	}
	idx.Segments = idx.stack.Names()
	data, err := idx.encode()
	if err != nil {
		return err
	}
	if err := safefile.WriteFile(s.indexPath(), data, 0o666); err != nil {
		return err
	}
	idx.read = crc32.ChecksumIEEE(data)
	idx.info, _ = os.Stat(s.indexPath())
	idx.unsaved = 0
	idx.stack.Keep()
	idx.stack.Sweep(old.Segments)
	return nil
}

// retryIndex runs read, and once more without the cache if the cache was damaged.
func (s *Store) retryIndex(read func() error) error {
	err := read()
	if errors.Is(err, errIndex) {
		if idx := s.kept.Swap(nil); idx != nil {
			idx.stack.Close()
		}
		_ = os.Remove(s.indexPath()) // if that fails, the next try reports it
		err = read()
	}
	return err
}

// withIndex calls read with the index of the present logs, and once more without the cache if the cache was damaged.
func (s *Store) withIndex(ctx context.Context, read func(*index) error) error {
	return s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		return read(idx)
	})
}

// cached returns the index as saved.
func (s *Store) cached() *index {
	idx := openIndex(s.indexPath())
	if s.Reads != nil {
		idx.stack.Count(&s.Reads.Reads)
	}
	return idx
}

// takeKept returns the index that was read last, which may have earlier tips. It returns nil if that index is in use,
// or its file has changed.
func (s *Store) takeKept() *index {
	idx := s.kept.Swap(nil)
	if idx == nil {
		return nil
	}
	if info, err := os.Stat(s.indexPath()); err == nil && sameFile(info, idx.info) {
		return idx
	}
	idx.stack.Close()
	return nil
}

// lastRead returns the index that was read last, else the saved one.
func (s *Store) lastRead() *index {
	if idx := s.takeKept(); idx != nil {
		return idx
	}
	return s.cached()
}

// known returns the manifest of the index that was read last, else the saved one.
func (s *Store) known() manifest {
	if idx := s.takeKept(); idx != nil {
		defer idx.close()
		return idx.manifest
	}
	return readManifest(s.indexPath())
}

// sameFile reports whether a file was neither replaced nor changed between two looks.
func sameFile(a, b os.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func (s *Store) indexPath() string { return filepath.Join(s.Repo.StateDir(), "cache", indexName) }

// index updates the cache from the present logs and returns it.
func (s *Store) index(ctx context.Context) (*index, error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, err
	}
	idx, err := s.indexAt(ctx, tips)
	if err == nil {
		s.tellDamage(idx.Damaged)
	}
	return idx, err
}

// Together begins a group of several events: the index is saved only once, when the returned function is called. It is
// not saved for a single event: the next command reads that event in less time.
func (s *Store) Together() (end func()) {
	s.steps.Add(1)
	return func() {
		if s.steps.Add(-1) > 0 {
			return
		}
		if idx := s.kept.Swap(nil); idx != nil {
			if idx.unsaved > 1 {
				_ = idx.save(s)
			}
			idx.close()
		}
	}
}

func (s *Store) indexAt(ctx context.Context, tips gitstore.Tips) (*index, error) {
	idx := s.takeKept()
	if idx == nil {
		idx = s.cached()
		idx.store = s
	}
	if len(idx.Damaged) > 0 && s.Repo.AnyReadable(ctx, damagedIDs(idx.Damaged)) {
		idx = idx.afresh() // a missing record is back, and belongs in the middle
	}
	if maps.Equal(idx.Tips, tips) {
		return idx, nil
	}
	before := idx.manifest.Events
	err := s.readOn(ctx, idx, tips)
	if errors.Is(err, errAfresh) || errors.Is(err, errIndex) {
		idx, before = idx.afresh(), 0
		err = s.readOn(ctx, idx, tips)
	}
	if err != nil {
		idx.stack.Close()
		return nil, err
	}
	if idx.unsaved += max(idx.manifest.Events-before, 1); s.steps.Load() == 0 {
		_ = idx.save(s) // only a cache: reading must work in a read-only repository
	}
	return idx, nil
}

// readOn adds to idx what the logs have beyond it.
func (s *Store) readOn(ctx context.Context, idx *index, tips gitstore.Tips) error {
	b := &build{store: s, idx: idx}
	defer func() { b.groups.Close() }()
	err := s.eachNew(ctx, idx, tips, func() func(record.Event) {
		b.groups.Close()
		b.groups, b.high = groups{}, nil
		return b.add
	})
	if err != nil {
		return err
	}
	ahead, _, err := s.readRefs(ctx, idx.Ahead)
	if err != nil {
		return err
	}
	b.high = append(b.high, ahead...)
	if err := b.finish(ctx); err != nil {
		return err
	}
	idx.Tips = maps.Clone(tips)
	return nil
}
