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

// manifest is the part of an index that is read in one go.
type manifest struct {
	Tips    gitstore.Tips    `json:"tips"`
	Clock   uint64           `json:"clock"`             // the highest believed clock of any log
	Late    map[string]int64 `json:"late,omitempty"`    // Late of each writer's newest event that has one
	Ahead   []eventRef       `json:"ahead,omitempty"`   // events whose clocks are not believed yet
	Damaged []damagedRecord  `json:"damaged,omitempty"` // records missing or damaged here
	Bad     []string         `json:"bad,omitempty"`     // why records are unreadable
	Newest  map[string]begun `json:"newest,omitempty"`  // of each kind, what began last
	// Branches maps the branches that reviews were requested on to the clock at which the newest review began.
	Branches map[string]uint64 `json:"branches,omitempty"`
	Events   int               `json:"events"`   // the number of events
	Segments []string          `json:"segments"` // file names, newest first
	read     uint32            // checksum of the file; 0 without a file
}

// begun is the run or review that began at a clock; ID is "" if the rows have to be searched.
type begun struct {
	ID    string `json:"id"`
	Clock uint64 `json:"clock"`
}

// begins records that r began. Late events may make its beginning earlier than it was.
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

// branchesMost is how many branches the index keeps: those with the newest reviews.
const branchesMost = 100

// asks records that a review of a branch began at a clock. The resulting set of branches does not depend on the
// order of the calls.
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

// newestBranches returns the branches, that of the newest review first.
func (m *manifest) newestBranches() []string {
	return slices.SortedFunc(maps.Keys(m.Branches), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Branches[b], m.Branches[a]), strings.Compare(a, b))
	})
}

// readManifest reads the manifest. For a missing or damaged file it returns an empty one, since all can be read again
// from the logs.
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

// badMost is how many unreadable records a saved index lists.
const badMost = 200

func (m manifest) encode() ([]byte, error) {
	if n := len(m.Bad); n > badMost {
		m.Bad = append(m.Bad[:badMost:badMost],
			fmt.Sprintf("and at least %d records more: git runr fsck names them", n-badMost))
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body)), body...), nil
}
