package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// refusal is an error whose text is complete and needs no advice.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// explain returns err as one line for a model: what is wrong, and what to do.
func explain(err error) error {
	if said, ok := errors.AsType[refusal](err); ok {
		return refusal(clip(safetext.Text(said.Error()), 2*maxString))
	}
	return refusal(clip(safetext.Line(explanation(err)), maxString))
}

func explanation(err error) string {
	if missing := new(record.NotFoundError); errors.As(err, &missing) {
		return notFound(missing)
	}
	if state := new(record.StateError); errors.As(err, &state) {
		return stateRefused(state)
	}
	if nothing := new(intake.NothingError); errors.As(err, &nothing) {
		text := fmt.Sprintf("Error: %v.", nothing)
		for _, step := range nothing.Try {
			text += fmt.Sprintf(" For %s: %s.", step.What, step.Command)
		}
		return text
	}
	if errors.Is(err, context.Canceled) {
		return "Error: cancelled."
	}
	then := strings.Join(exit.Classify(err).Hint, " ")
	switch status := exit.Classify(err).Status; {
	case errors.Is(err, gitstore.ErrNotRepository):
		then = "start the agent in a git repository, or register: git runr -C DIR mcp"
	case status == exit.Bug:
		then = ""
	case status == exit.Busy:
		then = cmp.Or(then, "try again")
	}
	if then == "" {
		return fmt.Sprintf("Error: %v.", err)
	}
	return fmt.Sprintf("Error: %v: %s.", err, then)
}

func notFound(e *record.NotFoundError) string {
	switch {
	case len(e.Among) > 0:
		return fmt.Sprintf("Error: %v: give the id of one of these: %s.", e, strings.Join(e.Lines(), "; "))
	case e.ID == record.Latest:
		return fmt.Sprintf("Error: %v.", e)
	case e.What == "review":
		return fmt.Sprintf("Review %s not found. Use review_list to see what there is.", e.ID)
	}
	return fmt.Sprintf("Error: %v: the ids are in review_get.", e)
}

// stateAdvice says what to do if a review is in the wrong state for an action.
var stateAdvice = map[string]string{
	string(record.ReviewOpen): "nobody has submitted it yet, a person answers later: go on and look again " +
		"another time",
	string(record.ReviewSubmitted): "claim it first with review_claim",
	string(record.ReviewResolved): "it was dealt with already; to take that back a person types: " +
		"git runr inbox reopen ID",
	string(record.ReviewCancelled): "ask for a new one with review; to take the cancellation back a person types: git " +
		"runr inbox reopen ID",
}

func stateRefused(e *record.StateError) string {
	if e.Holder != "" {
		return fmt.Sprintf("Error: %v: leave it to them, or pass force when the user says that you should take it over.", e)
	}
	if then, known := stateAdvice[e.Status]; known {
		return fmt.Sprintf("Error: %v: %s.", e, then)
	}
	return fmt.Sprintf("Error: %v.", e)
}

// told returns err as the protocol's library may send it: with a code, without names of our types, and short.
func told(err error) error {
	said := jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		said.Code, said.Message = jsonrpc.CodeInvalidParams,
			strings.TrimSuffix("params."+wrong.Field, ".")+" has the wrong type for this method"
	} else if known := new(jsonrpc.Error); errors.As(err, &known) && known.Code != 0 {
		said.Code, said.Data = known.Code, known.Data
	} else if strings.Contains(said.Message, "during session initialization") {
		said.Code, said.Message = jsonrpc.CodeInvalidRequest, "initialize comes first"
	}
	said.Message = line(said.Message, maxString)
	return &said
}

// protocolError returns err for requests whose results have no place for errors.
func protocolError(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: explain(err).Error()}
}
