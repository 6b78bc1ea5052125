package record

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"git-runr/gitstore"
)

// groups are events by the runs and reviews that they are of, in parts of which each holds all
// that there is of some runs and reviews. What is too much for memory goes to a file.
type groups struct {
	parts []part
	clock uint64 // the highest
	taken int    // how many events there are
	count bool   // they are counted only
	held  int    // bytes in memory
	file  *os.File
	at    int64 // the end of it
}

// part is events as appendEvent writes them, each behind its run or review.
type part struct {
	held   []byte
	pieces []piece // those in the file
}

type piece struct {
	at  int64
	len int
}

const (
	groupsMost = 64 << 20 // bytes that are held in memory
	groupParts = 256
)

func (g *groups) add(e Event) {
	g.clock = max(g.clock, e.Clock)
	if g.taken++; g.count {
		return
	}
	for _, of := range []entity{{kindReview, e.Review}, {kindRun, e.Run}} {
		if of.id != "" {
			g.put(partOf(of), of, e)
		}
	}
}

// put adds an event to a part.
func (g *groups) put(number int, of entity, e Event) {
	if g.parts == nil {
		g.parts = make([]part, groupParts)
	}
	p := &g.parts[number]
	before := len(p.held)
	p.held = appendEvent(appendText(append(p.held, byte(of.kind)), of.id), e)
	if g.held += len(p.held) - before; g.held > groupsMost {
		g.writeOut()
	}
}

func partOf(of entity) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, of.id)
	return int(h.Sum32() % groupParts)
}

// writeOut takes what is held out of memory. Where there is no room for it on disk it stays.
func (g *groups) writeOut() {
	g.held = 0
	if g.file == nil {
		file, err := os.CreateTemp("", "git-runr-*")
		if err != nil {
			return
		}
		_ = os.Remove(file.Name()) // it goes with the process; where that cannot be, at the end
		g.file = file
	}
	for i := range g.parts {
		p := &g.parts[i]
		if _, err := g.file.WriteAt(p.held, g.at); err != nil {
			return
		}
		p.pieces = append(p.pieces, piece{g.at, len(p.held)})
		g.at += int64(len(p.held))
		p.held = p.held[:0]
	}
}

func (g *groups) empty() bool { return g.parts == nil }

// large reports whether they are more than memory should hold.
func (g *groups) large() bool { return g.file != nil }

// visit visits each run and review of a part. Parts may be visited side by side.
func (g *groups) visit(number int, visit func(entity, []Event) error) error {
	if g.parts == nil {
		return nil
	}
	p, data := g.parts[number], []byte{}
	for _, piece := range p.pieces {
		at := len(data)
		data = append(data, make([]byte, piece.len)...)
		if _, err := g.file.ReadAt(data[at:], piece.at); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
	}
	data = append(data, p.held...)
	events := map[entity][]Event{}
	for r := (&eventReader{data: data, text: string(data)}); r.at < len(data); {
		kind := entityKind(data[r.at])
		r.at++
		of := entity{kind, r.next()}
		events[of] = append(events[of], r.event())
	}
	for of, list := range events {
		if err := visit(of, list); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) close() {
	if g.file != nil {
		g.file.Close()
		_ = os.Remove(g.file.Name())
	}
	g.file, g.parts = nil, nil
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendEvent writes an event for an eventReader of this process.
func appendEvent(b []byte, e Event) []byte {
	var buf [16]byte
	at, _ := e.Timestamp.AppendBinary(buf[:0]) // whose zone has been read from text
	plain := uint64(0)
	if e.plain {
		plain = 1
	}
	for _, n := range []uint64{uint64(e.V), e.Clock, uint64(e.late), plain} {
		b = binary.AppendUvarint(b, n)
	}
	for _, text := range []string{e.Writer, e.Type, e.Source, e.Run, e.Review, string(e.ID), e.Actor, e.Title} {
		b = appendText(b, text)
	}
	return appendText(appendText(b, at), e.Payload)
}

// eventReader reads what appendEvent has written; text is the same as data.
type eventReader struct {
	data []byte
	text string
	at   int
}

func (r *eventReader) number() uint64 {
	n, size := binary.Uvarint(r.data[r.at:])
	r.at += size
	return n
}

func (r *eventReader) next() string {
	n := int(r.number())
	r.at += n
	return r.text[r.at-n : r.at]
}

func (r *eventReader) event() (e Event) {
	e.V, e.Clock, e.late, e.plain = int(r.number()), r.number(), int64(r.number()), r.number() == 1
	e.Writer, e.Type, e.Source, e.Run, e.Review, e.ID, e.Actor, e.Title = r.next(), r.next(), r.next(), r.next(), r.next(), gitstore.ID(r.next()), r.next(), r.next()
	_ = e.Timestamp.UnmarshalBinary([]byte(r.next()))
	n := int(r.number())
	e.Payload = r.data[r.at:][:n:n]
	r.at += n
	return e
}
