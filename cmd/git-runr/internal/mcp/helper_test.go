package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// project is a repository with one commit and the servers that tests start on it.
type project struct {
	t         *testing.T
	dir       string
	from      string // directory in which servers are started: dir, or below it
	lease     time.Duration
	workers   atomic.Int32 // number of started workers
	page      string       // start of a page's address, before the id; "": no page is served
	elsewhere atomic.Int32 // number of claims released elsewhere
	closed    atomic.Int32
	checks    []runplan.Check
	offline   string // reason why a claim counts in this clone only
	unsynced  string // reason why reviews may not be in this clone
}

func newProject(t *testing.T) *project {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "Ada")
		t.Setenv("GIT_"+who+"_EMAIL", "ada@example.com")
	}
	p := &project{t: t, dir: t.TempDir(), lease: time.Hour}
	p.from = p.dir
	p.git("init", "-q", "-b", "main")
	p.write("a.txt", "one\n")
	p.write("src/b.go", "package b\n")
	p.commit("first")
	return p
}

func (p *project) git(args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{"-C", p.dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) commit(message string) {
	p.t.Helper()
	p.git("add", "-A")
	p.git("commit", "-q", "-m", message)
}

// store opens the repository as another process would.
func (p *project) store() *store.Store {
	p.t.Helper()
	repo, err := gitstore.Open(p.t.Context(), p.from)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { repo.Close() })
	return store.NewStore(repo, time.Now)
}

func (p *project) open(ctx context.Context) (*screens.Project, error) {
	repo, err := gitstore.Open(ctx, p.from)
	if err != nil {
		return nil, err
	}
	store := store.NewStore(repo, time.Now)
	return &screens.Project{
		Fix: func(review string) string { return "git runr run --review " + review },
		Taker: steps.Taker{
			Store: store,
			Claim: func(ctx context.Context, id string, by record.Hold) (record.Review, string, error) {
				review, err := store.ClaimReview(ctx, id, by)
				return review, p.offline, err
			},
			NotHere: func(context.Context) string { return p.unsynced },
			Held:    func(context.Context, string, record.Hold, bool) (record.Review, error) { return record.Review{}, nil },
			Unclaim: func(record.Review, record.Hold) { p.elsewhere.Add(1) },
			Closed:  func() { p.closed.Add(1) },
		},
		Checks: p.checks,
		Page: func(r record.Review) string {
			if p.page == "" {
				return ""
			}
			return p.page + r.ID
		},
		Ask: func(_ context.Context, names []string, kind string, subject record.Subject) (record.ReviewRequest, error) {
			request := record.ReviewRequest{Reviewer: append(names, "builtin")[0], Subject: subject,
				Panel: record.Panel{Kind: kind}}
			if request.Reviewer != "builtin" && request.Reviewer != record.Human {
				return request, errors.New("no agent " + request.Reviewer + " is configured")
			}
			return request, nil
		},
		StartWorker: func() error { p.workers.Add(1); return nil },
		Offered:     func(run record.Run) (record.Run, error) { return run, nil },
		Close:       func() { repo.Close() },
	}, nil
}

// server returns a server as one process has it.
func (p *project) server() *Server {
	return New(screens.Tools{Version: "test", Open: p.open, Lease: p.lease, Log: p.t.Logf})
}

// chat is one conversation: a client with its own server.
type chat struct {
	t      *testing.T
	server *Server
	*sdk.ClientSession
}

func (p *project) chat() *chat { return p.chatOf(nil) }

// chatOf returns a chat whose client has these options.
func (p *project) chatOf(options *sdk.ClientOptions) *chat {
	return connectAs(p.t, p.server(), options)
}

func connect(t *testing.T, s *Server) *chat {
	t.Helper()
	return connectAs(t, s, nil)
}

func connectAs(t *testing.T, s *Server, options *sdk.ClientOptions) *chat {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	here, there := sdk.NewInMemoryTransports()
	ended := make(chan error)
	go func() { ended <- s.serve(ctx, there) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, options)
	session, err := client.Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	return &chat{t, s, session}
}

type args map[string]any

// call calls a tool and fails the test if the result is an error.
func (c *chat) call(tool string, a args) string {
	c.t.Helper()
	text, failed := c.try(tool, a)
	if failed {
		c.t.Fatalf("%s %v: %s", tool, a, text)
	}
	return text
}

// refused calls a tool and fails the test unless the result is an error result.
func (c *chat) refused(tool string, a args) string {
	c.t.Helper()
	text, failed := c.try(tool, a)
	if !failed {
		c.t.Fatalf("%s %v was allowed: %s", tool, a, text)
	}
	return text
}

func (c *chat) try(tool string, a args) (text string, failed bool) {
	c.t.Helper()
	result := c.result(tool, a)
	if len(result.Content) != 1 {
		c.t.Fatalf("%s: %d contents", tool, len(result.Content))
	}
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

func (c *chat) result(tool string, a args) *sdk.CallToolResult {
	c.t.Helper()
	result, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		c.t.Fatalf("%s %v: protocol error %v", tool, a, err)
	}
	return result
}

// document returns the structured content of a result.
func (c *chat) document(tool string, a args) map[string]any {
	c.t.Helper()
	body, err := json.Marshal(c.result(tool, a).StructuredContent)
	var doc map[string]any
	if err = errors.Join(err, json.Unmarshal(body, &doc)); err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return doc
}

// asked requests a person's review of HEAD.
func (p *project) asked(message string) record.Review {
	p.t.Helper()
	store := p.store()
	subject, err := store.Subject(p.t.Context(), "HEAD")
	if err != nil {
		p.t.Fatal(err)
	}
	review, err := store.RequestReview(p.t.Context(),
		record.ReviewRequest{Subject: subject, Reviewer: record.Human, Message: message}, "cli")
	if err != nil {
		p.t.Fatal(err)
	}
	return review
}

// submit answers a review as a person.
func (p *project) submit(id string, person record.Person) record.Review {
	p.t.Helper()
	if person.Actor == "" {
		person.Actor = "Grace"
	}
	review, err := p.store().SubmitPerson(p.t.Context(), id, person)
	if err != nil {
		p.t.Fatal(err)
	}
	return review
}

// submitted returns a review with one comment on a line.
func (p *project) submitted() record.Review {
	p.t.Helper()
	return p.submit(p.asked("").ID, record.Person{Decision: record.RequestChanges, Message: "nearly",
		Comments: []record.Comment{
			{File: "a.txt", StartLine: 1, EndLine: 1, SelectedText: "one", Comment: "say two"},
		}})
}

func (p *project) review(id string) record.Review {
	p.t.Helper()
	review, err := p.store().Review(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return review
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q:\n%s", part, text)
		}
	}
}
