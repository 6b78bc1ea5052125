package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// handMadeIndex returns a pack index of two objects, the second one beyond 4 GiB.
func handMadeIndex() (index []byte, small, large [20]byte) {
	small, large = [20]byte{0: 0x10, 19: 1}, [20]byte{0: 0x10, 19: 2}
	b := bytes.NewBuffer([]byte{0xff, 't', 'O', 'c', 0, 0, 0, 2})
	for first := range 256 {
		count := uint32(0)
		if first >= 0x10 {
			count = 2
		}
		binary.Write(b, binary.BigEndian, count)
	}
	b.Write(small[:])
	b.Write(large[:])
	b.Write(make([]byte, 2*4)) // checksums
	binary.Write(b, binary.BigEndian, []uint32{12, 1 << 31})
	binary.Write(b, binary.BigEndian, uint64(5<<30))
	b.Write(make([]byte, idxTrailer))
	return b.Bytes(), small, large
}

func TestPackIndexWideOffset(t *testing.T) {
	data, small, large := handMadeIndex()
	idx, err := openPackIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := idx.find(small); got != 12 || err != nil {
		t.Errorf("small: %d, %v", got, err)
	}
	if got, err := idx.find(large); got != 5<<30 || err != nil {
		t.Errorf("large: %d, %v", got, err)
	}
	for _, missing := range [][20]byte{{}, {0: 0x10}, {0: 0x10, 19: 3}, {0: 0x11}, {0: 0xff}} {
		if got, err := idx.find(missing); !errors.Is(err, gitdir.ErrNotFound) {
			t.Errorf("%x: %d, %v", missing, got, err)
		}
	}
}

func TestPackIndexRefusesOthers(t *testing.T) {
	data, _, _ := handMadeIndex()
	version1 := bytes.Clone(data)
	version1[7] = 1
	counts := bytes.Clone(data)
	counts[idxFanout+4*0x20] = 0xff // a smaller count for a later byte
	for name, bad := range map[string][]byte{"version 1": version1, "counts": counts, "empty": nil,
		"cut short": data[:idxNames+20]} {
		if _, err := openPackIndex(bytes.NewReader(bad), int64(len(bad))); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzPackIndex(f *testing.F) {
	data, small, large := handMadeIndex()
	f.Add(data, small[:])
	f.Add(data, large[:])
	f.Fuzz(func(t *testing.T, data, id []byte) {
		idx, err := openPackIndex(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		var hash [20]byte
		copy(hash[:], id)
		if offset, err := idx.find(hash); err == nil && offset < 0 {
			t.Errorf("offset %d", offset)
		}
	})
}
