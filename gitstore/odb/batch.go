package odb

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// BatchLoose is the largest batch that StoreBatch stores as loose objects. Each may cost two
// syncs, and thousands of loose objects would make the user's next command run gc.
const BatchLoose = 40

// Batch is a list of objects to write together, each after the objects that it refers to.
type Batch []BatchedObject

// BatchedObject is one object to store. Kind is blob, tree or commit.
type BatchedObject struct {
	ID   ID
	Kind string
	Data []byte
}

// Add appends an object to the batch and returns its id.
func (b *Batch) Add(s *Store, kind string, data []byte) ID {
	id := s.ObjectID(kind, data)
	*b = append(*b, BatchedObject{id, kind, data})
	return id
}

// StoreBatch stores all objects of a batch: a small batch as loose objects, a large one as one pack.
// git syncs what it writes, packs included, whatever keep says.
func (s *Store) StoreBatch(ctx context.Context, objects Batch, keep Durability) error {
	switch {
	case len(objects) > BatchLoose:
		return s.StorePack(ctx, objects, "index-pack", "--stdin")
	case s.dir.SHA256() && len(objects) > 0: // loose, by one process
		return s.StorePack(ctx, objects, "unpack-objects", "-q")
	}
	return s.storeLoose(objects, keep)
}

// storeLoose writes the objects that are not here yet and marks the others as recently used.
func (s *Store) storeLoose(objects Batch, keep Durability) error {
	w := looseWriter{store: s, keep: keep}
	for _, object := range objects {
		if s.native.freshen(object.ID) {
			continue
		}
		if err := w.write(object); err != nil {
			return err
		}
	}
	return w.sync()
}

// StorePack pipes a batch as a pack into a git command, such as index-pack.
func (s *Store) StorePack(ctx context.Context, objects Batch, command ...string) error {
	pack, err := s.EncodePack(objects)
	if err != nil {
		return fmt.Errorf("write %d objects: %w", len(objects), err)
	}
	if _, err := s.dir.GitIn(ctx, pack, command...); err != nil {
		return fmt.Errorf("write %d objects: %w", len(objects), err)
	}
	return nil
}

// PackTypes maps a kind of object to its number in a pack.
var PackTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4}

// EncodePack returns a pack without deltas: a header, each object once, a checksum.
func (s *Store) EncodePack(objects Batch) ([]byte, error) {
	unique := make(map[ID]BatchedObject, len(objects))
	for _, object := range objects {
		unique[object.ID] = object
	}
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02")
	binary.Write(&pack, binary.BigEndian, uint32(len(unique)))
	deflate := zlib.NewWriter(nil)
	for _, object := range objects {
		if _, ok := unique[object.ID]; !ok {
			continue
		}
		delete(unique, object.ID)
		writePackHeader(&pack, PackTypes[object.Kind], uint64(len(object.Data)))
		deflate.Reset(&pack)
		if _, err := deflate.Write(object.Data); err != nil {
			return nil, err
		}
		if err := deflate.Close(); err != nil {
			return nil, err
		}
	}
	sum := s.NewHash()
	sum.Write(pack.Bytes())
	return sum.Sum(pack.Bytes()), nil
}

// writePackHeader writes kind and size: four bits of the size in the first byte,
// then seven in each.
func writePackHeader(w io.ByteWriter, kind byte, size uint64) {
	b := kind<<4 | byte(size&0xf)
	for size >>= 4; size > 0; size >>= 7 {
		w.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	w.WriteByte(b)
}
