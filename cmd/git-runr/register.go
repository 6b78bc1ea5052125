package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/gitstore/safefile"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// agentTool is an agent tool that can be told of the server that git runr mcp is.
type agentTool struct {
	name string // of the tool and of its program
	path string // of its configuration, absolute
	top  string // a directory that path must not leave through links; "" for the user's own files
	keys [2]string
	// server is what stands under the keys. Its fields are in the order of the file.
	server any
	merge  func(data []byte, t agentTool) (merged []byte, err error)
}

// stdioServer is a server as claude, codex and gemini are told of it.
type stdioServer struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
}

// opencodeServer is a server as opencode is told of it.
type opencodeServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

// agentTools are the tools that are known. The files of a repository name no path, so
// that they can be committed.
func (s *console) agentTools(store *record.Store) []agentTool {
	top, server := store.Repo.WorkTree, stdioServer{"git", []string{"runr", "mcp"}}
	tools := []agentTool{
		{name: "claude", path: filepath.Join(top, ".mcp.json"), top: top, keys: [2]string{"mcpServers", "runr"}, server: server, merge: mergeJSON},
		{name: "gemini", path: filepath.Join(top, ".gemini", "settings.json"), top: top, keys: [2]string{"mcpServers", "runr"}, server: server, merge: mergeJSON},
		{name: "opencode", path: filepath.Join(top, "opencode.json"), top: top, keys: [2]string{"mcp", "runr"},
			server: opencodeServer{"local", []string{"git", "runr", "mcp"}, true}, merge: mergeJSON},
	}
	if onDisk(filepath.Join(top, "opencode.jsonc")) {
		tools[2].path += "c"
	}
	if codex := config.UnderHome(s.getenv, "CODEX_HOME", ".codex", "config.toml"); codex != "" {
		tools = append(tools, agentTool{name: "codex", path: codex, keys: [2]string{"mcp_servers", "runr"}, server: server, merge: mergeTOML})
	}
	return tools
}

// present reports whether the tool is used here.
func (t agentTool) present(path string) bool { return onDisk(t.path) || onPath(path, t.name) }

// onPath reports whether path has a program called name.
func onPath(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// The states of a registration.
const (
	registerDone    = "registered" // by this command
	registerBefore  = "present"    // already
	registerOffered = "offered"    // nobody said yes
	registerRefused = "refused"    // the file is left alone
)

// registration is what became of one tool.
type registration struct {
	Tool    string `json:"tool"`
	File    string `json:"file"`
	State   string `json:"state"`
	Detail  string `json:"detail,omitempty"`  // why it is refused
	Snippet string `json:"snippet,omitempty"` // to add by hand
}

// errOtherServer refuses a file that has something else under our name.
var errOtherServer = errors.New("it has another server called runr")

func registerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "register", Usage: "register git runr mcp with the agent tools found here, without asking"},
		&cli.BoolFlag{Name: "no-register", Usage: "do not register it, and do not ask"},
	}
}

// register tells the agent tools that it finds of git runr mcp, if that is wanted: by
// a flag, or by a person on a terminal.
func (s *session) register(store *record.Store) []registration {
	found := []registration{}
	if s.Bool("no-register") {
		return found
	}
	var tools []agentTool
	offered := false
	for _, t := range s.agentTools(store) {
		if !t.present(s.getenv("PATH")) {
			continue
		}
		state := registerOffered
		if _, err := t.plan(); errors.Is(err, errRegistered) {
			state = registerBefore
		}
		offered = offered || state == registerOffered
		tools, found = append(tools, t), append(found, registration{Tool: t.name, File: t.path, State: state})
	}
	if !offered || !s.Bool("register") && !s.confirmRegister(found) {
		return found
	}
	for i, t := range tools {
		found[i] = t.register()
	}
	return found
}

// confirmRegister asks on a terminal; without one the answer is no.
func (s *console) confirmRegister(found []registration) bool {
	tty := s.terminal()
	if tty == nil {
		return false
	}
	defer tty.Close()
	fmt.Fprintln(tty, "Coding agents can ask for reviews and read them as tools (git runr mcp). These can be told:")
	for _, r := range found {
		if r.State == registerOffered {
			fmt.Fprintf(tty, "  %s in %s\n", r.Tool, safetext.Line(r.File))
		}
	}
	fmt.Fprint(tty, "Register with them? [y/N] ")
	var answer string
	fmt.Fscanln(s.in, &answer)
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes"
}

// errRegistered ends a plan that has nothing to write.
var errRegistered = errors.New("registered already")

// maxToolFile is the largest file that is added to, in bytes.
const maxToolFile = 1 << 20

// plan is the file's new content; errRegistered when it needs none.
func (t agentTool) plan() ([]byte, error) {
	if err := t.checkLinks(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(t.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(data) > maxToolFile {
		return nil, errors.New("it is too large")
	}
	return t.merge(data, t)
}

// checkLinks keeps a file of the repository inside it: its author decides where its
// links lead.
func (t agentTool) checkLinks() error {
	if t.top == "" {
		return nil
	}
	for path := t.path; path != t.top; path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return errors.New("it is behind a symbolic link")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// register writes the tool's file, or says why not and what to add by hand.
func (t agentTool) register() registration {
	done := registration{Tool: t.name, File: t.path, State: registerDone}
	merged, err := t.plan()
	if err == nil {
		err = t.write(merged)
	}
	switch {
	case errors.Is(err, errRegistered):
		done.State = registerBefore
	case err != nil:
		done.State, done.Detail, done.Snippet = registerRefused, err.Error(), t.snippet()
	}
	return done
}

// write replaces the file as a whole. A link in the user's own files, as those who keep
// them in a repository have, stays a link.
func (t agentTool) write(data []byte) error {
	path, perm := t.path, fs.FileMode(0o666)
	if t.top == "" {
		perm = 0o600
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return safefile.WriteFile(path, data, perm)
	}
	if err := safefile.WriteFile(path, data, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()) // which the umask may have narrowed
}

// snippet is what the file should hold, to paste.
func (t agentTool) snippet() string {
	fresh, err := t.merge(nil, t)
	if err != nil { // unreachable: an empty file takes everything
		return ""
	}
	return string(fresh)
}

func writeRegistrations(w io.Writer, found []registration) {
	var offered []string
	for _, r := range found {
		switch file := safetext.Line(r.File); r.State {
		case registerDone:
			fmt.Fprintf(w, "%s: registered git runr mcp in %s\n", r.Tool, file)
		case registerBefore:
			fmt.Fprintf(w, "%s: git runr mcp is registered in %s\n", r.Tool, file)
		case registerRefused:
			fmt.Fprintf(w, "%s: left %s alone, %s; to add:\n%s", r.Tool, file, safetext.Line(r.Detail), r.Snippet)
		case registerOffered:
			offered = append(offered, r.Tool)
		}
	}
	if len(offered) > 0 {
		fmt.Fprintf(w, "To give the reviews to %s as tools, type: git runr init --register\n", strings.Join(offered, ", "))
	}
}

// asPlain is v as JSON gives it back: maps, lists and strings.
func asPlain(v any) any {
	body, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var plain any
	_ = json.Unmarshal(body, &plain) // which has just been made
	return plain
}

// holds reports whether have says all that want says; a user may have added to it.
func holds(have, want any) bool {
	object, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for key, value := range want.(map[string]any) {
		if !reflect.DeepEqual(object[key], value) {
			return false
		}
	}
	return true
}
