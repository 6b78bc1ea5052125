package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// writer sends the events of an answer.
type writer struct {
	http.ResponseWriter
	asked Request
}

func (w writer) event(v object) {
	data, _ := json.Marshal(v)
	if w.asked.Form == "responses" || w.asked.Form == "messages" {
		fmt.Fprintf(w, "event: %s\n", v["type"])
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// call returns the id of the answer's call. It differs in each turn of a conversation.
func (w writer) call() string { return fmt.Sprintf("call_%d", w.asked.Turn) }

// write answers in the request's protocol. It streams, unless the request to Gemini or Messages is for a whole
// answer.
func write(w http.ResponseWriter, r Request, reply Reply, used Usage) {
	whole := map[string]func(Reply, Usage) object{"gemini": geminiAnswer, "messages": message}[r.Form]
	if whole != nil && !r.stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole(reply, used))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := writer{w, r}
	switch r.Form {
	case "responses":
		out.responses(reply, used)
	case "chat":
		out.chat(reply, used)
	case "messages":
		out.messages(reply, used)
	case "gemini":
		if reply.Cut {
			out.event(geminiAnswer(Reply{Text: half(reply)}, used))
			panic(http.ErrAbortHandler)
		}
		out.event(geminiAnswer(reply, used))
	}
}

// half returns the part of the text that is sent before the connection breaks.
func half(reply Reply) string { return reply.Text[:len(reply.Text)/2] }

// args returns the arguments of the call as JSON text.
func (r Reply) args() string {
	data, _ := json.Marshal(r.Args)
	return string(data)
}

func (w writer) responses(reply Reply, used Usage) {
	w.event(object{"type": "response.created", "response": object{"id": "answer"}})
	items := []object{}
	if reply.Text != "" {
		item := object{"type": "message", "id": "text", "role": "assistant",
			"content": []object{{"type": "output_text", "text": reply.Text}}}
		w.event(object{"type": "response.output_item.added",
			"item": object{"type": "message", "id": "text", "role": "assistant", "content": []object{}}})
		if reply.Cut {
			w.event(object{"type": "response.output_text.delta", "item_id": "text", "delta": half(reply)})
			panic(http.ErrAbortHandler)
		}
		w.event(object{"type": "response.output_text.delta", "item_id": "text", "delta": reply.Text})
		items = append(items, item)
	}
	if reply.Tool != "" {
		items = append(items, object{"type": "function_call", "id": w.call(), "call_id": w.call(), "name": reply.Tool,
			"arguments": reply.args()})
	}
	for _, item := range items {
		w.event(object{"type": "response.output_item.done", "item": item})
	}
	w.event(object{"type": "response.completed", "response": object{"id": "answer", "output": items, "usage": object{
		"input_tokens": used.Input, "input_tokens_details": object{"cached_tokens": used.Cached},
		"output_tokens": used.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": used.Input + used.Output,
	}}})
}

func (w writer) chat(reply Reply, used Usage) {
	chunk := func(delta object, finish any) {
		w.event(object{"id": "answer", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	if reply.Cut {
		chunk(object{"role": "assistant", "content": half(reply)}, nil)
		panic(http.ErrAbortHandler)
	}
	chunk(object{"role": "assistant", "content": reply.Text}, nil)
	finish := "stop"
	if reply.Tool != "" {
		finish = "tool_calls"
		chunk(object{"tool_calls": []object{{"index": 0, "id": w.call(), "type": "function",
			"function": object{"name": reply.Tool, "arguments": reply.args()}}}}, nil)
	}
	chunk(object{}, finish)
	w.event(object{"id": "answer", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
		"choices": []object{}, "usage": object{
			"prompt_tokens": used.Input, "completion_tokens": used.Output, "total_tokens": used.Input + used.Output,
			"prompt_tokens_details": object{"cached_tokens": used.Cached},
		}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (w writer) messages(reply Reply, used Usage) {
	usage := object{"input_tokens": used.Input - used.Cached, "cache_read_input_tokens": used.Cached,
		"cache_creation_input_tokens": 0, "output_tokens": 1}
	w.event(object{"type": "message_start", "message": object{"id": "answer", "type": "message", "role": "assistant",
		"model": w.asked.Model, "content": []object{}, "usage": usage}})
	block := 0
	send := func(start, delta object) {
		w.event(object{"type": "content_block_start", "index": block, "content_block": start})
		w.event(object{"type": "content_block_delta", "index": block, "delta": delta})
		if reply.Cut {
			panic(http.ErrAbortHandler)
		}
		w.event(object{"type": "content_block_stop", "index": block})
		block++
	}
	if text := reply.Text; text != "" {
		if reply.Cut {
			text = half(reply)
		}
		send(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text})
	}
	finish := "end_turn"
	if reply.Tool != "" {
		finish = "tool_use"
		send(object{"type": "tool_use", "id": w.call(), "name": reply.Tool, "input": object{}},
			object{"type": "input_json_delta", "partial_json": reply.args()})
	}
	w.event(object{"type": "message_delta", "delta": object{"stop_reason": finish},
		"usage": object{"output_tokens": used.Output}})
	w.event(object{"type": "message_stop"})
}

// message returns an answer of Anthropic's Messages that is not streamed. Tools request only text in this form.
func message(reply Reply, used Usage) object {
	return object{"id": "answer", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
		"content": []object{{"type": "text", "text": reply.Text}},
		"usage":   object{"input_tokens": used.Input, "output_tokens": used.Output}}
}

func geminiAnswer(reply Reply, used Usage) object {
	parts := []object{}
	if reply.Text != "" {
		parts = append(parts, object{"text": reply.Text})
	}
	if reply.Tool != "" {
		parts = append(parts, object{"functionCall": object{"name": reply.Tool, "args": reply.Args}})
	}
	return object{
		"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": used.Input, "cachedContentTokenCount": used.Cached,
			"candidatesTokenCount": used.Output, "totalTokenCount": used.Input + used.Output},
	}
}
