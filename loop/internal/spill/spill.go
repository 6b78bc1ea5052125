// Package spill holds bytes in parts: in memory while they are few, beyond that in a file of this
// process alone.
package spill

import (
	"fmt"
	"os"
)

const (
	// Count is how many parts there are.
	Count = 256

	heldMost = 64 << 20 // bytes in memory
)

// Parts are bytes that were added to each of Count parts. The zero Parts is empty.
type Parts struct {
	parts []part
	held  int // bytes in memory
	file  *os.File
	end   int64 // of the file
}

type part struct {
	held   []byte
	pieces []piece // those in the file, which come first
}

type piece struct {
	at  int64
	len int
}

// Add adds to a part what add appends.
func (p *Parts) Add(number int, add func([]byte) []byte) {
	if p.parts == nil {
		p.parts = make([]part, Count)
	}
	to := &p.parts[number]
	before := len(to.held)
	to.held = add(to.held)
	if p.held += len(to.held) - before; p.held > heldMost {
		p.Spill()
	}
}

// Spill takes what is held out of memory. Where there is no room for it on disk it stays.
func (p *Parts) Spill() {
	p.held = 0
	if p.file == nil {
		file, err := os.CreateTemp("", "git-runr-*")
		if err != nil {
			return
		}
		_ = os.Remove(file.Name()) // it goes with the process; where that cannot be, at the end
		p.file = file
	}
	for i := range p.parts {
		from := &p.parts[i]
		if _, err := p.file.WriteAt(from.held, p.end); err != nil {
			return
		}
		from.pieces = append(from.pieces, piece{p.end, len(from.held)})
		p.end += int64(len(from.held))
		from.held = from.held[:0]
	}
}

// Empty reports whether nothing was added.
func (p *Parts) Empty() bool { return p.parts == nil }

// Large reports whether they are more than memory should hold.
func (p *Parts) Large() bool { return p.file != nil }

// Read is all of a part, as it was added. Parts may be read side by side.
func (p *Parts) Read(number int) ([]byte, error) {
	if p.parts == nil {
		return nil, nil
	}
	from, data := p.parts[number], []byte{}
	for _, piece := range from.pieces {
		at := len(data)
		data = append(data, make([]byte, piece.len)...)
		if _, err := p.file.ReadAt(data[at:], piece.at); err != nil {
			return nil, fmt.Errorf("read what was put into a file: %w", err)
		}
	}
	return append(data, from.held...), nil
}

// Close drops everything.
func (p *Parts) Close() {
	if p.file != nil {
		p.file.Close()
		_ = os.Remove(p.file.Name())
	}
	*p = Parts{}
}
