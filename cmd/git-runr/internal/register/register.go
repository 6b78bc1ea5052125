// Package register tells the coding agents that are used here of git runr mcp, in their own
// configuration files, whose other bytes stay as they are.
package register

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/gitstore/safefile"
)

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

// Tools are the tools that are used here, with a file or a program on PATH. The files
// of a repository name no path, so that they can be committed.
func Tools(top string, getenv func(string) string) []Tool {
	server := stdioServer{"git", []string{"runr", "mcp"}}
	tools := []Tool{
		{name: "claude", path: filepath.Join(top, ".mcp.json"), top: top, keys: [2]string{"mcpServers", "runr"}, server: server, merge: mergeJSON},
		{name: "gemini", path: filepath.Join(top, ".gemini", "settings.json"), top: top, keys: [2]string{"mcpServers", "runr"}, server: server, merge: mergeJSON},
		{name: "opencode", path: filepath.Join(top, "opencode.json"), top: top, keys: [2]string{"mcp", "runr"},
			server: opencodeServer{"local", []string{"git", "runr", "mcp"}, true}, merge: mergeJSON},
	}
	if isThere(filepath.Join(top, "opencode.jsonc")) {
		tools[2].path += "c"
	}
	if codex := config.UnderHome(getenv, "CODEX_HOME", ".codex", "config.toml"); codex != "" {
		tools = append(tools, Tool{name: "codex", path: codex, keys: [2]string{"mcp_servers", "runr"}, server: server, merge: mergeTOML})
	}
	return slices.DeleteFunc(tools, func(t Tool) bool { return !isThere(t.path) && !onPath(getenv("PATH"), t.name) })
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

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
	Done    = "registered" // by this command
	Before  = "present"    // already
	Offered = "offered"    // nobody said yes
	Refused = "refused"    // the file is left alone
)

// Registration is what became of one tool.
type Registration struct {
	Tool    string `json:"tool"`
	File    string `json:"file"`
	State   string `json:"state"`
	Detail  string `json:"detail,omitempty"`  // why it is refused
	Snippet string `json:"snippet,omitempty"` // to add by hand
}

// maxToolFile is the largest file that is added to, in bytes.
const maxToolFile = 1 << 20

// plan is the file's new content; errRegistered when it needs none.
func (t Tool) plan() ([]byte, error) {
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
func (t Tool) checkLinks() error {
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

// Standing is whether the tool has been told already.
func (t Tool) Standing() Registration {
	state := Offered
	if _, err := t.plan(); errors.Is(err, errRegistered) {
		state = Before
	}
	return Registration{Tool: t.name, File: t.path, State: state}
}

// Register writes the tool's file, or says why not and what to add by hand.
func (t Tool) Register() Registration {
	done := Registration{Tool: t.name, File: t.path, State: Done}
	merged, err := t.plan()
	if err == nil {
		err = t.write(merged)
	}
	switch {
	case errors.Is(err, errRegistered):
		done.State = Before
	case err != nil:
		done.State, done.Detail, done.Snippet = Refused, err.Error(), t.snippet()
	}
	return done
}

// write replaces the file as a whole. A link in the user's own files, as those who keep
// them in a repository have, stays a link.
func (t Tool) write(data []byte) error {
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
	return safefile.WriteExact(path, data, info.Mode().Perm())
}

// snippet is what the file should hold, to paste.
func (t Tool) snippet() string {
	fresh, err := t.merge(nil, t)
	if err != nil { // unreachable: an empty file takes everything
		return ""
	}
	return string(fresh)
}
