package spill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestParts: each part contains what was added to it, in order, whether it was in memory or in the file.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var p Parts
	defer p.Close()
	if data, err := p.Read(3); !p.Empty() || p.Large() || len(data) > 0 || err != nil {
		t.Errorf("nothing is %q, %v", data, err)
	}
	want := make([][]byte, Count)
	for i := range 3000 {
		number, text := rng.IntN(Count), fmt.Sprint(i, " ")
		p.Add(number, func(b []byte) []byte { return append(b, text...) })
		want[number] = append(want[number], text...)
		if i%700 == 300 {
			p.Spill()
		}
	}
	if p.Empty() || !p.Large() {
		t.Error("nothing went into a file")
	}
	for number := range Count {
		if got, err := p.Read(number); err != nil || !bytes.Equal(got, want[number]) {
			t.Errorf("part %d: %q, %v, want %q", number, got, err, want[number])
		}
	}
	p.Close()
	if data, err := p.Read(0); !p.Empty() || p.Large() || len(data) > 0 || err != nil {
		t.Errorf("closed, it holds %q, %v", data, err)
	}
}

// TestPartsWithoutADisk: text that cannot be written to the file stays in memory.
func TestPartsWithoutADisk(t *testing.T) {
	t.Setenv("TMPDIR", "/dev/null/nowhere")
	var p Parts
	p.Add(1, func(b []byte) []byte { return append(b, "one"...) })
	p.Spill()
	if data, err := p.Read(1); string(data) != "one" || err != nil || p.Large() {
		t.Errorf("%q, %v", data, err)
	}
}
