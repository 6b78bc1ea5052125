package web

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestSyncButton(t *testing.T) {
	s := newSite(t)
	id, _ := s.talked()
	left := 3
	var typed []string
	s.Unshared = func(context.Context) (int, error) { return left, nil }
	s.Do = func(_ context.Context, args ...string) (string, int) {
		typed, left = args, 0
		return "", 0
	}
	page := s.page("/review/" + id)
	checkHTML(t, page)
	if !strings.Contains(page, "3 events not shared yet") || !strings.Contains(page, `action="/sync"`) {
		t.Error("the page does not say what is not shared")
	}
	got := s.form("/sync", "back", "/review/"+id)
	got.want(303)
	if !slices.Equal(typed, []string{"-q", "sync"}) {
		t.Errorf("typed %q", typed)
	}
	if strings.Contains(s.page("/review/"+id), "not shared yet") {
		t.Error("what is shared is said not to be")
	}
	if to := s.form("/sync", "back", "//elsewhere.example/x").
		want(303).Header.Get("Location"); to != "/elsewhere.example/x" {
		t.Errorf("it leads to %q", to)
	}
	s.Do = func(context.Context, ...string) (string, int) { return "git-runr: origin cannot be reached\n", 75 }
	s.form("/sync", "back", "/").want(503)
}
