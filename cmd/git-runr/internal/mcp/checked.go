package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// checked looks at what the protocol's library is asked before it does: what does not fit a schema
// is told in a sentence, and a resource may be named as people do.
func (s *Server) checked(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch params := req.GetParams().(type) {
		case *sdk.CallToolParamsRaw:
			var in any = map[string]any{}
			if len(params.Arguments) > 0 && json.Unmarshal(params.Arguments, &in) == nil && in == nil {
				in = map[string]any{}
			}
			if _, object := in.(map[string]any); !object {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params.arguments is not an object"}
			}
			if why := unfit(s.schemas[params.Name], "", in); why != "" {
				result := &sdk.CallToolResult{}
				result.SetError(explain(refusal("Error: " + why + ".")))
				return result, nil
			}
		case *sdk.ReadResourceParams:
			given := params.URI
			if len(given) > maxURI {
				return nil, sdk.ResourceNotFoundError(line(given, 100))
			}
			params.URI = plainURI(given)
			result, err := next(ctx, method, req)
			if read, ok := result.(*sdk.ReadResourceResult); ok && err == nil {
				for _, part := range read.Contents {
					part.URI = given
				}
			}
			return result, err
		}
		return next(ctx, method, req)
	}
}

// maxURI is how long the URI of a resource may be, in bytes, which its answer repeats.
const maxURI = 10_000

// unfit says what is wrong with a value, an argument called name; "" where it is as the schema
// says, which may be nil.
func unfit(s *jsonschema.Schema, name string, v any) string {
	switch v := v.(type) {
	case map[string]any:
		if s == nil || s.Type != "object" {
			break
		}
		for _, key := range s.Required {
			if _, given := v[key]; !given {
				return fmt.Sprintf("%s is missing: it is to be %s", name+key, kindWanted(s.Properties[key]))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			of, known := s.Properties[key]
			if !known {
				return fmt.Sprintf("there is no argument %s, only %s", line(name+key, 100), strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
			}
			if why := unfit(of, name+key, v[key]); why != "" {
				return why
			}
		}
		return ""
	case []any:
		if s == nil || s.Type != "array" || s.MaxItems != nil && len(v) > *s.MaxItems {
			break
		}
		for i, item := range v {
			at := fmt.Sprintf("%s[%d]", name, i)
			if s.Items.Type == "object" {
				if _, object := item.(map[string]any); object {
					at += "."
				}
			}
			if why := unfit(s.Items, at, item); why != "" {
				return why
			}
		}
		return ""
	default:
		if s != nil && plainFits(s, v) {
			return ""
		}
	}
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s is to be %s", strings.TrimSuffix(name, "."), kindWanted(s))
}

// plainFits reports whether a text, a number or a truth is as the schema says.
func plainFits(s *jsonschema.Schema, v any) bool {
	switch v := v.(type) {
	case string:
		return s.Type == "string" && (s.Enum == nil || slices.Contains(s.Enum, any(v))) && (s.MaxLength == nil || len([]rune(v)) <= *s.MaxLength)
	case bool:
		return s.Type == "boolean"
	case float64:
		return s.Type == "integer" && v == math.Trunc(v) && math.Abs(v) <= 1<<53 && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum)
	}
	return false
}

// kindWanted is what a value may be.
func kindWanted(s *jsonschema.Schema) string {
	switch {
	case s.Enum != nil:
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")
	case s.Type == "string" && s.MaxLength != nil:
		return fmt.Sprintf("a text of at most %d characters", *s.MaxLength)
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Type == "integer" && s.Minimum != nil:
		return fmt.Sprintf("a whole number, %.0f or more", *s.Minimum)
	case s.Type == "integer":
		return "a whole number"
	case s.Type == "array" && s.MaxItems != nil:
		return fmt.Sprintf("a list of at most %d", *s.MaxItems)
	case s.Type == "array":
		return "a list"
	}
	return "an object"
}
