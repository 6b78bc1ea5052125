package web

import (
	"errors"
	"html/template"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

// spoken is a value with a String method.
type spoken struct{ text string }

func (s spoken) String() string { return s.text }

// TestMakeSafe: text in a template is safe at every place, and the fields that the program reads back keep their
// bytes.
func TestMakeSafe(t *testing.T) {
	text := `{{define "part"}}<b>{{.S}}</b>{{end}}` +
		`<p title="{{.S}}" data-x="{{.S}}">{{.S}}{{if .No}}x{{else}} <i class="a">{{.S}}</i>{{end}}</p>` +
		`<pre class="q">{{range .L}}{{.}}{{end}}</pre><textarea name="t">{{.S}}</textarea>` +
		`{{with .S}}<a href="/{{.}}"{{if $.Yes}} aria-label="a {{.}}"{{end}}>{{.}}</a>{{end}}{{$s := .S}}{{$s}} {{.N}} {{.H}}{{template "part" .}}` +
		`<img alt="{{.S}}"><i>{{.E}}</i><i>{{.T}}</i><i>{{.V}}</i>`
	functions := template.FuncMap{"line": shownLine, "block": shownBlock}
	page := makeSafe(template.Must(template.New("").Funcs(functions).Parse(text)))
	hostile := "a\u202eb\nc"
	var b strings.Builder
	err := page.Execute(&b, map[string]any{
		"S": hostile, "L": []string{hostile}, "N": 7, "H": template.HTML("<em>\n</em>"), "Yes": true, "No": false,
		"E": errors.New(hostile), "T": spoken{hostile}, "V": record.ReviewStatus(hostile),
	})
	if err != nil {
		t.Fatal(err)
	}
	const line, block = `a\u{202e}b c`, "a\\u{202e}b\nc"
	want := `<p title="` + line + `" data-x="` + hostile + `">` + line + ` <i class="a">` + line + `</i></p>` +
		`<pre class="q">` + block + `</pre><textarea name="t">` + hostile + `</textarea>` +
		`<a href="/a%e2%80%aeb%0ac" aria-label="a ` + line + `">` + line + `</a>` + line + ` 7 <em>` + "\n" + `</em><b>` +
		line + `</b>` +
		`<img alt="` + line + `"><i>` + line + `</i><i>` + line + `</i><i>` + line + `</i>`
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}
