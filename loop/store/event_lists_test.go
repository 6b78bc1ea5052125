package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// EventsSince reads only the new events, and reads no object if no log moved.
func TestEventsSince(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	one := testCommit(t, s, "one")
	for _, e := range noteEvents(one, one)[:3] {
		recorded(t, s, e)
	}
	all, tips, err := s.EventsSince(ctx, nil)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d events, %v", len(all), err)
	}
	last := recorded(t, s, noteEvents(one, one)[3])
	news, tips, err := s.EventsSince(ctx, tips)
	if err != nil || len(news) != 1 || news[0].ID != last.ID {
		t.Fatalf("%+v, %v", news, err)
	}
	objects := filepath.Join(s.Repo.CommonDir, "objects")
	if err := os.Rename(objects, objects+".away"); err != nil {
		t.Fatal(err)
	}
	s.Repo.Close()
	if news, _, err := s.EventsSince(ctx, tips); err != nil || len(news) != 0 {
		t.Errorf("where nothing moved: %+v, %v", news, err)
	}
	if err := os.Rename(objects+".away", objects); err != nil {
		t.Fatal(err)
	}
	tips[s.Repo.Writer()] = one // a tip that no log here contains
	if again, _, err := s.EventsSince(ctx, tips); err != nil || len(again) != 4 {
		t.Errorf("after the log was replaced: %d events, %v", len(again), err)
	}
}
