package store

import (
	"encoding/binary"
	"hash/fnv"
	"io"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/spill"
	"github.com/git-runr/git-runr/loop/record"
)

// groups holds events grouped by run and review, in parts. A part holds all events of some runs and reviews, each
// event prefixed with the id of its run or review.
type groups struct {
	spill.Parts
	clock uint64 // the highest clock
	taken int    // the number of events
	count bool   // only count the events
}

func (g *groups) add(e record.Event) {
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
func (g *groups) put(number int, of entity, e record.Event) {
	g.Add(number, func(b []byte) []byte { return appendEvent(appendText(append(b, byte(of.kind)), of.id), e) })
}

func partOf(of entity) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, of.id)
	return int(h.Sum32() % spill.Count)
}

// visit visits each run and review of a part. Parts may be visited concurrently.
func (g *groups) visit(number int, visit func(entity, []record.Event) error) error {
	data, err := g.Read(number)
	if err != nil {
		return err
	}
	events := map[entity][]record.Event{}
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

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendEvent encodes an event for an eventReader of this process.
func appendEvent(b []byte, e record.Event) []byte {
	var buf [16]byte
	at, _ := e.Timestamp.AppendBinary(buf[:0]) // cannot fail: the time was parsed from text
	plain := uint64(0)
	if e.Plain {
		plain = 1
	}
	for _, n := range []uint64{uint64(e.V), e.Clock, uint64(e.Late), plain} {
		b = binary.AppendUvarint(b, n)
	}
	for _, text := range []string{e.Writer, e.Type, e.Source, e.Run, e.Review, string(e.ID), e.Actor, e.Title} {
		b = appendText(b, text)
	}
	return appendText(appendText(b, at), e.Payload)
}

// eventReader decodes what appendEvent wrote; text is a copy of data.
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

func (r *eventReader) event() (e record.Event) {
	e.V, e.Clock, e.Late, e.Plain = int(r.number()), r.number(), int64(r.number()), r.number() == 1
	e.Writer, e.Type, e.Source, e.Run, e.Review, e.ID, e.Actor, e.Title = r.next(), r.next(), r.next(), r.next(), r.next(),
		gitstore.ID(r.next()), r.next(), r.next()
	_ = e.Timestamp.UnmarshalBinary([]byte(r.next()))
	n := int(r.number())
	e.Payload = r.data[r.at:][:n:n]
	r.at += n
	return e
}
