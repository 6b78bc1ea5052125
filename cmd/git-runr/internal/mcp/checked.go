package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// checked examines requests before the protocol's library does. It accepts common mistakes of models in arguments, and
// refuses others in one sentence.
func (s *Server) checked(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if params, call := req.GetParams().(*sdk.CallToolParamsRaw); call {
			if why, err := s.fitCall(params); err != nil {
				return nil, err
			} else if why != "" {
				result := &sdk.CallToolResult{}
				result.SetError(explain(refusal("Error: " + why + ".")))
				return result, nil
			}
		}
		return next(ctx, method, req)
	}
}

// fitCall converts the arguments of a call to the schema of its tool. why says what does not fit.
func (s *Server) fitCall(params *sdk.CallToolParamsRaw) (why string, err error) {
	in := any(map[string]any{})
	if len(params.Arguments) > 0 && json.Unmarshal(params.Arguments, &in) == nil && in == nil {
		in = map[string]any{}
	}
	args, object := in.(map[string]any)
	if !object {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params.arguments is not an object"}
	}
	if params.Name == inboxTool && !s.ReadOnly {
		action, _ := args["action"].(string)
		if params.Name = "review_" + strings.ToLower(action); !slices.Contains(inboxActions, strings.ToLower(action)) {
			return "action must be one of " + strings.Join(inboxActions, ", "), nil
		}
		delete(args, "action")
	}
	schema := s.schemas[params.Name]
	if schema == nil {
		return "", nil // the library reports the unknown tool
	}
	fitted, why := fit(schema, "", args)
	if why == "" {
		params.Arguments, err = json.Marshal(fitted)
	}
	return why, err
}

// inboxTool is a tool of earlier versions that did several things, by an action. It works, but is not listed.
const inboxTool = "review_inbox"

var inboxActions = []string{"list", "get", "claim", "release", "resolve", "answer"}

// habits are argument names that models use by habit, each with the real names that it may mean.
var habits = map[string][]string{
	"review_id": {"id"}, "reviewId": {"id"}, "review": {"id"}, "review_again": {"again"}, "claimedBy": {"claimed_by"},
	"file": {"files"}, "path": {"files", "file"}, "paths": {"files"}, "commit": {"revision"},
	"timeout": {"timeout_seconds"}, "seconds": {"timeout_seconds"}, "finding_id": {"finding"}, "status": {"answer"},
	"startLine": {"line"}, "start_line": {"line"}, "endLine": {"end_line"}, "comment": {"text", "message"},
	"body":    {"text", "message"},
	"summary": {"message"}, "decision": {"verdict"}, "event": {"verdict"},
}

// fit converts v, an argument called name, to the schema, or says what is wrong with it.
func fit(s *jsonschema.Schema, name string, v any) (fitted any, why string) {
	text, isText := v.(string)
	if isText && (s.Type == "array" || s.Type == "object") {
		v = unpacked(s, text)
	}
	if _, object := v.(map[string]any); object && s.Type == "array" {
		v = []any{v}
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return fitObject(s, name, v)
		}
	case []any:
		if s.Type == "array" && (s.MaxItems == nil || len(v) <= *s.MaxItems) {
			return fitList(s, name, v)
		}
	default:
		if fitted, ok := fitPlain(s, v); ok {
			return fitted, ""
		}
	}
	return nil, fmt.Sprintf("%s must be %s", strings.TrimSuffix(name, "."), kindWanted(s))
}

// unpacked parses a list or an object that was given as text. Any other text is a list of one.
func unpacked(s *jsonschema.Schema, text string) (v any) {
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	if s.Type == "array" {
		return []any{text}
	}
	return text
}

func fitList(s *jsonschema.Schema, name string, list []any) (fitted any, why string) {
	all := []any{}
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", name, i)
		if s.Items.Type == "object" {
			at += "."
		}
		one, why := fit(s.Items, at, v)
		if why != "" {
			return nil, why
		}
		all = append(all, one)
	}
	return all, ""
}

func fitObject(s *jsonschema.Schema, name string, given map[string]any) (fitted any, why string) {
	fits := map[string]any{}
	given = gathered(s, given)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		known := propertyOf(s, given, key)
		switch {
		case given[key] == nil || key == "actor": // an agent acts only under the name of its conversation
			continue
		case known == "":
			return nil, fmt.Sprintf("there is no argument %s, only %s", line(name+key, 100),
				strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
		}
		one, why := fit(s.Properties[known], name+known, given[key])
		if why != "" {
			return nil, why
		}
		fits[known] = one
	}
	for _, key := range s.Required {
		text, isText := fits[key].(string)
		if fits[key] == nil || isText && strings.TrimSpace(text) == "" {
			return nil, fmt.Sprintf("%s is missing: it must be %s", name+key, kindWanted(s.Properties[key]))
		}
	}
	return fits, ""
}

// gathered moves arguments that belong in the elements of a missing list into a list with one element.
func gathered(s *jsonschema.Schema, given map[string]any) map[string]any {
	for list, of := range s.Properties {
		if _, there := given[list]; there || of.Items == nil || of.Items.Type != "object" {
			continue
		}
		rest, one := map[string]any{}, map[string]any{}
		for key, v := range given {
			if propertyOf(s, given, key) == "" && propertyOf(of.Items, given, key) != "" {
				one[key] = v
			} else {
				rest[key] = v
			}
		}
		if len(one) > 0 {
			rest[list] = []any{one}
			return rest
		}
	}
	return given
}

// propertyOf returns the property that key names, by its own name or by habit, or "".
func propertyOf(s *jsonschema.Schema, given map[string]any, key string) string {
	for _, name := range append([]string{key}, habits[key]...) {
		_, taken := given[name]
		if s.Properties[name] != nil && (name == key || !taken) {
			return name
		}
	}
	return ""
}

// fitPlain converts a string, number or boolean to the schema.
func fitPlain(s *jsonschema.Schema, v any) (fitted any, ok bool) {
	text, isText := v.(string)
	switch s.Type {
	case "string":
		if s.Enum == nil {
			return v, isText && len([]rune(text)) <= maxText
		}
		word := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(text)))
		at := slices.IndexFunc(s.Enum, func(one any) bool { return one == word || fmt.Sprint(one, "d") == word })
		if at < 0 {
			return nil, false
		}
		return s.Enum[at], isText
	case "boolean":
		if isText {
			truth, err := strconv.ParseBool(strings.ToLower(text))
			return truth, err == nil
		}
		_, ok = v.(bool)
		return v, ok
	}
	number, isNumber := v.(float64)
	if isText {
		parsed, err := strconv.ParseFloat(text, 64)
		number, isNumber = parsed, err == nil
	}
	whole := s.Type == "integer" && isNumber && number == math.Trunc(number) && math.Abs(number) <= 1<<53
	return number, whole && (s.Minimum == nil || number >= *s.Minimum) && (s.Maximum == nil || number <= *s.Maximum)
}

// kindWanted names the kind of value that the schema requires.
func kindWanted(s *jsonschema.Schema) string {
	switch {
	case s.Enum != nil:
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")
	case s.Type == "string":
		return fmt.Sprintf("a text of at most %d characters", maxText)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Type == "integer":
		return "a whole number, 1 or more"
	case s.Type == "array" && s.MaxItems != nil:
		return fmt.Sprintf("a list of at most %d", *s.MaxItems)
	case s.Type == "array":
		return "a list"
	}
	return "an object"
}
