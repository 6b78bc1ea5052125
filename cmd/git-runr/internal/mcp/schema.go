package mcp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// effect is what a tool does, for clients that decide by it what they allow.
type effect int

const (
	reads  effect = iota
	once          // writes; again it writes nothing more
	writes        // writes at each call
)

// annotations say that nothing is destroyed and nothing outside the repository and its
// remote is touched: some clients refuse a tool that does not say so.
func annotations(title string, does effect) *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: does == reads, IdempotentHint: does != writes, DestructiveHint: &no, OpenWorldHint: &no}
}

// maxText is the most characters of one argument: what is longer fits no event.
const maxText = 100_000

// schemaOf is the schema of the arguments T: no other properties, and no null where a
// value may be left out, which some clients cannot read.
func schemaOf[T any]() *jsonschema.Schema {
	schema := plainSchema[T]()
	each(schema, func(s *jsonschema.Schema) {
		if s.Type == "string" {
			s.MaxLength = jsonschema.Ptr(maxText)
		}
	})
	return schema
}

// resultOf is the schema of a document T. What a document leaves out is not said in it, and
// a newer one may say more.
func resultOf[T any]() *jsonschema.Schema {
	schema := plainSchema[T]()
	each(schema, func(s *jsonschema.Schema) {
		s.Required = nil
		if s.Type == "object" && s.Properties != nil {
			s.AdditionalProperties = nil
		}
	})
	return schema
}

// anyOf is the schema of a document that is one of several, as clients read it that know no
// alternatives.
func anyOf(all ...*jsonschema.Schema) *jsonschema.Schema {
	one := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, s := range all {
		maps.Copy(one.Properties, s.Properties)
	}
	return one
}

func plainSchema[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: schema of a tool: %v", err)) // a fault of this package, found by any test
	}
	each(schema, func(s *jsonschema.Schema) {
		if len(s.Types) > 0 {
			s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
			s.Type, s.Types = s.Types[0], nil
		}
	})
	return schema
}

// each goes through a schema and those in it.
func each(s *jsonschema.Schema, do func(*jsonschema.Schema)) {
	if s == nil || s.Not != nil { // "no other properties" is a schema that nothing fits
		return
	}
	do(s)
	for _, p := range s.Properties {
		each(p, do)
	}
	each(s.Items, do)
	each(s.AdditionalProperties, do)
}

func enumerate(schema *jsonschema.Schema, property string, values ...any) {
	schema.Properties[property].Enum = values
	schema.Properties[property].MaxLength = nil
}

func atLeast(schema *jsonschema.Schema, least float64, properties ...string) {
	for _, p := range properties {
		schema.Properties[p].Minimum = &least
	}
}
