// Package mcp offers the inbox of a repository to coding agents as tools of the Model Context Protocol, on standard
// input and output: review, review_get, review_answer, diagnose and others. The tools do the same as the commands. No
// tool but review_wait waits: an agent requests a review and reads it when it is there.
package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/record"
)

// Server answers the agent at the other end of one connection.
type Server struct {
	screens.Tools
	sdk     *sdk.Server
	schemas map[string]*jsonschema.Schema // of the arguments of each tool
	actor   func(client string) string
	claims  claims
}

// call is one call of a tool.
type call struct {
	*screens.Project
	actor string                                       // the name under which this server acts
	tell  func(message string, done, of time.Duration) // reports progress, if the client requested it
}

// outcome is the result of a tool: text for the model, and a document for clients that prefer one. Both have the same
// content.
type outcome struct {
	text string
	doc  any
}

// handler makes a tool of do. Errors of do are results for the model; only protocol errors are errors of the protocol.
func handler[In any](s *Server, do func(context.Context, call, In) (outcome, error)) sdk.ToolHandlerFor[In, any] {
	return func(ctx context.Context, req *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		project, err := s.Open(ctx)
		if err != nil {
			return nil, nil, explain(err)
		}
		defer project.Close()
		got, err := do(ctx, call{project, s.actor(clientOf(req)), teller(ctx, req)}, in)
		if err != nil {
			return nil, nil, explain(err)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: bounded(got.text, maxAnswer)}}}, got.doc, nil
	}
}

// ofReview makes a tool of do that works on the review that the arguments name.
func ofReview[In interface{ id() string }](do func(context.Context, call, record.Review, In) (outcome, error),
) func(context.Context, call, In) (outcome, error) {
	return func(ctx context.Context, c call, in In) (outcome, error) {
		review, err := c.Store.Review(ctx, in.id())
		if err != nil {
			return outcome{}, err
		}
		return do(ctx, c, review, in)
	}
}

// teller returns a function that reports the progress of a call, if the client requested that.
func teller(ctx context.Context, req *sdk.CallToolRequest) func(message string, done, of time.Duration) {
	token := req.Params.GetProgressToken()
	return func(message string, done, of time.Duration) {
		if token != nil { // the client may be gone
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message,
				Progress: done.Seconds(), Total: of.Seconds()})
		}
	}
}

// clientOf returns the name of the client program.
func clientOf(req *sdk.CallToolRequest) string {
	info := req.ClientInfo()
	if info == nil || plainName(info.Name) == "" {
		return "agent"
	}
	if version := plainName(info.Version); version != "" {
		return plainName(info.Name) + "/" + version
	}
	return plainName(info.Name)
}

// plainName returns a client's name for itself as one short word.
func plainName(name string) string {
	word := notPlain().ReplaceAllString(strings.ReplaceAll(name, " ", "-"), "")
	return word[:min(len(word), 40)]
}

// notPlain matches what is no part of a plain name.
var notPlain = lazyre.Compile(`[^a-zA-Z0-9._-]+`)

// onceNamed returns a function that names the actor of this process: the same at every call, and different from that
// of every other process, so that two chats cannot share a claim.
func onceNamed() func(client string) string {
	var once sync.Once
	var name string
	return func(client string) string {
		once.Do(func() {
			name = fmt.Sprintf("%s-%d-%s", client, os.Getpid(), strings.ToLower(rand.Text()[:8]))
		})
		return name
	}
}

// claims are the reviews that this process has claimed: id to record.Hold, with actor and claim.
type claims struct{ sync.Map }

// under returns the claim under which actor acts here, or "".
func (c *claims) under(review, actor string) gitstore.ID {
	held, _ := c.Load(review)
	if by, ok := held.(record.Hold); ok && by.Actor == actor {
		return by.Claim
	}
	return ""
}
