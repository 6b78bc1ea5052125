package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// site is a real repository behind a real listener.
type site struct {
	*testing.T
	*Server
	dir  string
	http *httptest.Server
	logs *logs
}

// logs collects what the server logs.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logged waits until the log contains words; the log is written after the answer.
func (s *site) logged(words string) string {
	s.Helper()
	for range 1000 {
		if text := s.logs.String(); strings.Contains(text, words) {
			return text
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.Fatalf("%q is not logged:\n%s", words, s.logs)
	return ""
}

const person = "Ada <ada@example.com>"

func newSite(t *testing.T) *site {
	t.Helper()
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "-b", "main")
	runGit(t, dir, "config", "user.name", "Ada")
	runGit(t, dir, "config", "user.email", "ada@example.com")
	write(t, dir, "a.txt", "one\ntwo\nthree\n")
	write(t, dir, "b.txt", "left\n")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-q", "-m", "first")
	write(t, dir, "a.txt", "one\n2\nthree\n")
	runGit(t, dir, "commit", "-q", "-am", "second")
	return openSite(t, dir)
}

// alone returns the steps of a repository that is the only clone, without notes.
func alone(store *store.Store) steps.Taker {
	return steps.Taker{
		Store: store,
		Claim: func(ctx context.Context, id string, by record.Hold) (record.Review, string, error) {
			review, err := store.ClaimReview(ctx, id, by)
			return review, "", err
		},
		NotHere: func(context.Context) string { return "" },
		Held:    func(context.Context, string, record.Hold, bool) (record.Review, error) { return record.Review{}, nil },
		Unclaim: func(record.Review, record.Hold) {},
		Closed:  func() {},
	}
}

// openSite returns another server of the same repository, as after a restart.
func openSite(t *testing.T, dir string) *site {
	t.Helper()
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	s := &site{T: t, dir: dir, logs: &logs{}, http: httptest.NewUnstartedServer(nil)}
	s.Server = New(screens.Page{
		Taker: alone(store.NewStore(repo, time.Now)), Now: time.Now, Actor: person, Lease: time.Hour,
		Secret: screens.Secret(strings.Repeat("s", screens.SecretSize)), Port: s.http.Listener.Addr().(*net.TCPAddr).Port,
		Ask: func(_ context.Context, names []string, kind string, subject record.Subject) (record.ReviewRequest, error) {
			request := record.ReviewRequest{Reviewer: append(names, record.Human)[0], Subject: subject,
				Panel: record.Panel{Kind: kind}}
			if request.Reviewer != record.Human && request.Reviewer != "builtin" {
				return request, fmt.Errorf("there is no agent %q", request.Reviewer)
			}
			return request, nil
		},
		Measure: func(ctx context.Context, since time.Time) (diagnose.Metrics, error) {
			return diagnose.Measure(ctx, s.Store, since)
		},
		Log: s.logs.add, LogRequests: true,
	})
	s.http.Config.Handler = s.Handler()
	s.http.Start()
	t.Cleanup(s.http.Close)
	return s
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ask sends one request to the site. Header fields are "Name: value"; "Host" sets the requested host.
func (s *site) ask(method, path, body string, header ...string) *response {
	s.Helper()
	r, err := http.NewRequest(method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       20 * time.Second,
	}
	answer, err := client.Do(r)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return &response{s.T, answer, string(text), method + " " + path}
}

// asPerson returns the header that a logged-in browser sends, asProgram the one of a program.
func (s *site) asPerson() string {
	return fmt.Sprintf("Cookie: %s=%s", s.cookieName(), s.Secret.Session())
}
func (s *site) asProgram() string { return "Authorization: Bearer " + s.Secret.Session() }

const (
	jsonBody = "Content-Type: application/json"
	formBody = "Content-Type: application/x-www-form-urlencoded"
)

// api makes one call as a program.
func (s *site) api(method, path, body string) *response {
	s.Helper()
	return s.ask(method, path, body, s.asProgram(), jsonBody)
}

// browser makes one call as the page's script.
func (s *site) browser(method, path, body string) *response {
	s.Helper()
	return s.ask(method, path, body, s.asPerson(), jsonBody)
}

// request requests a review of the last commit and returns its id.
func (s *site) request() string {
	s.Helper()
	doc := s.api("POST", "/api/review/sessions", `{"revision":"HEAD","message":"please"}`).want(200).object()
	return doc["id"].(string)
}

// submitted returns a review that somebody answered.
func (s *site) submitted() string {
	s.Helper()
	id := s.request()
	s.browser("POST", "/api/review/submissions/"+id+"/submit",
		`{"decision":"request_changes","message":"no","comments":[{"file":"a.txt","startLine":2,"comment":"why 2?"}]}`).
		want(200)
	return id
}

// response is the answer to a request.
type response struct {
	t *testing.T
	*http.Response
	text string
	what string
}

func (r *response) want(status int) *response {
	r.t.Helper()
	if r.StatusCode != status {
		r.t.Fatalf("%s: status %d, want %d\n%s", r.what, r.StatusCode, status, r.text)
	}
	return r
}

func (r *response) object() map[string]any {
	r.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.text), &doc); err != nil {
		r.t.Fatalf("%s: %v\n%s", r.what, err, r.text)
	}
	return doc
}

func (r *response) list() (all []map[string]any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.text), &all); err != nil {
		r.t.Fatalf("%s: %v\n%s", r.what, err, r.text)
	}
	return all
}

// says checks that the answer is a JSON error that contains words.
func (r *response) says(words string) *response {
	r.t.Helper()
	if text, _ := r.object()["error"].(string); !strings.Contains(text, words) {
		r.t.Fatalf("%s: error %q does not say %q", r.what, r.text, words)
	}
	return r
}

func TestServeEnds(t *testing.T) {
	s := newSite(t)
	never := func() bool { return false }
	serve := func(ctx context.Context, idle time.Duration, gone func() bool) error {
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 0))
		if err != nil {
			t.Fatal(err)
		}
		return s.Serve(ctx, listener, idle, gone)
	}
	if err := serve(context.Background(), 20*time.Millisecond, never); err != nil {
		t.Errorf("idle: %v", err)
	}
	if err := serve(context.Background(), time.Hour, func() bool { return true }); err != nil {
		t.Errorf("the repository is gone: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := serve(ctx, time.Hour, never); err != nil {
		t.Errorf("signal: %v", err)
	}
	closed, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", 0))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if err := s.Serve(context.Background(), closed, time.Hour, never); err == nil {
		t.Error("no error from a closed listener")
	}
}

// A request in progress keeps the server from being idle; a finished one does not.
func TestIdleFor(t *testing.T) {
	var a activity
	end := a.begin()
	a.last = time.Now().Add(-time.Hour)
	if idle := a.idleFor(); idle != 0 {
		t.Errorf("idle for %s while a request is answered", idle)
	}
	end()
	a.last = time.Now().Add(-time.Hour)
	if idle := a.idleFor(); idle < time.Hour {
		t.Errorf("idle for %s after an hour", idle)
	}
}

func TestPanicIsAnError(t *testing.T) {
	s := newSite(t)
	s.mux.HandleFunc("GET /api/fault", func(http.ResponseWriter, *http.Request) { panic("a fault") })
	s.mux.HandleFunc("GET /fault", func(http.ResponseWriter, *http.Request) { panic("a fault") })
	answer := s.api("GET", "/api/fault", "").want(500).says("an internal error")
	if strings.Contains(answer.text, "goroutine") {
		t.Errorf("answer %s", answer.text)
	}
	s.logged("server_test.go")
	s.ask("GET", "/fault", "", s.asPerson()).want(500)
}

// After gc packed objects that the server read loose, the server still finds everything.
func TestSurvivesGC(t *testing.T) {
	s := newSite(t)
	first := s.submitted()
	runGit(t, s.dir, "gc", "-q")
	second := s.submitted()
	runGit(t, s.dir, "gc", "-q")
	runGit(t, s.dir, "pack-refs", "--all")
	for _, id := range []string{first, second} {
		s.api("GET", "/api/review/submissions/"+id, "").want(200)
	}
	s.submitted()
	if n := len(s.api("GET", "/api/review/submissions", "").want(200).list()); n != 3 {
		t.Errorf("%d reviews, want 3", n)
	}
}
