package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadTranscript folds what every agent that streams wrote by its messages and tool calls, and loses nothing.
func TestReadTranscript(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*-edit.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		heads, text := []string{}, ""
		for _, part := range ReadTranscript(stream) {
			text += part.Text
			if part.Head != "" {
				heads = append(heads, part.Head)
			}
		}
		if len(heads) == 0 || !strings.Contains(strings.Join(heads, " "), "a.txt") || !strings.Contains(text, "a.txt") {
			t.Errorf("%s: %q", file, heads)
		}
	}
	got := ReadTranscript([]byte("plain <b>\n{\"type\":\"x\"}\nmore\n"))
	if len(got) != 1 || got[0].Head != "" || got[0].Text != "plain <b>\n{\"type\":\"x\"}\nmore" {
		t.Errorf("%+v", got)
	}
	if got := ReadTranscript(nil); len(got) != 1 || got[0] != (Told{}) {
		t.Errorf("nothing: %+v", got)
	}
}
