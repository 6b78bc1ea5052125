//go:build unix

package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// scriptedACP is an agent that plays a script over the Agent Client Protocol.
type scriptedACP struct {
	in      *bufio.Reader
	asked   int
	session map[string]any // that it opens
}

// heardACP is a message from the client.
type heardACP struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (a *scriptedACP) read() (m heardACP) {
	line, err := a.in.ReadBytes('\n')
	if err != nil {
		return heardACP{Method: "EOF"}
	}
	if name := os.Getenv("HEARD"); name != "" {
		f, _ := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		_, _ = f.Write(line)
		_ = f.Close()
	}
	_ = json.Unmarshal(line, &m)
	return m
}

func (a *scriptedACP) say(m map[string]any) {
	m["jsonrpc"] = "2.0"
	line, _ := json.Marshal(m)
	fmt.Println(string(line))
}

func (a *scriptedACP) answer(to heardACP, result any) {
	a.say(map[string]any{"id": to.ID, "result": result})
}

func (a *scriptedACP) refuse(to heardACP, code int, message string, data any) {
	a.say(map[string]any{"id": to.ID, "error": map[string]any{"code": code, "message": message, "data": data}})
}

func (a *scriptedACP) update(kind string, more map[string]any) {
	u := map[string]any{"sessionUpdate": kind}
	for k, v := range more {
		u[k] = v
	}
	a.say(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s1", "update": u}})
}

func (a *scriptedACP) chunk(text string) {
	a.update("agent_message_chunk", map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

// ask sends a request to the client and returns the answer, or "error: " and its message.
func (a *scriptedACP) ask(method string, params map[string]any) string {
	a.asked++
	params["sessionId"] = "s1"
	a.say(map[string]any{"id": fmt.Sprintf("a%d", a.asked), "method": method, "params": params})
	m := a.read()
	if m.Error != nil {
		return strings.ReplaceAll(fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message), os.Getenv("TREE"), "TREE")
	}
	return string(m.Result)
}

// turn opens a session and returns the prompt's request.
func (a *scriptedACP) turn() heardACP {
	for {
		switch m := a.read(); m.Method {
		case "initialize":
			a.answer(m, map[string]any{"protocolVersion": 1, "authMethods": []any{
				map[string]any{"id": "x", "name": "Log in", "description": "run `tool login`"},
				map[string]any{"id": "y", "name": "Key"},
			}})
		case "session/new":
			a.answer(m, a.session)
		case "session/prompt", "EOF":
			return m
		default:
			a.answer(m, map[string]any{})
		}
	}
}

// ends ends the turn, then the session.
func (a *scriptedACP) ends(to heardACP, reason string) {
	a.answer(to, map[string]any{"stopReason": reason,
		"usage": map[string]any{"inputTokens": 10, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 30}})
}

// playACP plays the script called name and returns the exit status.
func playACP(name string) int {
	a := &scriptedACP{in: bufio.NewReader(os.Stdin), session: map[string]any{"sessionId": "s1"}}
	if status, over := a.refuses(name); over {
		return status
	}
	p := a.turn()
	switch name {
	case "writes unasked", "runs unasked":
		kind := map[string]string{"writes unasked": "edit", "runs unasked": "execute"}[name]
		a.update("tool_call", map[string]any{"toolCallId": "u", "title": "Change sum.go", "kind": kind, "status": "pending"})
		a.update("tool_call_update", map[string]any{"toolCallId": "u", "status": "completed"})
		a.talks()
		a.ends(p, "end_turn")
		return 0
	case "notice":
		a.chunk("**Warning:** billed as before")
		a.update("agent_message_chunk", map[string]any{"messageId": "m",
			"content": map[string]any{"type": "text", "text": "All is "}})
		a.update("agent_message_chunk", map[string]any{"messageId": "m",
			"content": map[string]any{"type": "text", "text": "well."}})
		a.ends(p, "end_turn")
		return 0
	case "half":
		a.chunk("fine")
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"stopRea`, p.ID)
		return 0
	case "dies":
		a.chunk("fine")
		fmt.Fprintln(os.Stderr, "out of luck")
		return 3
	case "is killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "leaves":
		a.chunk("fine")
		return 0
	case "hangs":
		a.chunk("fine")
		time.Sleep(time.Minute)
	case "fails":
		a.refuse(p, -32603, "Internal error", map[string]any{"details": "429 Too Many Requests"})
	case "floods":
		for {
			a.chunk(strings.Repeat("x", 1000))
		}
	case "asks without end":
		for i := 0; ; i++ {
			a.say(map[string]any{"id": i, "method": strings.Repeat("x", 1000)})
		}
	case "one long message":
		a.answer(p, map[string]any{"stopReason": "end_turn", "x": strings.Repeat("x", 11<<20)})
	case "answers and dies":
		a.chunk("fine")
		a.ends(p, "end_turn")
		return 7
	case "works":
		a.works()
		fallthrough
	default:
		reason, _ := strings.CutPrefix(name, "ends with ")
		if reason == name {
			reason = "end_turn"
		}
		if name != "says nothing" {
			a.talks()
		}
		a.ends(p, reason)
	}
	for a.read().Method != "EOF" {
	}
	if name == "stays" {
		time.Sleep(time.Minute)
	}
	return atoi(os.Getenv("STATUS"))
}

// refuses plays the scripts that end before a prompt.
func (a *scriptedACP) refuses(name string) (status int, over bool) {
	switch name {
	case "silent":
		time.Sleep(time.Minute)
	case "garbage":
		fmt.Println("Welcome!\n{\"id\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no object\"}\n[]")
		time.Sleep(time.Minute)
	case "banner":
		fmt.Println(
			"Welcome!\n{\"level\":\"info\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":[]}\n" +
				"{\"jsonrpc\":\"2.0\",\"method\":\"_x/y\"}\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}")
	case "no protocol":
		fmt.Fprintln(os.Stderr, "unknown option: --acp")
		return 2, true
	case "version 2":
		a.answer(a.read(), map[string]any{"protocolVersion": 2})
		a.read()
		return 0, true
	case "signed out":
		a.answer(a.read(), map[string]any{"protocolVersion": 1, "authMethods": []any{
			map[string]any{"id": "x", "name": "Log in", "description": "run `tool login`"},
			map[string]any{"id": "y", "name": "Key"},
		}})
		a.refuse(a.read(), -32000, "Authentication required", nil)
		a.read()
		return 0, true
	case "no session":
		a.session = map[string]any{"sessionId": ""}
	case "odd session":
		a.session["configOptions"] = []any{map[string]any{"id": "x", "type": "of tomorrow", "options": 7}}
		a.session["modes"] = "none"
	case "model option":
		a.session["configOptions"] = []any{map[string]any{"id": "mode", "category": "mode"},
			map[string]any{"id": "which", "category": "model"}}
	case "auto", "auto by option", "auto alone", "asking":
		a.session["modes"] = modesOf(name)
		if name == "auto by option" {
			a.session["configOptions"] = []any{map[string]any{
				"id": "how", "category": "mode", "currentValue": "auto",
				"options": []any{map[string]any{"value": "auto"}, map[string]any{"value": "read-only"}},
			}}
		}
	case "models":
		a.session["models"] = map[string]any{"currentModelId": "a", "availableModels": []any{}}
	}
	return 0, false
}

// modesOf returns the modes that the agent offers in the script called name.
func modesOf(name string) map[string]any {
	current, all := "auto", []any{map[string]any{"id": "auto"}, map[string]any{"id": "plan"},
		map[string]any{"id": "default"}}
	switch name {
	case "auto alone":
		all = all[:1]
	case "asking":
		current = "default"
	}
	return map[string]any{"currentModeId": current, "availableModes": all}
}

// talks writes text, calls a tool, and writes more text.
func (a *scriptedACP) talks() {
	a.chunk("I shall ")
	a.chunk("look.")
	a.update("agent_thought_chunk", map[string]any{"content": map[string]any{"type": "text", "text": "secret thoughts"}})
	a.update("tool_call", map[string]any{"toolCallId": "t1", "title": "Read sum.go", "kind": "read", "status": "pending",
		"locations": []any{map[string]any{"path": "/x/sum.go"}}})
	a.update("tool_call_update", map[string]any{"toolCallId": "t1", "status": "completed"})
	a.update("of tomorrow", map[string]any{"content": map[string]any{"type": "text", "text": "news"}})
	a.update("usage_update", map[string]any{"used": 1, "size": 2,
		"cost": map[string]any{"amount": 0.25, "currency": "USD"}})
	a.chunk("All is ")
	a.chunk("well.")
}

// works asks the client for files and permissions, and writes the answers to WORKED.
func (a *scriptedACP) works() {
	dir := os.Getenv("TREE")
	may := func(kind string, paths ...string) string {
		var at []any
		for _, p := range paths {
			at = append(at, map[string]any{"path": p})
		}
		return a.ask("session/request_permission", map[string]any{
			"toolCall": map[string]any{"toolCallId": "p" + kind, "title": kind + " " + strings.Join(paths, " "), "kind": kind,
				"locations": at},
			"options": []any{
				map[string]any{"optionId": "always", "name": "Always", "kind": "allow_always"},
				map[string]any{"optionId": "once", "name": "Once", "kind": "allow_once"},
				map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"},
			},
		})
	}
	announced := func(kind, path string) string { // the request repeats nothing of the use
		a.update("tool_call", map[string]any{"toolCallId": "a" + kind, "title": kind, "kind": kind, "status": "pending",
			"locations": []any{map[string]any{"path": path}}})
		return a.ask("session/request_permission", map[string]any{
			"toolCall": map[string]any{"toolCallId": "a" + kind, "title": kind + " " + path,
				"rawInput": map[string]any{"file_path": path}},
			"options": []any{map[string]any{"optionId": "once", "name": "Once", "kind": "allow_once"},
				map[string]any{"optionId": "no", "name": "No", "kind": "reject_once"}},
		})
	}
	write := func(path, text string) string {
		return a.ask("fs/write_text_file", map[string]any{"path": path, "content": text})
	}
	read := func(path string, more map[string]any) string {
		p := map[string]any{"path": path}
		for k, v := range more {
			p[k] = v
		}
		return a.ask("fs/read_text_file", p)
	}
	log := []string{
		"write " + write(dir+"/new/file.txt", "one\ntwo\nthree\n"),
		"empty " + write(dir+"/empty.txt", ""),
		"outside " + write(dir+"/../outside.txt", "x"),
		"git " + write(dir+"/.git", "gitdir: /evil"),
		"GIT " + write(dir+"/sub/.Git/config", "x"),
		"link " + write(dir+"/link", "x"),
		"behind link " + write(dir+"/out/x", "x"),
		"read " + read(dir+"/new/file.txt", nil),
		"lines " + read(dir+"/new/file.txt", map[string]any{"line": 2, "limit": 1}),
		"past " + read(dir+"/new/file.txt", map[string]any{"line": 99}),
		"none " + read(dir+"/none", nil),
		"binary " + read(dir+"/binary", nil),
		"passwd " + read("/etc/passwd", nil),
		"may edit " + may("edit", dir+"/a.txt"),
		"may edit announced " + announced("edit", dir+"/b.txt"),
		"may move announced outside " + announced("move", dir+"/../b.txt"),
		"may read announced " + announced("read", dir+"/b.txt"),
		"may edit outside " + may("edit", dir+"/a.txt", "/etc/passwd"),
		"may edit git " + may("edit", dir+"/.git/hooks/pre-push"),
		"may edit nothing " + may("edit"),
		"may execute " + may("execute", dir+"/a.txt"),
		"may read " + may("read", dir+"/a.txt"),
		"terminal " + a.ask("terminal/create", map[string]any{"command": "touch"}),
		"odd " + a.ask("fs/read_text_file", map[string]any{"path": 7}),
	}
	a.update("tool_call", map[string]any{"toolCallId": "e1", "title": "Edit", "kind": "edit",
		"locations": []any{map[string]any{"path": dir + "/edited.txt"}}})
	a.update("tool_call", map[string]any{"toolCallId": "e2", "title": "Edit", "kind": "edit",
		"locations": []any{map[string]any{"path": dir + "/failed.txt"}}})
	a.update("tool_call_update", map[string]any{"toolCallId": "e2", "status": "failed"})
	a.update("tool_call", map[string]any{"toolCallId": "e3", "title": "Write", "kind": "edit"})
	a.update("tool_call_update", map[string]any{"toolCallId": "e3", "status": "completed",
		"content": []any{map[string]any{"type": "diff", "path": dir + "/late.txt", "newText": "x"}}})
	_ = os.WriteFile(os.Getenv("WORKED"), []byte(strings.Join(log, "\n")), 0o600)
}
