package record

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// IDTime is the time format of the readable part of an id, in UTC.
const IDTime = "20060102150405"

// IDAlphabet omits letters and digits that are easily confused.
const IDAlphabet = "abcdefghijkmnpqrstuvwxyz23456789"

// SuffixLength is how many letters of IDAlphabet an id ends with.
const SuffixLength = 6

var idEncoding = base32.NewEncoding(IDAlphabet).WithPadding(base32.NoPadding)

// NewID returns the id of a run or a review: its time, and a suffix derived from the writer (random per clone), its
// clock (never repeated in one log) and the content. So two things made in the same second, or in two clones at once,
// get different ids.
func NewID(now time.Time, writer string, clock uint64, what any) (string, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", writer, clock, body))
	return now.UTC().Format(IDTime) + "-" + idEncoding.EncodeToString(sum[:4])[:SuffixLength], nil
}

// ValidID reports whether s has the form of an id from NewID.
func ValidID(s string) bool {
	digits, suffix, ok := strings.Cut(s, "-")
	if !ok || len(digits) != len(IDTime) || len(suffix) != SuffixLength {
		return false
	}
	return strings.Trim(digits, "0123456789") == "" && strings.Trim(suffix, IDAlphabet) == ""
}
