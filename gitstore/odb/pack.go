package odb

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// maxDeltas is the longest chain of deltas that is read; git itself makes none over 4,095.
const maxDeltas = 4096

func (p *packFile) open() (err error) {
	if p.index != nil {
		return nil
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.idx, err = safefile.Open(p.path + ".idx"); err != nil {
		return err
	}
	if p.pack, err = safefile.Open(p.path + ".pack"); err != nil {
		return err
	}
	idxInfo, err := p.idx.Stat()
	if err != nil {
		return err
	}
	packInfo, err := p.pack.Stat()
	if err != nil {
		return err
	}
	p.scanner = packfile.NewScanner(io.NewSectionReader(p.pack, 0, packInfo.Size()))
	p.index, err = openPackIndex(p.idx, idxInfo.Size())
	return err
}

func (p *packFile) close() {
	if p.idx != nil {
		p.idx.Close()
	}
	if p.pack != nil {
		p.pack.Close()
	}
	p.idx, p.pack, p.index = nil, nil, nil
}

// readPacked reads an object from the packs of one directory. If a copy is damaged, it tries the
// other packs.
func (d *objectDir) readPacked(id ID, limit int64) (kind string, data []byte, err error) {
	p, offset, err := d.findPacked(id)
	if err != nil {
		return "", nil, err
	}
	if kind, data, err = p.readAt(id, offset, limit); err == nil {
		return kind, data, nil
	}
	defer d.closePacks(maxOpenPacks)
	if d.listingChanged() {
		_ = d.listPacks() // on failure the known packs are used
	}
	hash, _ := hashOf(id) // findPacked has parsed it already
	for _, other := range d.packs {
		if other == p {
			continue
		}
		offset, findErr := other.find(hash)
		if findErr != nil {
			continue
		}
		if kind, data, readErr := other.readAt(id, offset, limit); readErr == nil {
			return kind, data, nil
		}
	}
	return "", nil, err
}

// readAt reads the object at an offset and checks it against its id.
func (p *packFile) readAt(id ID, offset, limit int64) (kind string, data []byte, err error) {
	typ, data, err := p.read(offset, limit)
	if errors.Is(err, gitdir.ErrTooLarge) {
		return "", nil, err
	}
	if err != nil {
		return "", nil, fmt.Errorf("%w: pack %s: %w", gitdir.ErrCorrupt, p.path, err)
	}
	if plumbing.ComputeHash(typ, data).String() != string(id) {
		return "", nil, fmt.Errorf("%w: pack %s: content does not match its id", gitdir.ErrCorrupt, p.path)
	}
	return typ.String(), data, nil
}

// read inflates the object at an offset and applies its deltas, innermost first.
// Neither the object nor any base may be larger than limit. It caches the bases, because the
// next object is often a delta of the same ones.
func (p *packFile) read(offset, limit int64) (plumbing.ObjectType, []byte, error) {
	var deltas []packDelta
	budget := 2 * max(limit, MaxObject) // for the deltas together
	for {
		if base, ok := p.bases.get(baseKey{pack: p, offset: offset}); ok && int64(len(base.data)) <= limit {
			return p.applyDeltas(base, deltas)
		}
		header, body, err := readPackEntry(p.scanner, offset, limit)
		if err != nil {
			return 0, nil, err
		}
		if !header.Type.IsDelta() {
			base := packBase{kind: header.Type, data: body}
			p.bases.put(baseKey{pack: p, offset: offset}, base)
			return p.applyDeltas(base, deltas)
		}
		budget -= int64(len(body))
		if budget < 0 || deltaResultSize(body) > uint64(limit) {
			return 0, nil, gitdir.ErrTooLarge
		}
		if deltas = append(deltas, packDelta{offset, body}); len(deltas) > maxDeltas {
			return 0, nil, errors.New("chain of deltas too long")
		}
		if offset, err = p.deltaBase(header); err != nil {
			return 0, nil, err
		}
	}
}

// packDelta is a delta and its own offset in the pack.
type packDelta struct {
	offset int64
	delta  []byte
}

func readPackEntry(s *packfile.Scanner, offset, limit int64) (*packfile.ObjectHeader, []byte, error) {
	header, err := s.SeekObjectHeader(offset)
	if err != nil {
		return nil, nil, err
	}
	if header.Length < 0 || header.Length > limit {
		return nil, nil, gitdir.ErrTooLarge
	}
	var body bytes.Buffer
	body.Grow(int(min(header.Length, 1<<20)))
	n, _, err := s.NextObject(&body)
	if err != nil {
		return nil, nil, err
	}
	if n != header.Length {
		return nil, nil, fmt.Errorf("%d bytes of %d", n, header.Length)
	}
	return header, body.Bytes(), nil
}

// deltaBase returns the offset of the object to which a delta applies.
func (p *packFile) deltaBase(header *packfile.ObjectHeader) (int64, error) {
	if header.Type == plumbing.OFSDeltaObject {
		return header.OffsetReference, nil
	}
	offset, err := p.index.find(header.Reference)
	if err != nil {
		return 0, fmt.Errorf("base of a delta: %s", err)
	}
	return offset, nil
}

// applyDeltas applies deltas to base, the last first. The caller may change the result.
func (p *packFile) applyDeltas(base packBase, deltas []packDelta) (_ plumbing.ObjectType, _ []byte, err error) {
	for _, d := range slices.Backward(deltas) {
		if base.data, err = packfile.PatchDelta(base.data, d.delta); err != nil {
			return 0, nil, err
		}
		p.bases.put(baseKey{pack: p, offset: d.offset}, base)
	}
	if len(base.data) <= maxBase { // it may be in the cache
		base.data = bytes.Clone(base.data)
	}
	return base.kind, base.data, nil
}

// deltaResultSize returns the size of the object that a delta produces: the second
// of the two numbers at the start of the delta.
func deltaResultSize(delta []byte) uint64 {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return math.MaxUint64
	}
	size, n := binary.Uvarint(delta[n:])
	if n <= 0 {
		return math.MaxUint64
	}
	return size
}

// hashOf returns the bytes of a SHA-1 id, or ErrNotFound.
func hashOf(id ID) (hash [idxHash]byte, err error) {
	if len(id) != 2*idxHash {
		return hash, gitdir.ErrNotFound
	}
	_, err = hex.Decode(hash[:], []byte(id))
	return hash, err
}

// findPacked finds an object in the packs of one directory, including packs that
// appeared since the last listing. It returns ErrNotFound if no pack has it.
func (d *objectDir) findPacked(id ID) (*packFile, int64, error) {
	hash, err := hashOf(id)
	if err != nil {
		return nil, 0, gitdir.ErrNotFound
	}
	p, offset, err := d.findListed(hash)
	if err == nil || !d.listingChanged() {
		return p, offset, err
	}
	if err := d.listPacks(); err != nil {
		return nil, 0, err
	}
	return d.findListed(hash)
}

// find opens the pack and returns the offset of an object in it, or ErrNotFound.
func (p *packFile) find(hash [idxHash]byte) (int64, error) {
	if err := p.open(); err != nil {
		return 0, err
	}
	return p.index.find(hash)
}

// findListed finds an object in the listed packs. It moves that pack to the front, because the next
// object is likely to be in it too.
func (d *objectDir) findListed(hash [idxHash]byte) (*packFile, int64, error) {
	result := gitdir.ErrNotFound
	for i, p := range d.packs {
		offset, err := p.find(hash)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gc has replaced the pack
			d.stale = true
		case errors.Is(err, gitdir.ErrNotFound):
		case err != nil:
			result = err
		default:
			copy(d.packs[1:i+1], d.packs[:i])
			d.packs[0] = p
			d.closePacks(maxOpenPacks)
			return p, offset, nil
		}
	}
	d.closePacks(maxOpenPacks)
	return nil, 0, result
}

// closePacks closes all open packs except the first keep ones.
func (d *objectDir) closePacks(keep int) {
	for _, p := range d.packs {
		if p.index == nil {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		p.close()
	}
}

// listPacks lists the pack directory again. Open packs that still exist stay open.
func (d *objectDir) listPacks() error {
	dir := filepath.Join(d.path, "pack")
	d.listed, d.stamp, d.stale = time.Now(), modTime(dir), false
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	known := map[string]*packFile{}
	for _, p := range d.packs {
		known[p.path] = p
	}
	d.packs = nil
	for _, entry := range names {
		name, ok := strings.CutSuffix(entry.Name(), ".idx")
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		p := known[path]
		if p == nil {
			p = &packFile{path: path, bases: d.bases}
		}
		delete(known, path)
		d.packs = append(d.packs, p)
	}
	for _, gone := range known {
		gone.close()
	}
	return nil
}
