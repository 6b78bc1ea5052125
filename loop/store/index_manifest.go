package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// manifest is what is read of an index at once.
type manifest struct {
	Tips    gitstore.Tips    `json:"tips"`
	Clock   uint64           `json:"clock"`             // the highest that is believed of any log
	Late    map[string]int64 `json:"late,omitempty"`    // of the newest event of a writer that has one
	Ahead   []eventRef       `json:"ahead,omitempty"`   // events whose clocks are not believed yet
	Damaged []damagedRecord  `json:"damaged,omitempty"` // records that are missing or damaged here
	Bad     []string         `json:"bad,omitempty"`     // why records were read that say nothing
	Newest  map[string]begun `json:"newest,omitempty"`  // of each kind what began last
	// Branches that reviews were asked for on, with the clock at which the newest of each began.
	Branches map[string]uint64 `json:"branches,omitempty"`
	Events   int               `json:"events"`   // that were taken in: those that Store.Events gives
	Segments []string          `json:"segments"` // names of files, the newest first
	read     uint32            // checksum of the file, 0 without one
}

// begun is what began at a clock: one run or review, or "", when the rows have to be asked.
type begun struct {
	ID    string `json:"id"`
	Clock uint64 `json:"clock"`
}

// begins takes in that r began, which may have become earlier than it was.
func (m *manifest) begins(r *row) {
	kind := string(r.kind)
	newest, known := m.Newest[kind]
	switch {
	case !r.begun():
		return
	case !known || r.seq > newest.Clock:
		newest = begun{r.id, r.seq}
	case newest.ID == r.id && r.seq < newest.Clock, newest.ID != r.id && r.seq == newest.Clock:
		newest.ID = ""
	}
	if m.Newest == nil {
		m.Newest = map[string]begun{}
	}
	m.Newest[kind] = newest
}

// branchesMost is how many branches the index knows: those of the newest reviews.
const branchesMost = 100

// asks takes in that a review of a branch began at a clock. In whatever order it hears of reviews, it
// comes to the same branches.
func (m *manifest) asks(branch string, clock uint64) {
	if branch == "" || clock <= m.Branches[branch] {
		return
	}
	if m.Branches == nil {
		m.Branches = map[string]uint64{}
	}
	m.Branches[branch] = clock
	if len(m.Branches) > branchesMost {
		delete(m.Branches, m.newestBranches()[branchesMost])
	}
}

// newestBranches are the branches, that of the newest review first.
func (m *manifest) newestBranches() []string {
	return slices.SortedFunc(maps.Keys(m.Branches), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Branches[b], m.Branches[a]), strings.Compare(a, b))
	})
}

// readManifest reads what is in the file. A missing or damaged one is that of an empty index,
// for everything can be read again.
func readManifest(path string) manifest {
	data, err := safefile.ReadFile(path)
	if err != nil {
		return manifest{Tips: gitstore.Tips{}}
	}
	m, err := decodeManifest(data)
	if err != nil {
		m = manifest{Tips: gitstore.Tips{}}
	}
	m.read = crc32.ChecksumIEEE(data)
	return m
}

func decodeManifest(data []byte) (m manifest, err error) {
	body, ok := bytes.CutPrefix(data, []byte(indexMagic))
	if !ok || len(body) < 4 || crc32.ChecksumIEEE(body[4:]) != binary.BigEndian.Uint32(body) {
		return m, errIndex
	}
	if err := json.Unmarshal(body[4:], &m); err != nil {
		return m, fmt.Errorf("%w: %w", errIndex, err)
	}
	return m, nil
}

// badMost is how many records that say nothing are named by an index that was saved.
const badMost = 200

func (m manifest) encode() ([]byte, error) {
	if n := len(m.Bad); n > badMost {
		m.Bad = append(m.Bad[:badMost:badMost], fmt.Sprintf("and at least %d records more: git runr fsck names them", n-badMost))
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body)), body...), nil
}
