package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

const (
	maxListeners = 32
	pollEvery    = 500 * time.Millisecond
	beatEvery    = 15 * time.Second
	sendTime     = 10 * time.Second // a slower listener is dropped
)

// Names of live updates. Existing clients listen for the first two.
const (
	sessionsChanged    = "review_sessions_changed"    // a request was made, answered or withdrawn
	submissionsChanged = "review_submissions_changed" // anything happened to reviews
	runChanged         = "run_changed"
)

// updateJSON is the data of a live update.
type updateJSON struct {
	Type string   `json:"type"` // ui_event
	Name string   `json:"name"`
	At   int64    `json:"at"`
	IDs  []string `json:"ids,omitempty"` // what changed; empty means that anything may have
}

// events sends a listener the changes that any process writes, until the listener disconnects. The id of an update
// names the state, so a client that reconnects gets what it missed.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	defer s.listeners.Add(-1)
	if s.listeners.Add(1) > maxListeners {
		s.fail(w, r, &requestError{status: http.StatusServiceUnavailable, message: "too many listeners"})
		return
	}
	tips, err := s.repo.Tips(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	l := &listener{w: w, control: http.NewResponseController(w)}
	l.send("retry: 2000\nid: %s\n\n", stateID(tips))
	if last := r.Header.Get("Last-Event-ID"); last != "" && last != stateID(tips) {
		l.update(stateID(tips), anything())
	}
	s.follow(r.Context(), l, tips)
}

// follow sends the changes after tips.
func (s *Server) follow(ctx context.Context, l *listener, tips gitstore.Tips) {
	poll, beat := time.NewTicker(pollEvery), time.NewTicker(beatEvery)
	defer poll.Stop()
	defer beat.Stop()
	for l.err == nil {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			l.send(": still here\n\n")
		case <-poll.C:
			events, now, err := s.Store.EventsSince(ctx, tips)
			if err != nil || maps.Equal(now, tips) {
				continue // what cannot be read now is read in a moment
			}
			l.update(stateID(now), updates(events))
			tips = now
		}
	}
}

// updates returns the updates for events. Without any, a log has disappeared.
func updates(events []record.Event) []updateJSON {
	if len(events) == 0 {
		return anything()
	}
	ids := map[string][]string{}
	note := func(name, id string) {
		if id != "" {
			ids[name] = each.Once(ids[name], id)
		}
	}
	for _, event := range events {
		note(submissionsChanged, event.Review)
		note(runChanged, event.Run)
		switch event.Type {
		case record.EventReviewRequested.Name, record.EventReviewSubmitted.Name, record.EventReviewChecked.Name,
			record.EventReviewCancelled.Name, record.EventReviewReopened.Name:
			note(sessionsChanged, event.Review)
		}
	}
	var updates []updateJSON
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		updates = append(updates, updateJSON{Name: name, IDs: ids[name]})
	}
	return updates
}

func anything() []updateJSON {
	return []updateJSON{{Name: sessionsChanged}, {Name: submissionsChanged}, {Name: runChanged}}
}

// stateID returns an id of the state of all logs.
func stateID(tips gitstore.Tips) string {
	sum := sha256.New()
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		fmt.Fprintf(sum, "%s %s\n", writer, tips[writer])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// listener is one connection for live updates.
type listener struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (l *listener) send(format string, args ...any) {
	if l.err == nil {
		l.err = l.control.SetWriteDeadline(time.Now().Add(sendTime))
	}
	if l.err == nil {
		_, l.err = fmt.Fprintf(l.w, format, args...)
	}
	if l.err == nil {
		l.err = l.control.Flush()
	}
}

func (l *listener) update(id string, updates []updateJSON) {
	for _, u := range updates {
		u.Type, u.At = "ui_event", time.Now().UnixMilli()
		data, _ := json.Marshal(u) // strings and a number cannot fail
		l.send("id: %s\nevent: %s\ndata: %s\n\n", id, u.Name, data)
	}
}
