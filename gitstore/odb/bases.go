package odb

import (
	"os"

	"github.com/go-git/go-git/v5/plumbing"
)

// Base objects of deltas in packs, and loose objects, are cached, up to a size for each object and for all together.
// Objects of one kind are deltas of one another, in chains of up to fifty.
const (
	maxBase  = 64 << 10
	maxBases = 4 << 20 // for each of the two generations of the cache
)

// baseKey is the position of an object in a pack, or the path of a loose object.
type baseKey struct {
	pack   *packFile
	offset int64
	loose  string
}

// packBase is a cached object. Nobody may change its data.
type packBase struct {
	kind plumbing.ObjectType
	data []byte
	file os.FileInfo // the file of a loose object when it was read
}

// baseCache keeps the base objects that were used last, in two generations. nativeStore.mu guards it.
type baseCache struct {
	newer, older map[baseKey]packBase
	size         int // of newer, in bytes
}

func (c *baseCache) get(key baseKey) (packBase, bool) {
	base, ok := c.newer[key]
	if !ok {
		if base, ok = c.older[key]; ok {
			c.put(key, base)
		}
	}
	return base, ok
}

func (c *baseCache) put(key baseKey, base packBase) {
	if len(base.data) > maxBase {
		return
	}
	if c.newer == nil || c.size+len(base.data) > maxBases {
		c.older, c.newer, c.size = c.newer, map[baseKey]packBase{}, 0
	}
	c.newer[key] = base
	c.size += len(base.data)
}
