package odb

import (
	"os"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Base objects of deltas in packs, and loose objects, are cached, up to a size for each object and for all together.
// Objects of one kind are deltas of one another, in chains of up to fifty.
const (
	maxCached      = 64 << 10
	maxCachedBytes = 4 << 20 // for each of the two generations of a cache
)

// baseKey is the position of an object in a pack.
type baseKey struct {
	pack   *packFile
	offset int64
}

// packBase is a cached object. Nobody may change its data.
type packBase struct {
	kind plumbing.ObjectType
	data []byte
}

func (b packBase) bytes() int { return len(b.data) }

// looseCopy is the content of a loose object as it was read from its file. Nobody may change its data.
type looseCopy struct {
	kind    string
	data    []byte
	size    int64 // of the file
	written time.Time
}

func (c looseCopy) bytes() int { return len(c.data) }

// isOf reports whether the file at path is still the one that c was read from: gc may have removed it.
func (c looseCopy) isOf(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == c.size && info.ModTime().Equal(c.written)
}

// cache keeps the objects that were used last, in two generations. nativeStore.mu guards it.
type cache[K comparable, V interface{ bytes() int }] struct {
	newer, older map[K]V
	size         int // of newer, in bytes
}

func (c *cache[K, V]) get(key K) (V, bool) {
	object, ok := c.newer[key]
	if !ok {
		if object, ok = c.older[key]; ok {
			c.put(key, object)
		}
	}
	return object, ok
}

func (c *cache[K, V]) put(key K, object V) {
	size := object.bytes()
	if size > maxCached {
		return
	}
	if c.newer == nil || c.size+size > maxCachedBytes {
		c.older, c.newer, c.size = c.newer, map[K]V{}, 0
	}
	c.newer[key] = object
	c.size += size
}
