package reviewing

import "testing"

func TestReadsAsText(t *testing.T) {
	for data, want := range map[string]bool{
		"#!/bin/sh\nexit\n\x00":               true,
		"package a\n\x00func b() {}\n":        true,
		"\xff\xfea\x00b\x00":                  true,
		"\xfe\xff\x00a":                       true,
		"a\x00b\x00c\x00":                     true, // UTF-16 without a byte order mark
		"gr\xc3\xbc\xc3\x9fe\x00":             true,
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": false, // a picture
		"\x7fELF\x02\x01\x01\x00":             false,
		"PK\x03\x04\x14\x00":                  false,
		"\x1f\x8b\x08\x00":                    false,
		"\x00\x00\x00\x00\x00\x00\x00\x00a":   false,
		"":                                    false,
	} {
		if got := readsAsText([]byte(data)); got != want {
			t.Errorf("readsAsText(%q) = %v", data, got)
		}
	}
}
