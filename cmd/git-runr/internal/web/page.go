package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template/parse"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

//go:embed templates/*.html assets
var files embed.FS

// scripts and styles name the files in assets/script and assets/style that are concatenated into the script and the
// style sheet. Each needs one request, and no build step.
var (
	scripts = []string{"base", "files", "lines", "cursor", "show", "write", "message", "keep", "copy", "tree", "threads",
		"live", "run", "click", "keys", "begin"}
	styles = []string{"base", "lists", "review", "code", "show", "comments", "threads", "run", "small", "forced"}
)

// pages serves the HTML pages. It caches only results computed from trees, which never change.
type pages struct {
	*Server
}

var errNoPage = &requestError{status: http.StatusNotFound, message: "there is no such page"}

// handle returns a handler that shows errors of do as a page, or as text if a script asked.
func (p *pages) handle(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := p.mayChange(r)
		if err == nil {
			tips, _ := p.repo.Tips(r.Context()) // on error the page is updated once more
			r = r.WithContext(context.WithValue(r.Context(), shownStateKey{}, stateID(tips)))
			err = do(w, r)
		}
		if err == nil {
			return
		}
		status := errorStatus(err)
		if errors.As(err, new(*record.StateError)) { // the page offered what has become impossible
			status = http.StatusConflict
		}
		switch {
		case status == http.StatusInternalServerError:
			p.fault(w, r, err)
			return
		case r.FormValue("fragment") != "":
			http.Error(w, safetext.Text(err.Error()), status)
			return
		}
		view := struct {
			page
			Status   int
			Message  string
			Commands []string // commands to type in the repository
		}{p.page(r, http.StatusText(status), ""), status, err.Error(), whatToType(err)}
		if shown := p.show(w, status, "error.html", view); shown != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		}
	}
}

type shownStateKey struct{} // of a request's context: a string

// shownState returns the state of all logs before the request was answered. What a page shows is not older.
func shownState(r *http.Request) string {
	state, _ := r.Context().Value(shownStateKey{}).(string)
	return state
}

// whatToType returns the commands that help with an error, without the hints that are sentences.
func whatToType(err error) []string {
	if request := new(requestError); errors.As(err, &request) {
		return request.hint
	}
	return slices.DeleteFunc(commandsOf(exit.Classify(err).Hint), func(line string) bool {
		return !strings.HasPrefix(line, "git") || strings.ContainsAny(line, ",;")
	})
}

// page holds what every page needs.
type page struct {
	Title    string
	Tab      string // inbox, runs or metrics; "" for none
	Actor    string
	Repo     string // the repository's name
	Place    string // its directory
	Branch   string // the current branch, or ""
	Theme    string // dark, light, or "" for the system's
	Tint     string // strong, blind, or "" for soft
	Density  string // dense, wide, or ""
	Wrap     string // off, or "" for lines that wrap
	Images   string // swipe, full, or "" for side by side
	Split    bool   // diffs side by side
	NoSpace  bool   // hide changes of white space only
	Token    string // for forms
	Path     string // of this page, for links to its other views
	Watched  string // the review or run that the page is about, for live updates
	State    string // of all logs before they were read for the page, for live updates
	Unshared int    // events of this clone that a remote does not have, as far as known
	now      time.Time
	look     viewOptions // diff options from the address and the browser's cookies
	short    map[string]string
}

// paged is any page, for the templates of its parts.
type paged interface{ common() page }

func (p page) common() page { return p }

// ShortID shows an id in the short form that a person types, with the full id as tooltip.
func (p page) ShortID(id string) template.HTML {
	return template.HTML(`<code title="` + template.HTMLEscapeString(id) + `">` +
		template.HTMLEscapeString(cmp.Or(p.short[id], id)) + `</code>`)
}

// When shows a time relative to now, with the exact time as tooltip.
func (p page) When(t time.Time) template.HTML {
	return template.HTML(`<time datetime="` + at(t) + `" title="` + at(t) + `">` + ago(p.now, t) + `</time>`)
}

// Left shows how long a claim lasts.
func (p page) Left(until time.Time) template.HTML {
	text := "lapsed"
	if d := until.Sub(p.now); d > 0 {
		text = units(d) + " left"
	}
	return template.HTML(`<time datetime="` + at(until) + `" title="` + at(until) + `">` + text + `</time>`)
}

// ReviewPath returns the address of the review that the page is about.
func (p page) ReviewPath() string { return "/review/" + p.Watched }

func (p *pages) page(r *http.Request, title, tab string) page {
	branch, _ := p.repo.Branch(r.Context()) // on error the heading shows no branch
	place := cmp.Or(p.repo.WorkTree, p.repo.CommonDir)
	look := viewOptions{split: wanted(r, "view", "split"), noSpace: wanted(r, "space", "ignore"),
		space: r.FormValue("space")}
	unshared := 0
	if p.Unshared != nil && p.Do != nil {
		unshared, _ = p.Unshared(r.Context()) // on error nothing is offered
	}
	return page{
		Unshared: unshared, Title: title, Tab: tab, Actor: p.Actor, Repo: strings.TrimSuffix(filepath.Base(place), ".git"),
		Place:  place,
		Branch: strings.TrimPrefix(branch, "refs/heads/"), Theme: preference(r, "theme", "dark", "light"),
		Tint: preference(r, "tint", "strong", "blind"), Density: preference(r, "rows", "dense", "wide"),
		Wrap: preference(r, "wrap", "off"), Images: preference(r, "images", "swipe", "full"),
		Split: look.split, NoSpace: look.noSpace, Token: p.formToken(r), Path: r.URL.EscapedPath(), now: p.Now(), look: look,
		State: shownState(r),
	}
}

// preference returns a setting from the browser's cookie, or "" if its value is not in known.
func preference(r *http.Request, name string, known ...string) string {
	cookie, err := r.Cookie("runr-" + name)
	if err != nil || !slices.Contains(known, cookie.Value) {
		return ""
	}
	return cookie.Value
}

// wanted reports whether a setting has value, according to the address or else the browser's cookie.
func wanted(r *http.Request, name, value string) bool {
	if asked := r.FormValue(name); asked != "" {
		return asked == value
	}
	return preference(r, name, value) != ""
}

// show renders a template as a whole page. If that fails it sends nothing and returns the error.
func (p *pages) show(w http.ResponseWriter, status int, name string, view any) error {
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name, view); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	html := out.Bytes()
	if !utf8.Valid(html) { // file names; browsers disagree on how many U+FFFD to show
		html = []byte(string([]rune(out.String())))
	}
	_, _ = w.Write(html) // fails if the browser has disconnected
	return nil
}

// templates parses the templates on first use.
var templates = sync.OnceValue(func() *template.Template {
	return makeSafe(template.Must(template.New("").Funcs(template.FuncMap{
		"asset": func(name string) string { return assets().urls[name] },
		"line":  shownLine, "block": shownBlock, "name": personName,
		"short": func(id gitstore.ID) string { return id.Short() }, "count": prose.Count, "took": took,
		"words":   func(s any) string { return safetext.Line(strings.ReplaceAll(fmt.Sprint(s), "_", " ")) },
		"lower":   strings.ToLower,
		"percent": percent, "add": func(a, b int) int { return a + b }, "join": func(a, b string) string { return a + b },
		"outcome": outcomeClass, "typed": func(line string) []string { return strings.SplitN(line, "   ", 2) },
		"fileKey": fileKey, "newKey": rand.Text, "entryClass": entryClass,
		"inPage":   func(v paged, f fileView) diffView { return diffView{v.common(), f} },
		"gapOf":    func(g *gapView, rest string, f fileView) gapIn { return gapIn{*g, rest, f.Columns(), f.All, f.gapsURL} },
		"blameOf":  func(b *blameView, v paged) blameIn { return blameIn{v.common(), b} },
		"onlyHunk": func(f fileView, h hunkView) fileView { f.Hunks = []hunkView{h}; return f },
		"lineOf":   func(r record.ReviewSummary, v paged) inboxLine { return inboxLine{r, v.common()} },
		"stateOf":  stateOf,
		"audience": render.Audience,
		"file":     safetext.Name,
	}).ParseFS(files, "templates/*.html")))
})

// assetFiles are the served assets.
type assetFiles struct {
	urls    map[string]string // file name → URL with the hash of its content
	content map[string][]byte // last part of the URL → content
}

var assets = sync.OnceValue(func() assetFiles {
	a := assetFiles{urls: map[string]string{}, content: map[string][]byte{}}
	a.add("icon.svg", asset("icon.svg"))
	a.add("page.js", joined("script/", scripts, ".js"))
	a.add("page.css", joined("style/", styles, ".css"))
	return a
})

// add adds an asset, served under a name that contains its hash.
func (a assetFiles) add(file string, data []byte) {
	sum := sha256.Sum256(data)
	base, ext, _ := strings.Cut(file, ".")
	name := base + "-" + hex.EncodeToString(sum[:6]) + "." + ext
	a.urls[file], a.content[name] = "/assets/"+name, data
}

// joined concatenates embedded files.
func joined(dir string, names []string, ext string) []byte {
	var all []byte
	for _, name := range names {
		all = append(all, asset(dir+name+ext)...)
	}
	return all
}

// asset returns an embedded file, which must exist.
func asset(name string) []byte {
	data, err := fs.ReadFile(files, "assets/"+name)
	if err != nil {
		panic(err)
	}
	return data
}

// serveAsset serves an asset. Its name contains its hash, so browsers may cache it for ever.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	data, ok := assets().content[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(r.PathValue("name"))))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

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

// visible returns a value for people: foreign text through safe, HTML of the program unchanged.
func visible(value any, safe func(string) string) any {
	if html, own := value.(template.HTML); own {
		return html
	}
	return safe(fmt.Sprint(value))
}

func shownLine(value any) any  { return visible(value, safetext.Line) }
func shownBlock(value any) any { return visible(value, safetext.Text) }
