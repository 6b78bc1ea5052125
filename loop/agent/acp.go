package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/loop/spend"

	acp "github.com/coder/acp-go-sdk"
)

// ACP is the value of Spec.Protocol for the Agent Client Protocol, https://agentclientprotocol.com:
// JSON-RPC on the command's standard streams, one message a line.
const ACP = "acp"

const (
	// maxMessage is the longest message from the agent that is read.
	maxMessage = 10<<20 - 1
	// maxTalk is how many bytes an agent may write in one call, and so bounds what is kept of it.
	maxTalk = 256 << 20
	// maxAsked is how many of the agent's requests may wait for an answer.
	maxAsked = 64
)

// conversation is one call of an agent by ACP: a session, a prompt, an answer. We make one request at a time.
type conversation struct {
	ask  Ask // without the model if an argument of the command names it
	form acpForm

	mu       sync.Mutex // guards the fields below
	heard    outcome
	said     []byte            // the final message so far
	asking   string            // the id of the request that the agent has not answered, "" for none
	requests int               // made so far
	message  string            // the id of the current message
	calls    map[string]called // by the id of the tool call

	size     int64         // bytes that the agent wrote
	answered chan message  // the response to our request
	asked    chan message  // the agent's requests
	gone     chan struct{} // closed when the agent writes nothing more, or nobody reads it
	hung     sync.Once     // for closing gone
	over     chan struct{} // closed when no request is handled any more
	writing  sync.Mutex    // guards to
	to       io.Writer     // the agent
}

// newConversation returns the conversation for ask. named is true if an argument of the command names the model.
func newConversation(ask Ask, named bool, form acpForm) *conversation {
	if named {
		ask.Model = ""
	}
	if dir, err := filepath.Abs(ask.Dir); err == nil {
		ask.Dir = dir
	}
	return &conversation{ask: ask, form: form, calls: map[string]called{}, answered: make(chan message, 1),
		asked: make(chan message, maxAsked), gone: make(chan struct{}), over: make(chan struct{})}
}

// message is one JSON-RPC message of either side.
type message struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id,omitempty"`
	Method  string            `json:"method,omitempty"`
	Params  json.RawMessage   `json:"params,omitempty"`
	Result  json.RawMessage   `json:"result,omitempty"`
	Error   *acp.RequestError `json:"error,omitempty"`
}

// event reads one line of the agent. A line that is not a message is the tool's own output.
func (c *conversation) event(line []byte) (show string, noise bool) {
	if c.size += int64(len(line)); c.size > maxTalk {
		c.giveUp(fmt.Sprintf("it wrote more than %d MiB", maxTalk>>20))
		return "", true
	}
	var m message
	if !decode(line, &m) || m.Version != "2.0" {
		return "", false
	}
	if len(m.ID) == 0 || string(m.ID) == "null" {
		if m.Method == acp.ClientMethodSessionUpdate {
			show = c.update(m.Params)
		}
		return show, false
	}
	if len(line) >= maxMessage {
		c.giveUp(fmt.Sprintf("it wrote a message of more than %d MiB", maxMessage>>20))
		return "", false
	}
	if m.Method != "" {
		select {
		case c.asked <- m:
		case <-c.over:
		}
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if string(m.ID) == c.asking {
		c.asking = ""
		c.answered <- m
	}
	return "", false
}

// giveUp fails the conversation for a reason and ends it.
func (c *conversation) giveUp(why string) {
	c.fail(why)
	c.hangUp()
}

func (c *conversation) fail(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.fail = cmp.Or(c.heard.fail, why)
}

// hangUp ends the input from the agent.
func (c *conversation) hangUp() { c.hung.Do(func() { close(c.gone) }) }

// send writes a message to the agent. An error means that the agent has exited, as the end of its output will show.
func (c *conversation) send(m message) {
	line, _ := json.Marshal(m) // of types that can be encoded
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.to.Write(append(line, '\n'))
}

// talk runs the conversation until the agent's turn ends or cannot succeed any more, and
// reports whether it ended well.
func (c *conversation) talk(to io.Writer) bool {
	c.to = to
	go func() {
		for {
			select {
			case m := <-c.asked:
				c.send(c.handle(m))
			case <-c.over:
				return
			}
		}
	}()
	err := c.promptTurn()
	close(c.over)
	if err != nil && !errors.Is(err, errLost) { // the end of the command explains errLost
		c.fail(err.Error())
	}
	return err == nil
}

var errLost = errors.New("the agent has exited")

// opened is the part of a session/new response that is used. The library's own type rejects
// the whole response for one unknown word in its unstable parts.
type opened struct {
	ID     acp.SessionId `json:"sessionId"`
	Models *struct {
		Available []struct {
			ID string `json:"modelId"`
		} `json:"availableModels"`
	} `json:"models"`
	Modes   json.RawMessage `json:"modes"`
	Options []struct {
		ID       string          `json:"id"`
		Category string          `json:"category"`
		Current  any             `json:"currentValue"`
		Choices  json.RawMessage `json:"options"`
	} `json:"configOptions"`
}

// promptTurn makes all requests: initialize, open a session, choose model and mode, prompt.
func (c *conversation) promptTurn() error {
	var hello struct {
		Version int `json:"protocolVersion"`
		Auth    []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"authMethods"`
	}
	if err := c.request(acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "git-runr", Version: "1"},
		ClientCapabilities: acp.ClientCapabilities{
			Fs: acp.FileSystemCapabilities{ReadTextFile: !c.form.ReadsItself, WriteTextFile: c.ask.Role == Implementer},
		},
	}, &hello); err != nil {
		return err
	}
	if hello.Version != acp.ProtocolVersionNumber {
		return fmt.Errorf("it speaks version %d of the Agent Client Protocol, not %d", hello.Version,
			acp.ProtocolVersionNumber)
	}
	err := c.promptInSession()
	if refused := (refusedError{}); errors.As(err, &refused) && refused.Code == authRequired {
		var ways []string
		for _, way := range hello.Auth {
			ways = append(ways, strings.TrimSuffix(way.Name+": "+way.Description, ": "))
		}
		return errors.New("not signed in: " + join(refused.Error(), strings.Join(ways, "; ")))
	}
	return err
}

// promptInSession opens a session, chooses its model and mode, and prompts in it.
func (c *conversation) promptInSession() error {
	var session opened
	request := acp.NewSessionRequest{Cwd: c.ask.Dir, McpServers: []acp.McpServer{}, Meta: claudeOptions(c.ask.Role)}
	if err := c.request(acp.AgentMethodSessionNew, request, &session); err != nil {
		return err
	}
	if session.ID == "" {
		return errors.New("it opened no session")
	}
	if err := c.choose(session); err != nil {
		return err
	}
	if err := c.askFirst(session); err != nil {
		return err
	}
	return c.prompt(session.ID)
}

const authRequired = -32000

// choose sets the session's model to the requested one.
func (c *conversation) choose(session opened) error {
	if c.ask.Model == "" {
		return nil
	}
	for _, option := range session.Options {
		if cmp.Or(option.Category, option.ID) == "model" {
			return c.request(acp.AgentMethodSessionSetConfigOption,
				map[string]any{"sessionId": session.ID, "configId": option.ID, "value": c.ask.Model}, nil)
		}
	}
	if session.Models == nil {
		return fmt.Errorf(
			"unknown model %q: it accepts no choice of model; set it in the agent's own configuration, or with args",
			c.ask.Model)
	}
	return c.request(acp.AgentMethodSessionSetModel,
		map[string]any{"sessionId": session.ID, "modelId": c.ask.Model}, nil)
}

// prompt sends the prompt and waits until the agent's turn ends.
func (c *conversation) prompt(id acp.SessionId) error {
	var done turned
	err := c.request(acp.AgentMethodSessionPrompt,
		acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(c.ask.Prompt)}}, &done)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.seen = true
	c.heard.taken = c.heard.taken.Add(done.usage())
	switch why := done.Reason; why {
	case acp.StopReasonEndTurn:
		c.heard.done = true
		return nil
	case acp.StopReasonRefusal:
		return errors.New(join("it refused", excerpt(string(c.said))))
	case acp.StopReasonCancelled:
		return errors.New("it cancelled its turn")
	case acp.StopReasonMaxTokens, acp.StopReasonMaxTurnRequests:
		return fmt.Errorf("the answer was cut short: %s", why)
	default:
		return fmt.Errorf("it ended its turn for no known reason: %q", why)
	}
}

// turned is a response to session/prompt.
type turned struct {
	Reason acp.StopReason `json:"stopReason"`
	Usage  struct {
		Input   int64 `json:"inputTokens"`
		Output  int64 `json:"outputTokens"`
		Thought int64 `json:"thoughtTokens"`
		Read    int64 `json:"cachedReadTokens"`
		Write   int64 `json:"cachedWriteTokens"`
	} `json:"usage"`
	Meta struct {
		Quota struct {
			Count struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		} `json:"quota"`
	} `json:"_meta"`
}

func (e turned) usage() spend.Usage {
	u, quota := e.Usage, e.Meta.Quota.Count
	return spend.Usage{
		Input: cmp.Or(u.Input+u.Read+u.Write, quota.Input), Cached: u.Read, Output: cmp.Or(u.Output+u.Thought, quota.Output),
	}
}

// request sends a request and decodes the result into into. It records the method while it waits.
// The error is errLost if the agent exited without an answer.
func (c *conversation) request(method string, params, into any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.requests++
	id := strconv.Itoa(c.requests)
	c.asking, c.heard.waits = id, method
	c.mu.Unlock()
	c.send(message{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: body})
	var m message
	select {
	case m = <-c.answered:
	case <-c.gone:
		select {
		case m = <-c.answered: // just before it exited
		default:
			return errLost
		}
	}
	c.mu.Lock()
	c.heard.waits = ""
	c.mu.Unlock()
	if m.Error != nil {
		return refusedError{m.Error}
	}
	if into != nil && (len(m.Result) == 0 || json.Unmarshal(m.Result, into) != nil) {
		return fmt.Errorf("it answered %s with %q", method, visible(string(m.Result)))
	}
	return nil
}

// refusedError is an error response, in the agent's words.
type refusedError struct{ *acp.RequestError }

func (e refusedError) Error() string {
	words := cmp.Or(e.Message, fmt.Sprintf("error %d", e.Code))
	if data, err := json.Marshal(e.Data); err == nil && e.Data != nil {
		words += " " + strings.Trim(string(data), `"`)
	}
	return words
}

// answer is called when the conversation is over.
func (c *conversation) answer() Answer {
	told := c.told()
	told.text = string(c.said)
	return told.answer()
}

func (c *conversation) told() *outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &c.heard
}

// update reads a notification and returns what to show of it.
func (c *conversation) update(params []byte) string {
	var told struct {
		Update struct {
			Kind    string          `json:"sessionUpdate"`
			Message string          `json:"messageId"`
			Content json.RawMessage `json:"content"`
			Cost    struct {
				Amount   float64 `json:"amount"`
				Currency string  `json:"currency"`
			} `json:"cost"`
			toolUse
		} `json:"update"`
	}
	if json.Unmarshal(params, &told) != nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard.seen = true
	u := told.Update
	switch u.Kind {
	case "agent_message_chunk":
		return c.chunk(u.Message, u.Content)
	case "user_message_chunk":
		c.said = c.said[:0]
	case "tool_call", "tool_call_update":
		return c.use(u.Kind, u.toolUse, u.Content)
	case "usage_update":
		if strings.EqualFold(u.Cost.Currency, "USD") {
			c.heard.taken.Cost = max(c.heard.taken.Cost, u.Cost.Amount)
		}
	}
	return ""
}

// chunk appends a piece of the agent's message and returns its current line. A new message begins a
// new paragraph: claude-agent-acp sends notices before the answer, whose first line must stay a line of its own.
func (c *conversation) chunk(message string, content json.RawMessage) string {
	var p struct{ Type, Text string }
	if json.Unmarshal(content, &p) != nil || p.Type != "text" {
		return ""
	}
	if c.message != message && len(c.said) > 0 {
		c.said = append(c.said, "\n\n"...)
	}
	c.message = message
	if c.said = append(c.said, p.Text...); len(c.said) > defaultMaxOutput {
		c.said = nil
		c.heard.fail = fmt.Sprintf("the answer is longer than %d bytes", defaultMaxOutput)
		c.hangUp()
	}
	end := bytes.TrimSpace(c.said[max(0, len(c.said)-maxShown):])
	return string(end[bytes.LastIndexByte(end, '\n')+1:])
}

// toolUse is the part of a tool call that is used.
type toolUse struct {
	ID        string `json:"toolCallId"`
	Title     string `json:"title"`
	Does      string `json:"kind"`
	Status    string `json:"status"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// writing lists the kinds of tools that change files.
var writing = []string{string(acp.ToolKindEdit), string(acp.ToolKindDelete), string(acp.ToolKindMove)}

// paths returns the files that a tool call names.
func (u toolUse) paths(content json.RawMessage) []string {
	var diffs []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	_ = json.Unmarshal(content, &diffs) // content of another shape names no file
	var paths []string
	for _, l := range u.Locations {
		paths = append(paths, l.Path)
	}
	for _, d := range diffs {
		if d.Type == "diff" {
			paths = append(paths, d.Path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// called is what is known of a tool call.
type called struct {
	title  string
	writes bool // it changes files
	acts   bool // it may change more than it reports
	asked  bool // it asked the client for permission
}

// use records a tool call. Text before the call is not part of the answer. A reviewer that changes
// anything without asking fails, because nothing keeps it from writing.
func (c *conversation) use(event string, u toolUse, content json.RawMessage) string {
	call, known := c.calls[u.ID]
	if !known || event == "tool_call" {
		c.said = c.said[:0]
	}
	call.title = cmp.Or(u.Title, call.title)
	paths := u.paths(content)
	call.writes = call.writes || slices.Contains(writing, u.Does)
	if c.form.Proven { // it names each changed file; a call of a tool that a reviewer lacks ends without one
		call.acts = call.acts || call.writes && len(paths) > 0
	} else {
		call.acts = call.acts || call.writes || u.Does == string(acp.ToolKindExecute)
	}
	c.calls[u.ID] = call
	if call.writes {
		c.heard.add(u.ID, paths...)
	}
	if u.Status == "failed" {
		c.heard.drop(u.ID)
	}
	if c.ask.Role != Implementer && u.Status == "completed" && call.acts && !call.asked {
		c.heard.fail = fmt.Sprintf("as a reviewer it did %q without asking, so nothing keeps it from writing",
			visible(call.title))
		c.hangUp()
	}
	return u.Title
}
