package odb

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
)

// ID is the name of an object in lower-case hex: 40 digits in a SHA-1
// repository, 64 in a SHA-256 one. The zero ID ("") is no object.
type ID string

// Short returns the first seven digits, for people.
func (id ID) Short() string { return string(id[:min(7, len(id))]) }

// ValidID reports whether id is a full object id of this repository's format.
func (s *Store) ValidID(id ID) bool {
	want := 40
	if s.dir.SHA256() {
		want = 64
	}
	return len(id) == want && IsHex(string(id))
}

// IsHex reports whether s is made of lower-case hex digits only.
func IsHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ZeroID returns the all-zero id with which git writes "no object".
func (s *Store) ZeroID() ID {
	if s.dir.SHA256() {
		return "0000000000000000000000000000000000000000000000000000000000000000"
	}
	return "0000000000000000000000000000000000000000"
}

// ObjectID computes the id of an object from its kind and content.
func (s *Store) ObjectID(kind string, data []byte) ID {
	sum := s.NewHash()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	return ID(hex.EncodeToString(sum.Sum(nil)))
}

// NewHash returns the hash by which the repository names its objects.
func (s *Store) NewHash() hash.Hash {
	if s.dir.SHA256() {
		return sha256.New()
	}
	return sha1.New()
}

// EmptyTreeID returns the id of the tree without entries. git knows that tree even if it
// is not stored.
func (s *Store) EmptyTreeID() ID {
	if s.dir.SHA256() {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}
