package odb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Layout of a version 2 pack index: magic and version, 256 cumulative counts by
// first byte, then one table each of ids, checksums and offsets. An offset with its
// top bit set is an index into a further table of 64-bit offsets.
const (
	idxFanout    = 8
	idxNames     = idxFanout + 256*4
	idxHash      = 20
	idxTrailer   = 2 * idxHash
	idxEntry     = idxHash + 4 + 4
	idxWideFlag  = 1 << 31
	idxMagicSize = 8
	idxBlock     = 128 // the number of ids read at once
)

var errBadIndex = fmt.Errorf("%w: pack index not of version 2, or cut short", gitdir.ErrCorrupt)

// packIndex finds objects in a pack without loading its index: the index of a pack of a
// million objects has 28 MB. It is not safe for concurrent use.
type packIndex struct {
	r      io.ReaderAt
	fanout [256]uint32
	wide   int64 // number of 64-bit offsets
	block  [idxBlock * idxHash]byte
}

// openPackIndex reads the first KiB of an index and checks it against size, the
// length of the file in bytes.
func openPackIndex(r io.ReaderAt, size int64) (*packIndex, error) {
	var head [idxNames]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("pack index: %w", err)
	}
	if !bytes.Equal(head[:idxMagicSize], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) {
		return nil, errBadIndex
	}
	idx := &packIndex{r: r}
	last := uint32(0)
	for i := range idx.fanout {
		count := binary.BigEndian.Uint32(head[idxFanout+4*i:])
		if count < last {
			return nil, errBadIndex
		}
		idx.fanout[i], last = count, count
	}
	rest := size - idxNames - int64(last)*idxEntry - idxTrailer
	if rest < 0 {
		return nil, errBadIndex
	}
	idx.wide = rest / 8
	return idx, nil
}

func (x *packIndex) count() int64 { return int64(x.fanout[255]) }

// find returns the offset of an object in the pack, or ErrNotFound if the pack does
// not have it.
func (x *packIndex) find(hash [idxHash]byte) (int64, error) {
	low, high := int64(0), int64(x.fanout[hash[0]])
	if hash[0] > 0 {
		low = int64(x.fanout[hash[0]-1])
	}
	block := &x.block
	for high-low > idxBlock {
		mid := (low + high) / 2
		if _, err := x.r.ReadAt(block[:idxHash], idxNames+mid*idxHash); err != nil {
			return 0, fmt.Errorf("pack index: %w", err)
		}
		if bytes.Compare(hash[:], block[:idxHash]) < 0 {
			high = mid
		} else {
			low = mid
		}
	}
	names := block[:(high-low)*idxHash]
	if _, err := x.r.ReadAt(names, idxNames+low*idxHash); err != nil {
		return 0, fmt.Errorf("pack index: %w", err)
	}
	n, found := sort.Find(len(names)/idxHash, func(i int) int {
		return bytes.Compare(hash[:], names[i*idxHash:][:idxHash])
	})
	if !found {
		return 0, gitdir.ErrNotFound
	}
	return x.offset(low + int64(n))
}

// offset returns the pack offset of the object at a position in the sorted table.
func (x *packIndex) offset(position int64) (int64, error) {
	table := idxNames + x.count()*(idxHash+4)
	var buf [8]byte
	if _, err := x.r.ReadAt(buf[:4], table+position*4); err != nil {
		return 0, fmt.Errorf("pack index: %w", err)
	}
	short := binary.BigEndian.Uint32(buf[:])
	if short&idxWideFlag == 0 {
		return int64(short), nil
	}
	place := int64(short &^ idxWideFlag)
	if place >= x.wide {
		return 0, errBadIndex
	}
	if _, err := x.r.ReadAt(buf[:], table+x.count()*4+place*8); err != nil {
		return 0, fmt.Errorf("pack index: %w", err)
	}
	long := binary.BigEndian.Uint64(buf[:])
	if long > 1<<62 {
		return 0, errBadIndex
	}
	return int64(long), nil
}
