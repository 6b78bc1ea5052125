package record

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"slices"
	"time"

	"git-runr/gitstore"
)

// groups are events by the runs and reviews that they are of. Where they are many they are
// written to a file, in parts of which each holds all that there is of some runs and reviews.
type groups struct {
	events map[entity][]Event
	clock  uint64 // the highest
	taken  int    // how many events there are
	size   int    // of events in bytes, about
	spill  *spill // nil while they are few
	count  bool   // they are counted only
}

const (
	groupsMost = 64 << 20 // bytes of events that are held in memory
	eventSize  = 700      // bytes of an event beside its payload, about
	spillParts = 256
)

func (g *groups) add(e Event) {
	if g.events == nil {
		g.events = map[entity][]Event{}
	}
	g.clock = max(g.clock, e.Clock)
	if g.taken++; g.count {
		return
	}
	for _, of := range []entity{{kindReview, e.Review}, {kindRun, e.Run}} {
		if of.id != "" {
			g.events[of] = append(g.events[of], e)
			g.size += len(e.Payload) + eventSize
		}
	}
	if g.size > groupsMost {
		g.writeOut()
	}
}

// writeOut takes the events that are held out of memory. Where there is no room for them on
// disk they stay.
func (g *groups) writeOut() {
	if g.spill == nil {
		file, err := os.CreateTemp("", "git-runr-*")
		if err != nil {
			g.size = 0
			return
		}
		_ = os.Remove(file.Name()) // it goes with the process; where that cannot be, at the end
		g.spill = &spill{file: file}
	}
	if g.spill.write(g.events) == nil {
		clear(g.events)
	}
	g.size = 0
}

func (g *groups) empty() bool { return len(g.events) == 0 && g.spill == nil }

// parts are the numbers of the parts that there are.
func (g *groups) parts() iter.Seq[int] {
	n := 1
	if g.spill != nil {
		n = spillParts
		g.writeOut()
	}
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// visit visits each run and review of a part. Parts may be visited side by side.
func (g *groups) visit(part int, visit func(entity, []Event) error) error {
	events := g.events
	if g.spill != nil {
		var err error
		if events, err = g.spill.read(part); err != nil {
			return err
		}
		for of, held := range g.events { // there was no room for them
			if partOf(of) == part {
				events[of] = append(events[of], held...)
			}
		}
	}
	for of, list := range events {
		if err := visit(of, list); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) close() {
	if g.spill != nil {
		g.spill.file.Close()
		_ = os.Remove(g.spill.file.Name())
		g.spill = nil
	}
}

func partOf(of entity) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(of.id))
	return int(h.Sum32() % spillParts)
}

// spill is a file of events. Each part of it is in several pieces.
type spill struct {
	file   *os.File
	at     int64
	pieces [spillParts][]piece
}

type piece struct {
	at  int64
	len int
}

func (s *spill) write(events map[entity][]Event) error {
	var parts [spillParts][]byte
	for of, list := range events {
		part := &parts[partOf(of)]
		*part = appendText(*part, string(of.kind))
		*part = appendText(*part, of.id)
		*part = binary.AppendUvarint(*part, uint64(len(list)))
		for _, e := range list {
			*part = appendEvent(*part, e)
		}
	}
	at, pieces := s.at, s.pieces
	for i, part := range parts {
		if len(part) == 0 {
			continue
		}
		if _, err := s.file.WriteAt(part, at); err != nil {
			return err
		}
		pieces[i] = append(slices.Clip(pieces[i]), piece{at, len(part)})
		at += int64(len(part))
	}
	s.at, s.pieces = at, pieces
	return nil
}

func (s *spill) read(part int) (map[entity][]Event, error) {
	events := map[entity][]Event{}
	for _, p := range s.pieces[part] {
		data := make([]byte, p.len)
		if _, err := s.file.ReadAt(data, p.at); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		r := &eventReader{data: data, text: string(data)}
		for r.at < len(data) {
			of := entity{entityKind(r.next()[0]), r.next()}
			for range r.number() {
				events[of] = append(events[of], r.event())
			}
		}
	}
	return events, nil
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendEvent writes an event for an eventReader of this process.
func appendEvent(b []byte, e Event) []byte {
	at, _ := e.Timestamp.MarshalBinary() // whose zone has been read from text
	plain := uint64(0)
	if e.plain {
		plain = 1
	}
	for _, n := range []uint64{uint64(e.V), e.Clock, uint64(e.late), plain} {
		b = binary.AppendUvarint(b, n)
	}
	for _, text := range []string{e.Writer, string(at), e.Type, e.Source, e.Run, e.Review, string(e.ID), e.Actor, e.Title} {
		b = appendText(b, text)
	}
	return appendText(b, e.Payload)
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
	e.Writer = r.next()
	_ = (*time.Time)(&e.Timestamp).UnmarshalBinary([]byte(r.next()))
	e.Type, e.Source, e.Run, e.Review, e.ID, e.Actor, e.Title = r.next(), r.next(), r.next(), r.next(), gitstore.ID(r.next()), r.next(), r.next()
	n := int(r.number())
	e.Payload = r.data[r.at:][:n:n]
	r.at += n
	return e
}
