package agent

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func captured(limit int, chunks ...string) *capture {
	c := newCapture(limit)
	for _, chunk := range chunks {
		c.add([]byte(chunk))
	}
	return &c
}

func TestCapture(t *testing.T) {
	for _, tc := range []struct {
		limit  int
		chunks []string
		want   string
	}{
		{10, nil, ""},
		{10, []string{"0123456789"}, "0123456789"},
		{10, []string{"01234", "56789"}, "0123456789"},
		{10, []string{"0123456789x"}, "01234\n[1 bytes left out]\n6789x"},
		{10, []string{"01234567", "89x"}, "01234\n[1 bytes left out]\n6789x"},
		{10, []string{"0123\n", "abc", "def", "ghi"}, "0123\n[4 bytes left out]\nefghi"},
		{3, []string{"a", "b", "c", "d", "e"}, "a\n[2 bytes left out]\nde"},
		{1, []string{"abc"}, "[2 bytes left out]\nc"},
		{8, []string{"aaä€€€€ää"}, "aaä\n[12 bytes left out]\nää"},
		{8, []string{"aaa€€€€€zz"}, "aaa\n[15 bytes left out]\nzz"},
	} {
		c := captured(tc.limit, tc.chunks...)
		if got := string(c.bytes()); got != tc.want {
			t.Errorf("%d, %q: %q, want %q", tc.limit, tc.chunks, got, tc.want)
		}
	}
}

// FuzzCapture: however the bytes arrive, at most limit of them are kept, from the head and the
// tail, and the count of the others is right.
func FuzzCapture(f *testing.F) {
	f.Add([]byte("hello, world, hello"), uint8(7), uint8(3))
	f.Add([]byte("ää€€𝄞𝄞\n\xff\xfe"), uint8(5), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, limit, step uint8) {
		if limit == 0 || step == 0 {
			return
		}
		c := newCapture(int(limit))
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(step))
			c.add(rest[:n])
			rest = rest[n:]
		}
		got := c.bytes()
		if len(data) <= int(limit) {
			if !bytes.Equal(got, data) {
				t.Fatalf("%q of %q", got, data)
			}
			return
		}
		for dropped := len(data) - int(limit); dropped <= len(data); dropped++ {
			gap := fmt.Sprintf("[%d bytes left out]\n", dropped)
			head, tail, ok := strings.Cut(string(got), gap)
			head2 := strings.TrimSuffix(head, "\n")
			whole := bytes.HasPrefix(data, []byte(head)) && len(head)+len(tail)+dropped == len(data)
			added := bytes.HasPrefix(data, []byte(head2)) && len(head2)+len(tail)+dropped == len(data)
			if ok && bytes.HasSuffix(data, []byte(tail)) && (whole || added) {
				if utf8.Valid(data) && !utf8.Valid(got) {
					t.Fatalf("a character was halved: %q", got)
				}
				return
			}
		}
		t.Fatalf("limit %d: %q of %q", limit, got, data)
	})
}
