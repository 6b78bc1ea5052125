package web

import (
	"cmp"
	"fmt"
	"html/template"
	"reflect"
	"regexp"
	"text/template/parse"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// ago says how long before now a time was.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	}
	return units(d) + " ago"
}

// units formats a duration in the largest unit of which it has at least two.
func units(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	switch days := int(d.Hours() / 24); {
	case days < 90:
		return fmt.Sprintf("%d days", days)
	case days < 2*365:
		return fmt.Sprintf("%d months", days/30)
	default:
		return fmt.Sprintf("%d years", days/365)
	}
}

// at formats a time for machines and for tooltips.
func at(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// took formats a duration for people.
func took(d duration.Duration) string {
	switch v := time.Duration(d); {
	case v < time.Second:
		return fmt.Sprintf("%d ms", v.Milliseconds())
	case v < time.Minute:
		return fmt.Sprintf("%.1f s", v.Seconds())
	case v < time.Hour:
		return fmt.Sprintf("%d min %d s", int(v.Minutes()), int(v.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(v.Hours()), int(v.Minutes())%60)
	}
}

// personName returns an actor without the address: "Ada" for "Ada <ada@example.com>".
func personName(actor string) string {
	return safetext.Line(cmp.Or(record.PersonName(actor), actor))
}

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
