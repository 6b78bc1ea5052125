package store

import "testing"

func TestLooksLikeID(t *testing.T) {
	for typed, want := range map[string]bool{
		"20260102030405-abcdef": true, "20260102030405-": true, "20260102030405": false, "2026-01-02": false, "main": false,
		"release-20260102030405": false, "": false,
	} {
		if got := looksLikeID(typed); got != want {
			t.Errorf("%q: %t", typed, got)
		}
	}
}
