package app

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mcpServer is a git runr mcp process with pipes to it, used without a client library.
type mcpServer struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	calls int
}

func startMCP(t *testing.T, dir string, flags ...string) *mcpServer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git-runr", append([]string{"mcp"}, flags...)...)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &mcpServer{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // stop may have waited already; then the error has no meaning
	})
	s.request("initialize",
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipes","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

// request sends a request and reads its answer, which is the next line.
func (s *mcpServer) request(method, params string) json.RawMessage {
	s.t.Helper()
	s.calls++
	fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.calls, method, params)
	line, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
	var response struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &response); err != nil || response.ID != s.calls || response.Error != nil {
		s.t.Fatalf("%s: %v in %s", method, err, line)
	}
	return response.Result
}

// call calls a tool and returns its text.
func (s *mcpServer) call(tool, arguments string) (text string, failed bool) {
	s.t.Helper()
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	raw := s.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
	if err := json.Unmarshal(raw, &result); err != nil || len(result.Content) != 1 {
		s.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return result.Content[0].Text, result.IsError
}

// stop ends the process with a signal and returns how it ended.
func (s *mcpServer) stop(signal os.Signal) error {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	return s.cmd.Wait()
}

// mcpRepo returns a repository with a commit and a review of it that a person submitted.
func mcpRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for key, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "GIT_CONFIG_GLOBAL": "/dev/null",
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada",
		"GIT_COMMITTER_EMAIL": "ada@example.com",
	} {
		t.Setenv(key, value)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range []string{"git init -q", "git add .", "git commit -q -m first", "git-runr review --reviewer human",
		"git-runr inbox comment latest a.txt:1 -m why", "git-runr inbox submit latest --request-changes"} {
		mcpRun(t, dir, strings.Fields(argv)...)
	}
	return dir
}

func mcpRun(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

// TestMCPTwoConversations: one process sees at once what the other records, and only one can hold the review.
func TestMCPTwoConversations(t *testing.T) {
	dir := mcpRepo(t)
	first, second := startMCP(t, dir), startMCP(t, dir)
	if text, failed := first.call("review_inbox", `{"action":"claim","id":"latest"}`); failed {
		t.Fatal(text)
	}
	text, failed := second.call("review_inbox", `{"action":"claim","id":"latest"}`)
	if holder := fmt.Sprintf("is claimed by pipes/1-%d-", first.cmd.Process.Pid); !failed ||
		!strings.Contains(text, holder) {
		t.Errorf("second claim: %v %q, want %q", failed, text, holder)
	}
	if text, failed := second.call("review_inbox", `{"action":"resolve","id":"latest"}`); !failed {
		t.Errorf("resolved although it is claimed: %q", text)
	}
	if text, _ := second.call("review_inbox", `{"action":"get","id":"latest"}`); !strings.Contains(text, "> one\n\nwhy") {
		t.Errorf("get: %q", text)
	}
	if text, failed := first.call("review_inbox", `{"action":"resolve","id":"latest"}`); failed {
		t.Error(text)
	}
	if list := mcpRun(t, dir, "git-runr", "inbox", "list", "--status", "resolved"); !strings.Contains(list, "resolved") {
		t.Errorf("the command line shows %q", list)
	}
}

// TestMCPEndsBySignal: after a signal, with which most clients end their servers, everything that was answered is
// recorded, and claims are not released.
func TestMCPEndsBySignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := mcpRepo(t)
			s := startMCP(t, dir)
			if text, failed := s.call("review_inbox", `{"action":"claim","id":"latest"}`); failed {
				t.Fatal(text)
			}
			if err := s.stop(signal); err != nil && signal != syscall.SIGKILL {
				t.Errorf("ended with %v", err)
			}
			if list := mcpRun(t, dir, "git-runr", "inbox", "list"); !strings.Contains(list, "claimed") {
				t.Errorf("the claim is gone: %q", list)
			}
		})
	}
}

// TestMCPSurvivesItsClient: invalid lines, one of them of 50 MB, are answered, and so is the next message. Memory
// does not grow with them.
func TestMCPSurvivesItsClient(t *testing.T) {
	s := startMCP(t, mcpRepo(t))
	huge := strings.Repeat("x", 50<<20)
	for _, line := range []string{"hello", "", "{", huge,
		`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + huge + `"}}`} {
		fmt.Fprintln(s.in, line)
		if line == "" {
			continue // an empty line is ignored
		}
		answer, err := s.out.ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`) {
			t.Errorf("%.20q: %s, %v", line, answer, err)
		}
	}
	if text, failed := s.call("review_list", "{}"); failed || !strings.Contains(text, "submitted") {
		t.Errorf("after that: %s", text)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Skip("memory is not measured: there is no /proc")
	}
	var peak int
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	if peak == 0 || peak > 100<<10 {
		t.Errorf("took %d kB", peak)
	}
}

// TestMCPEndsWithItsPipes: when the client is gone, the server ends without an error message.
func TestMCPEndsWithItsPipes(t *testing.T) {
	dir := mcpRepo(t)
	for name, end := range map[string]func(s *mcpServer, out io.Closer){
		"its input": func(s *mcpServer, _ io.Closer) { s.in.Close() },
		"its output": func(s *mcpServer, out io.Closer) {
			out.Close()
			for range 3 { // the server notices when it writes
				fmt.Fprintln(s.in, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"review_list","arguments":{}}}`)
			}
			s.in.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "git-runr", "mcp")
			cmd.Dir = dir
			var said strings.Builder
			cmd.Stderr = &said
			in, inErr := cmd.StdinPipe()
			out, err := cmd.StdoutPipe()
			if err = errors.Join(inErr, err, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			s := &mcpServer{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
			s.request("initialize",
				`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipes","version":"1"}}`)
			end(s, out)
			err = cmd.Wait()
			if strings.Contains(said.String(), "panic") || strings.Contains(said.String(), "goroutine") ||
				strings.Contains(said.String(), "bug") {
				t.Errorf("ended with %v: %s", err, said.String())
			}
			if err != nil && !strings.Contains(err.Error(), "broken pipe") {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// TestMCPAtOnce: requests that arrive together are each answered on a line of its own.
func TestMCPAtOnce(t *testing.T) {
	s := startMCP(t, mcpRepo(t))
	const n = 20
	var lines strings.Builder
	for i := range n {
		tool := []string{"review_list", "review_get", "review_claim", "review_diff"}[i%4]
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{%s}}}`+"\n",
			100+i, tool, []string{"", `"id":"latest"`}[min(i%4, 1)])
	}
	io.WriteString(s.in, lines.String())
	answered := map[int]bool{}
	for range n {
		line, err := s.out.ReadBytes('\n')
		var response struct {
			ID     int
			Result struct{ IsError bool }
		}
		if err = errors.Join(err, json.Unmarshal(line, &response)); err != nil || response.Result.IsError {
			t.Fatalf("%v in %s", err, line)
		}
		answered[response.ID] = true
	}
	if len(answered) != n {
		t.Errorf("%d of %d requests are answered", len(answered), n)
	}
}
