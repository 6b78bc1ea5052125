package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	acp "github.com/coder/acp-go-sdk"
)

var (
	errOutside = errors.New("it is not a file below the working tree")
	errNotText = errors.New("it is not a text file")
	errReads   = errors.New("a reviewer must not write")
)

// handle answers a request of the agent. There is no terminal; all other methods are unknown.
func (c *conversation) handle(m message) (response message) {
	response.Version, response.ID = m.Version, m.ID
	switch m.Method {
	case acp.ClientMethodSessionRequestPermission:
		response.Result, response.Error = answerTo(m.Params, c.permit)
	case acp.ClientMethodFsReadTextFile:
		response.Result, response.Error = answerTo(m.Params, c.readFile)
	case acp.ClientMethodFsWriteTextFile:
		response.Result, response.Error = answerTo(m.Params, c.writeFile)
	default:
		response.Error = acp.NewMethodNotFound(m.Method)
	}
	return response
}

// answerTo decodes params and calls answer with them.
func answerTo[P, R any](params json.RawMessage, answer func(P) (R, error)) (json.RawMessage, *acp.RequestError) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, acp.NewInvalidParams(err.Error())
	}
	r, err := answer(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &acp.RequestError{Code: notFound, Message: "Resource not found: " + err.Error()}
	}
	if err != nil {
		return nil, &acp.RequestError{Code: -32600, Message: err.Error()}
	}
	result, _ := json.Marshal(r) // a type of the protocol
	return result, nil
}

// notFound is the error code by which an agent knows that it may create the file.
const notFound = -32002

// permission holds the parameters of session/request_permission.
type permission struct {
	Options []acp.PermissionOption `json:"options"`
	Use     struct {
		toolUse
		Content json.RawMessage `json:"content"`
	} `json:"toolCall"`
}

// permit allows an implementer to change files below its working tree, once. Everything
// else is rejected.
func (c *conversation) permit(p permission) (acp.RequestPermissionResponse, error) {
	var answer acp.RequestPermissionResponse
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := p.Use.paths(p.Use.Content)
	if len(paths) == 0 { // they came with the notification about the call
		paths = c.heard.of(p.Use.ID)
	}
	wanted := []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
	call := c.calls[p.Use.ID]
	changes := slices.Contains(writing, p.Use.Does) || p.Use.Does == "" && call.writes
	outside := func(name string) bool { _, err := c.inside(name); return err != nil }
	call.asked = true
	c.calls[p.Use.ID] = call
	if c.ask.Role == Implementer && changes && len(paths) > 0 && !slices.ContainsFunc(paths, outside) {
		wanted = []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce}
	}
	for _, kind := range wanted {
		for _, option := range p.Options {
			if option.Kind == kind {
				answer.Outcome = acp.NewRequestPermissionOutcomeSelected(option.OptionId)
				if kind != acp.PermissionOptionKindAllowOnce {
					c.deny(p.Use.toolUse)
				}
				return answer, nil
			}
		}
	}
	c.deny(p.Use.toolUse)
	answer.Outcome = acp.NewRequestPermissionOutcomeCancelled()
	return answer, nil
}

func (c *conversation) deny(u toolUse) {
	c.heard.denied = append(c.heard.denied, visible(cmp.Or(u.Title, "a tool")))
	c.heard.drop(u.ID)
}

// inside returns the path of a file relative to the working tree. It is errOutside for
// files of git's own and for a path through a symbolic link.
func (c *conversation) inside(name string) (string, error) {
	rel := below(c.ask.Dir, []string{name})
	if len(rel) == 0 || slices.ContainsFunc(strings.Split(rel[0], "/"), func(part string) bool {
		return strings.EqualFold(part, ".git")
	}) {
		return "", fmt.Errorf("%q: %w", name, errOutside)
	}
	for at := rel[0]; at != "."; at = path.Dir(at) {
		if info, err := os.Lstat(filepath.Join(c.ask.Dir, filepath.FromSlash(at))); err == nil &&
			info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%q: %w", name, errOutside)
		}
	}
	return filepath.FromSlash(rel[0]), nil
}

// readFile answers fs/read_text_file. Lines are numbered from 1.
func (c *conversation) readFile(r acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	var answer acp.ReadTextFileResponse
	root, name, err := c.root(r.Path)
	if err != nil {
		return answer, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return answer, err
	}
	if !info.Mode().IsRegular() {
		return answer, fmt.Errorf("%q: %w", r.Path, errNotText)
	}
	f, err := root.Open(name)
	if err != nil {
		return answer, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMessage))
	if err != nil {
		return answer, err
	}
	if len(data) == maxMessage || !utf8.Valid(data) {
		return answer, fmt.Errorf("%q: %w", r.Path, errNotText)
	}
	answer.Content = someLines(string(data), r.Line, r.Limit)
	return answer, nil
}

// someLines returns at most limit lines of text, beginning with line number first.
func someLines(text string, first, limit *int) string {
	lines := strings.SplitAfter(text, "\n")
	if first != nil {
		lines = lines[min(max(0, *first-1), len(lines)):]
	}
	if limit != nil {
		lines = lines[:min(max(0, *limit), len(lines))]
	}
	return strings.Join(lines, "")
}

// writeFile answers fs/write_text_file.
func (c *conversation) writeFile(w acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	var answer acp.WriteTextFileResponse
	if c.ask.Role != Implementer {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.deny(toolUse{Title: "write " + w.Path})
		return answer, errReads
	}
	root, name, err := c.root(w.Path)
	if err != nil {
		return answer, err
	}
	defer root.Close()
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return answer, fmt.Errorf("%q: %w", w.Path, errNotText)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return answer, err
	}
	if err := root.WriteFile(name, []byte(w.Content), 0o666); err != nil {
		return answer, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.add("", w.Path)
	return answer, nil
}

// root opens the working tree, so that no link leads out of it, and returns the file's name in it.
func (c *conversation) root(file string) (*os.Root, string, error) {
	name, err := c.inside(file)
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(c.ask.Dir)
	return root, name, err
}
