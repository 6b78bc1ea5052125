package web

import (
	"strings"
	"testing"
)

func TestStoppedRunSaysASentenceOnce(t *testing.T) {
	s := newSite(t)
	page := s.page("/run/" + s.stopped().ID)
	const sentence = "no test for &lt;b&gt;xss&lt;/b&gt;"
	head, course, _ := strings.Cut(page, `id="course"`)
	if n := strings.Count(head, sentence); n != 1 {
		t.Errorf("why it stopped says %q %d times", sentence, n)
	}
	if !strings.Contains(head, "3 times") {
		t.Error("it does not say how often that was asked for")
	}
	if n := strings.Count(course, sentence); n != 3 {
		t.Errorf("three rounds say %q %d times", sentence, n)
	}
}
