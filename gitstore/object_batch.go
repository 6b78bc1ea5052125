package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// batchLoose is up to how many objects are stored as loose ones: each costs two
// syncs, and thousands of them would make the user's next command run gc.
const batchLoose = 40

// objectBatch is objects that are written together, each after those it names.
type objectBatch []batchedObject

type batchedObject struct {
	id   ID
	kind string
	data []byte
}

// add puts an object into the batch and gives the id that it will have.
func (b *objectBatch) add(r *Repo, kind string, data []byte) ID {
	id := r.objectID(kind, data)
	*b = append(*b, batchedObject{id, kind, data})
	return id
}

// storeBatch stores all objects of a batch durably: few as loose objects, many as
// one pack.
func (r *Repo) storeBatch(ctx context.Context, objects objectBatch) error {
	switch {
	case len(objects) > batchLoose:
		return r.storePack(ctx, objects, "index-pack", "--stdin")
	case r.SHA256() && len(objects) > 0: // loose, by one process
		return r.storePack(ctx, objects, "unpack-objects", "-q")
	}
	for _, object := range objects {
		if _, err := r.writeObject(ctx, object.kind, object.data); err != nil {
			return err
		}
	}
	return nil
}

// storePack hands a batch to a git command that takes a pack.
func (r *Repo) storePack(ctx context.Context, objects objectBatch, command ...string) error {
	pack, err := r.encodePack(objects)
	if err != nil {
		return fmt.Errorf("write %d objects: %w", len(objects), err)
	}
	if _, err := r.gitIn(ctx, pack, command...); err != nil {
		return fmt.Errorf("write %d objects: %w", len(objects), err)
	}
	return nil
}

// packTypes are the numbers of the kinds in a pack.
var packTypes = map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4}

// encodePack writes a pack without deltas: its header, the objects, a checksum.
func (r *Repo) encodePack(objects objectBatch) ([]byte, error) {
	unique := make(map[ID]batchedObject, len(objects))
	for _, object := range objects {
		unique[object.id] = object
	}
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02")
	binary.Write(&pack, binary.BigEndian, uint32(len(unique)))
	deflate := zlib.NewWriter(nil)
	for _, object := range objects {
		if _, ok := unique[object.id]; !ok {
			continue
		}
		delete(unique, object.id)
		writePackHeader(&pack, packTypes[object.kind], uint64(len(object.data)))
		deflate.Reset(&pack)
		if _, err := deflate.Write(object.data); err != nil {
			return nil, err
		}
		if err := deflate.Close(); err != nil {
			return nil, err
		}
	}
	sum := r.newHash()
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
