package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// listen opens the live updates and sends their lines on the channel. The channel is closed when the server ends the
// connection.
func (s *site) listen(ctx context.Context, query string, header ...string) <-chan string {
	s.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+"/api/events"+query, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, line := range append(header, s.asPerson()) {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		s.Fatal(err)
	}
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		s.Fatalf("status %d, %v", answer.StatusCode, answer.Header)
	}
	lines := make(chan string)
	go func() {
		defer answer.Body.Close()
		defer close(lines)
		for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// next reads lines up to the data of the next update.
func next(t *testing.T, lines <-chan string) (name string, data updateJSON) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case <-timeout:
			t.Fatal("no update came")
		case line, ok := <-lines:
			if !ok {
				t.Fatal("the server ended the connection")
			}
			if event, is := strings.CutPrefix(line, "event: "); is {
				name = event
			}
			if body, is := strings.CutPrefix(line, "data: "); is {
				if err := json.Unmarshal([]byte(body), &data); err != nil {
					t.Fatal(err)
				}
				return name, data
			}
		}
	}
}

func TestEvents(t *testing.T) {
	s := newSite(t)
	id := s.request()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines := s.listen(ctx, "")
	for line := range lines { // the current state
		if strings.HasPrefix(line, "id: ") {
			break
		}
	}
	other := openSite(t, s.dir) // another process
	other.browser("POST", "/api/review/submissions/"+id+"/submit", `{"decision":"approve"}`).want(200)
	for _, want := range []string{sessionsChanged, submissionsChanged} {
		name, data := next(t, lines)
		if name != want || data.Name != want || data.Type != "ui_event" || !slices.Equal(data.IDs, []string{id}) ||
			data.At == 0 {
			t.Errorf("%s: %+v, want %s", name, data, want)
		}
	}
	other.api("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"a"}`).want(200)
	if name, data := next(t, lines); name != submissionsChanged || !slices.Equal(data.IDs, []string{id}) {
		t.Errorf("%s: %+v", name, data)
	}
}

// A browser that reconnects gets an event that something happened meanwhile, and so does a page that was loaded before
// it happened and listens after that.
func TestEventsMissed(t *testing.T) {
	s := newSite(t)
	s.request()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tips, err := s.repo.Tips(ctx)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, s.page("/runs"), fmt.Sprintf(`data-state="%s"`, stateID(tips)))
	s.request()
	for _, lines := range []<-chan string{
		s.listen(ctx, "", "Last-Event-ID: "+stateID(tips)), s.listen(ctx, "?since="+stateID(tips)),
	} {
		for _, want := range []string{sessionsChanged, submissionsChanged, runChanged} {
			if name, data := next(t, lines); name != want || data.IDs != nil {
				t.Errorf("%s: %+v, want %s", name, data, want)
			}
		}
	}
}

func TestUpdates(t *testing.T) {
	s := newSite(t)
	if got := updates(nil); len(got) != 3 {
		t.Errorf("a log that is gone: %v", got)
	}
	if stateID(gitstore.Tips{strings.Repeat("0", 12): gitstore.ID(strings.Repeat("1", 40))}) == stateID(nil) {
		t.Error("two states have one id")
	}
	before, err := s.repo.Tips(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const run = "20260102030405-abcdef"
	_, err = s.repo.Append(t.Context(), func(_ context.Context, _ gitstore.Tips, writer string) (gitstore.Record, error) {
		body, err := json.Marshal(record.Event{V: 1, Clock: 9, Writer: writer, Timestamp: time.Now(),
			Type: record.EventAttemptStarted.Name, Run: run, Payload: json.RawMessage("{}")})
		return gitstore.Record{Author: gitstore.Identity{Name: "Ada", Email: "ada@example.com"},
			Message: "attempt\n\n" + string(body) + "\n"}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	events, _, err := s.Store.EventsSince(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	got := updates(events)
	if len(got) != 1 || got[0].Name != runChanged || !slices.Equal(got[0].IDs, []string{run}) {
		t.Errorf("%v", got)
	}
}

func TestListenersAreBounded(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range maxListeners {
		s.listen(ctx, "")
	}
	s.ask("GET", "/api/events", "", s.asPerson()).want(503).says("too many listeners")
	if s.idleFor() != 0 {
		t.Error("listeners do not count")
	}
	cancel()
	for s.idleFor() == 0 { // they leave by themselves
		time.Sleep(time.Millisecond)
	}
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	s.listen(ctx, "")
}

// A server that ends does not wait for listeners.
func TestEventsEndWithTheServer(t *testing.T) {
	s := newSite(t)
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 0))
	if err != nil {
		t.Fatal(err)
	}
	s.Server.Port = listener.Addr().(*net.TCPAddr).Port
	s.http.URL = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener, time.Hour, func() bool { return false }) }()
	lines := s.listen(context.Background(), "")
	<-lines
	cancel()
	for range lines {
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
