// Package model is a scripted language model on loopback that real agent tools take for
// their provider's. It speaks four forms: OpenAI's Responses and Chat Completions,
// Anthropic's Messages and Google's generateContent. Every request is kept, so that a test
// can say what a tool was told, with which key, and which tools it offered.
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

// Script answers a request. It is asked by several requests at once.
type Script func(Request) Reply

// Request is what a tool asked, whatever its form.
type Request struct {
	Form   string   // responses, chat, messages or gemini
	Model  string   // that it asks for
	Key    string   // that it came with
	Prompt string   // the last message of the user
	Turn   int      // how many results of tools followed it
	Tools  []string // that the model may call
	Body   string   // as it came
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

// Told reports whether text stands anywhere in what the tool sent.
func (r Request) Told(text string) bool {
	quoted, _ := json.Marshal(text)
	return strings.Contains(r.Body, text) || strings.Contains(r.Body, string(quoted[1:len(quoted)-1]))
}

// Reply is an answer of the model, or a fault. The zero Reply is an empty answer.
type Reply struct {
	Text string
	Tool string // to call after Text; "" for none
	Args map[string]any

	Status     int           // of an error instead of the answer
	Message    string        // of that error
	RetryAfter string        // its header
	Quota      time.Duration // an error instead: all is used up for so long, in the words of the form's provider
	Cut        bool          // the connection breaks in the middle of Text
	Hang       bool          // nothing follows the header until the tool gives up
}

// Usage is what the model counts for a request and its answer.
type Usage struct {
	Input  int // with those of a cache
	Cached int
	Output int
}

// Server is a model that listens on loopback.
type Server struct {
	URL    string
	script Script

	mu       sync.Mutex
	requests []Request
	others   []string // requests that are no question to a model
	counted  []counted
}

// Start serves script on a port of its own until stop is called.
func Start(script Script) (s *Server, stop func()) {
	s = &Server{script: script}
	web := httptest.NewServer(s)
	s.URL = web.URL
	return s, func() {
		web.CloseClientConnections()
		web.Close()
	}
}

// Requests are those to the model so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Others are the remaining requests so far: method and path.
func (s *Server) Others() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.others...)
}

// counted is what one answer took.
type counted struct {
	of   Request
	used Usage
}

// Counted is the sum of the answers so far to requests that are meant.
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

// usedUp says that nothing is left for a while, as the providers do.
func usedUp(w http.ResponseWriter, form string, pause time.Duration) {
	seconds, back := int(pause.Seconds()), time.Now().Add(pause).Unix()
	body := fmt.Sprintf(`{"error":{"message":"Rate limit reached for requests per day: Limit 1, Used 1. Please try again in %s.","type":"requests","code":"rate_limit_exceeded"}}`, pause)
	switch form {
	case "responses":
		body = fmt.Sprintf(`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":%d,"resets_in_seconds":%d}}`, back, seconds)
	case "messages":
		w.Header().Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		w.Header().Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
		w.Header().Set("Anthropic-Ratelimit-Unified-Reset", fmt.Sprint(back))
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		body = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`
	case "gemini":
		body = fmt.Sprintf(`{"error":{"code":429,"message":"You exceeded your current quota. Please retry in %ds.","status":"RESOURCE_EXHAUSTED","details":[`+
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
