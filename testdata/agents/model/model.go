// Package model is a scripted language model on loopback, for tests with real agent tools, which use it in place of
// their provider. It supports four protocols: OpenAI's Responses and Chat Completions, Anthropic's Messages and
// Google's generateContent. It records every request, so that a test can check what a tool sent, with which key, and
// which tools it offered.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Script answers a request. Several requests may call it at once.
type Script func(Request) Reply

// Request is a tool's request, in any protocol.
type Request struct {
	Form   string   // responses, chat, messages or gemini
	Model  string   // the requested model
	Key    string   // the key of the request
	Prompt string   // the last message of the user
	Turn   int      // the number of tool results after it
	Tools  []string // that the model may call
	Body   string   // the raw body
	stream bool
}

// Offers reports whether the model may call the tool.
func (r Request) Offers(tool string) bool {
	for _, t := range r.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// Told reports whether the request contains text.
func (r Request) Told(text string) bool {
	quoted, _ := json.Marshal(text)
	return strings.Contains(r.Body, text) || strings.Contains(r.Body, string(quoted[1:len(quoted)-1]))
}

// Reply is an answer of the model, or a fault. The zero Reply is an empty answer.
type Reply struct {
	Text string
	Tool string // to call after Text; "" for none
	Args map[string]any

	Status     int           // send an error with this status in place of an answer
	Message    string        // the message of that error
	RetryAfter string        // its Retry-After header
	Quota      time.Duration // send an error: the quota is used up for this time, in the words of the provider
	Cut        bool          // the connection breaks in the middle of Text
	Hang       bool          // nothing follows the header until the tool gives up
}

// Usage is the number of tokens of a request and its answer.
type Usage struct {
	Input  int // with the cached ones
	Cached int
	Output int
}

// Server is a model that listens on loopback.
type Server struct {
	URL    string
	script Script

	mu       sync.Mutex
	requests []Request
	others   []string // requests that are not to a model
	counted  []counted
}

// Start serves script on a free port until stop is called.
func Start(script Script) (s *Server, stop func()) {
	s = &Server{script: script}
	web := httptest.NewServer(s)
	s.URL = web.URL
	return s, func() {
		web.CloseClientConnections()
		web.Close()
	}
}

// Requests returns the requests to the model so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Others returns the other requests so far, as method and path.
func (s *Server) Others() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.others...)
}

// counted is the usage of one answer.
type counted struct {
	of   Request
	used Usage
}

// Counted returns the total usage of the answers to those requests for which meant returns true.
func (s *Server) Counted(meant func(Request) bool) (sum Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.counted {
		if meant(c.of) {
			sum = Usage{sum.Input + c.used.Input, sum.Cached + c.used.Cached, sum.Output + c.used.Output}
		}
	}
	return sum
}

func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r, ok := read(q, body)
	if !ok {
		s.mu.Lock()
		s.others = append(s.others, q.Method+" "+q.URL.Path)
		s.mu.Unlock()
		fail(w, Reply{Status: http.StatusNotFound, Message: "no such path"})
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	switch reply := s.script(r); {
	case reply.Hang:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	case reply.Quota != 0:
		usedUp(w, r.Form, reply.Quota)
	case reply.Status != 0:
		fail(w, reply)
	default:
		used := Usage{Input: 100 + len(body)/4, Cached: 40, Output: 7 + len(reply.Text)/4}
		write(w, r, reply, used)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.counted = append(s.counted, counted{r, used})
	}
}

// usedUp answers that the quota is used up for a while, as each provider does.
func usedUp(w http.ResponseWriter, form string, pause time.Duration) {
	seconds, back := int(pause.Seconds()), time.Now().Add(pause).Unix()
	body := fmt.Sprintf(
		`{"error":{"message":"Rate limit reached for requests per day: Limit 1, Used 1. Please try again in %s.","type":"requests","code":"rate_limit_exceeded"}}`, pause)
	switch form {
	case "responses":
		body = fmt.Sprintf(
			`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":%d,"resets_in_seconds":%d}}`, back, seconds)
	case "messages":
		w.Header().Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		w.Header().Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
		w.Header().Set("Anthropic-Ratelimit-Unified-Reset", fmt.Sprint(back))
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		body = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`
	case "gemini":
		body = fmt.Sprintf(
			`{"error":{"code":429,"message":"You exceeded your current quota. Please retry in %ds.","status":"RESOURCE_EXHAUSTED","details":[`+
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%ds"}]}}`, seconds, seconds)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, body)
}

func fail(w http.ResponseWriter, reply Reply) {
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(reply.Status)
	message, _ := json.Marshal(reply.Message)
	fmt.Fprintf(w, `{"type":"error","error":{"type":"scripted_error","code":%d,"message":%s}}`, reply.Status, message)
}
