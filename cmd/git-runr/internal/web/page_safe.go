package web

import (
	"fmt"
	"html/template"
	"reflect"
	"regexp"
	"text/template/parse"

	"github.com/git-runr/git-runr/loop/safetext"
)

// makeSafe makes every value that a template shows to people go through safetext: text between elements, except in a
// textarea, and attributes that are read out. Other attributes are for the program and keep their bytes. No template
// can forget the call.
func makeSafe(t *template.Template) *template.Template {
	inAttribute := regexp.MustCompile(`<[^<>]*\s([a-z-]+)="[^"]*$`)
	inPre := regexp.MustCompile(`<(pre|textarea)[^>]*>[^<]*$`)
	for _, part := range t.Templates() {
		if part.Tree != nil {
			(&marker{inAttribute: inAttribute, inPre: inPre}).walk(part.Tree.Root)
		}
	}
	return t
}

// marker tracks the HTML of a template before each of its values. Branches of a condition end in the same context,
// since html/template rejects any others.
type marker struct {
	before      string
	inAttribute *regexp.Regexp // matches the HTML before a value in an attribute; the group is its name
	inPre       *regexp.Regexp // matches the HTML before a value in an element that keeps line breaks
}

func (m *marker) walk(node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			m.walk(child)
		}
	case *parse.TextNode:
		m.before += string(n.Text)
	case *parse.ActionNode:
		if by := m.shownBy(); by != "" && len(n.Pipe.Decl) == 0 {
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand,
				Args: []parse.Node{parse.NewIdentifier(by)}})
		}
	case *parse.IfNode:
		m.branch(&n.BranchNode)
	case *parse.RangeNode:
		m.branch(&n.BranchNode)
	case *parse.WithNode:
		m.branch(&n.BranchNode)
	}
}

func (m *marker) branch(n *parse.BranchNode) {
	before := m.before
	m.walk(n.List)
	m.before = before
	m.walk(n.ElseList)
}

// shownBy returns the function that a value at this place goes through, or "".
func (m *marker) shownBy() string {
	if name := m.inAttribute.FindStringSubmatch(m.before); name != nil {
		if name[1] == "title" || name[1] == "aria-label" || name[1] == "alt" {
			return "line"
		}
		return ""
	}
	switch element := m.inPre.FindStringSubmatch(m.before); {
	case element == nil:
		return "line"
	case element[1] == "pre":
		return "block"
	}
	return ""
}

// visible returns a value for people: foreign text through safe, HTML of the program and numbers unchanged.
func visible(value any, safe func(string) string) any {
	if html, own := value.(template.HTML); own {
		return html
	}
	switch value.(type) {
	case error, fmt.Stringer:
		return safe(fmt.Sprint(value))
	}
	if reflect.ValueOf(value).Kind() == reflect.String {
		return safe(fmt.Sprint(value))
	}
	return value
}

func shownLine(value any) any  { return visible(value, safetext.Line) }
func shownBlock(value any) any { return visible(value, safetext.Text) }
