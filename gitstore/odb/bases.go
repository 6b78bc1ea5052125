package odb

import "github.com/go-git/go-git/v5/plumbing"

// Objects of packs that others are made from are kept as they are, up to a size each and
// together: those of one kind are made from one another, in chains of up to fifty.
const (
	maxBase  = 64 << 10
	maxBases = 4 << 20 // twice: what was used last, and what was used before that
)

// baseKey is where an object lies.
type baseKey struct {
	pack   *packFile
	offset int64
}

// packBase is an object that nobody changes.
type packBase struct {
	kind plumbing.ObjectType
	data []byte
}

// baseCache keeps what was used last. It is used under the lock of the packs.
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
