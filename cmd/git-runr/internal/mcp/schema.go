package mcp

import (
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// effect is what a tool changes; clients decide by it what they allow.
type effect int

const (
	reads  effect = iota
	once          // writes; a repeated call writes nothing more
	writes        // writes at each call
)

// annotations say that a tool destroys nothing and touches nothing outside the repository and its remote: some clients
// refuse a tool without them.
func annotations(does effect) *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{ReadOnlyHint: does == reads, IdempotentHint: does != writes, DestructiveHint: &no,
		OpenWorldHint: &no}
}

// maxText is the most characters of one argument: a longer one does not fit into an event.
const maxText = 100_000

// schemaOf returns the schema of the arguments T: no other properties, and no null for an argument
// that may be left out, which some clients cannot read.
func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: schema of a tool: %v", err)) // a fault of this package, found by any test
	}
	withoutNull(schema)
	return schema
}

func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
		s.Type, s.Types = s.Types[0], nil
	}
	for _, p := range s.Properties {
		withoutNull(p)
	}
	withoutNull(s.Items)
}

func enumerate(schema *jsonschema.Schema, property string, values ...any) {
	schema.Properties[property].Enum = values
}

// between sets the minimum and maximum of numbers; a most of 0 means no maximum.
func between(schema *jsonschema.Schema, least, most float64, properties ...string) {
	for _, p := range properties {
		schema.Properties[p].Minimum = &least
		if most > 0 {
			schema.Properties[p].Maximum = &most
		}
	}
}
