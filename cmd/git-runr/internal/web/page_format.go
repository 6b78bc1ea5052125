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

// icons are drawn on a grid of 16 by 16, in the colour of the text.
var icons = map[string]string{
	"copy":    `<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/>`,
	"theme":   `<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5v11a5.5 5.5 0 0 0 0-11z" fill="currentColor"/>`,
	"keys":    `<rect x="1.5" y="4" width="13" height="8" rx="1.5"/><path d="M4 6.7h.01M6.7 6.7h.01M9.3 6.7h.01M12 6.7h.01M5 9.5h6"/>`,
	"file":    `<path d="M3.5 2.5h5l4 4v7h-9zM8.5 2.5v4h4"/>`,
	"comment": `<path d="M2.5 3.5h11v7.5h-6l-3 2.5v-2.5h-2z"/>`,
	"expand":  `<path d="M8 1.8v4.4M5.8 4L8 1.8 10.2 4M8 14.2V9.8M5.8 12L8 14.2l2.2-2.2M2.5 8h11"/>`,
	"look":    `<path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="2"/>`,
	"who":     `<circle cx="8" cy="5.2" r="2.7"/><path d="M2.8 13.5c.5-3 2.5-4.3 5.2-4.3s4.7 1.3 5.2 4.3"/>`,
	"chevron": `<path d="M4 6l4 4 4-4"/>`,
}

// icon returns one of icons as an element that screen readers skip.
func icon(name string) template.HTML {
	return template.HTML(
		`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">` + icons[name] + `</svg>`)
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
