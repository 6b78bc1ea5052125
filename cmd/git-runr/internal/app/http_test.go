package app

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore"
)

// server is the server of a test's repository.
type server struct{ Repo *gitstore.Repo }

// Ask asks the server, which may be starting.
func (s server) Ask(method, path, body string) (status int, answer string, err error) {
	at, err := scripttest.Find(s.Repo)
	if err != nil {
		return 0, "", err
	}
	return at.Ask(method, path, body)
}

// want is Ask for requests that must succeed. A request to a busy server is repeated.
func (s server) want(t *testing.T, method, path, body string) (doc map[string]any) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); ; {
		status, answer, err := s.Ask(method, path, body)
		if status == http.StatusServiceUnavailable && time.Now().Before(end) {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if err != nil || status != 200 {
			t.Fatalf("%s %s: %d, %v\n%s", method, path, status, err, answer)
		}
		if err := json.Unmarshal([]byte(answer), &doc); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, path, err, answer)
		}
		return doc
	}
}

// serveRepo returns a repository with one commit, to be served by processes of its own.
func serveRepo(t *testing.T) server {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "GIT_CONFIG_GLOBAL": os.DevNull,
		"GIT_CONFIG_NOSYSTEM": "1",
	} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.com"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", argv, err, out)
		}
	}
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return server{repo}
}

// start starts git runr serve and returns the process.
func (s server) start(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("git-runr", "-C", s.Repo.WorkTree, "serve", "--idle", "1m")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// If a server is killed at any moment of a submit, either the draft or the submission exists. Submitting again
// results in one submission.
func TestKillDuringSubmit(t *testing.T) {
	s := serveRepo(t)
	process := s.start(t)
	id := s.draftSome(t)
	began := time.Now()
	s.want(t, "POST", "/api/review/submissions/"+id+"/submit", submitBody)
	took := time.Since(began)
	const moments = 10
	seen := map[int]int{}
	for i := range moments {
		id := s.draftSome(t)
		at, err := scripttest.Find(s.Repo)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			at.Ask("POST", "/api/review/submissions/"+id+"/submit", submitBody)
		}()
		time.Sleep(took * time.Duration(i) / moments)
		process.Process.Signal(syscall.SIGKILL)
		process.Wait()
		<-ended
		process = s.start(t)
		seen[s.afterKill(t, id)]++
		s.submitSome(t, id)
	}
	t.Logf("killed before it was recorded %d times, after it %d times", seen[0], seen[1])
}

// afterKill checks that either the draft or the submission exists, and returns the number of submissions.
func (s server) afterKill(t *testing.T, id string) int {
	t.Helper()
	review := s.want(t, "GET", "/api/review/submissions/"+id, "")
	draft := s.want(t, "GET", "/api/review/drafts/"+id, "")
	kept, submitted := len(draft["comments"].([]any)), len(review["submissions"].([]any))
	switch {
	case submitted == 0 && kept == 2 && draft["message"] == "in all" && review["status"] == "open":
	case submitted == 1 && kept == 0 && draft["message"] == "" && review["commentCount"] == 2.0:
	default:
		t.Fatalf("%d submissions, %d comments in the draft\n%v\n%v", submitted, kept, review, draft)
	}
	return submitted
}

const submitBody = `{"decision":"request_changes","key":"the same"}`

// draftSome requests a review and drafts two comments and a message.
func (s server) draftSome(t *testing.T) (id string) {
	t.Helper()
	id = s.want(t, "POST", "/api/review/sessions", `{"revision":"HEAD","reviewer":"human"}`)["id"].(string)
	s.want(t, "POST", "/api/review/drafts/"+id, `{"file":"a.txt","startLine":1,"comment":"first"}`)
	s.want(t, "POST", "/api/review/drafts/"+id, `{"comment":"second"}`)
	s.want(t, "PUT", "/api/review/drafts/"+id+"/message", `{"message":"in all"}`)
	return id
}

// submitSome submits again with the same key and checks that there is one submission.
func (s server) submitSome(t *testing.T, id string) {
	t.Helper()
	s.want(t, "POST", "/api/review/submissions/"+id+"/submit", submitBody)
	review := s.want(t, "GET", "/api/review/submissions/"+id, "")
	if n := len(review["submissions"].([]any)); n != 1 || review["commentCount"] != 2.0 ||
		review["status"] != "submitted" {
		t.Fatalf("%d submissions: %v", n, review)
	}
	if draft := s.want(t, "GET", "/api/review/drafts/"+id, ""); len(draft["comments"].([]any)) != 0 {
		t.Fatalf("the draft is still there: %v", draft)
	}
}

// If many servers are started at once, one serves and the others print its address.
func TestServeOnce(t *testing.T) {
	s := serveRepo(t)
	const processes = 6
	said, done := make(chan served), make(chan struct{})
	var all sync.WaitGroup
	for range processes {
		cmd := exec.Command("git-runr", "-C", s.Repo.WorkTree, "serve", "--idle", "1m", "--json")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			var doc served
			if err := json.NewDecoder(out).Decode(&doc); err != nil {
				t.Errorf("no document: %v", err)
			}
			said <- doc
			<-done
			if !doc.Running {
				cmd.Process.Signal(os.Interrupt)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("ended: %v", err)
			}
		})
	}
	var ports []int
	serving := 0
	for range processes {
		doc := <-said
		ports = append(ports, doc.Port)
		if !doc.Running {
			serving++
		}
	}
	close(done)
	all.Wait()
	slices.Sort(ports)
	if ports = slices.Compact(ports); len(ports) != 1 || ports[0] == 0 || serving != 1 {
		t.Errorf("%d serve, at ports %v", serving, ports)
	}
}
