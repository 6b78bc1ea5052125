package web

import (
	"strings"
	"testing"
)

func TestRenderedMarkdown(t *testing.T) {
	s := newSite(t)
	same := strings.Repeat("Nothing new here.\n\nNor there.\n\n", 5)
	s.put("doc.md", []byte("# Title\n\n"+same+"A *short* sentence of some words.\n\n- one\n- two\n\nGone.\n"))
	s.put("gone.md", []byte("# It was\n"))
	s.put("large.md", []byte(strings.Repeat("x\n\n", maxMarkdown/3)))
	s.put("logo.svg", []byte("<svg/>\n"))
	s.put("vast.svg", []byte("<svg/>\n"))
	s.commit("before")
	s.put("doc.md",
		[]byte("# Title\n\n"+same+
			"A *short* sentence of many words.\n\n- one\n- two\n- three\n\n"+
			"![pic](https://evil.test/x.png) <script>alert(1)</script>\n"))
	runGit(t, s.dir, "rm", "-q", "gone.md")
	s.put("new.markdown", []byte("It *is*\n"))
	s.put("large.md", []byte(strings.Repeat("x\n\n", maxMarkdown/3)+"y\n"))
	s.put("logo.svg", []byte("<svg onload='alert(1)'/>\n"))
	s.put("vast.svg", []byte("<svg>"+strings.Repeat("<g/>\n", maxDrawing/5)+"</svg>\n"))
	s.put("code.go", []byte("package x\n"))
	s.commit("after")
	id := s.request()
	s.browser("POST", "/api/review/submissions/"+id+"/submit",
		`{"decision":"comment","comments":[{"file":"doc.md","startLine":23,"comment":"how many?"}]}`).want(200)

	page := s.page("/review/" + id)
	shows(t, section(t, page, "doc.md"), "rendered=1", `<tr class="a">`)
	hides(t, section(t, page, "code.go"), "rendered=1")
	for view, want := range map[string][]string{
		"unified": {"A <em>short</em> sentence of <mark>some</mark> words",
			"A <em>short</em> sentence of <mark>many</mark> words", "<li><mark>three</mark></li>"},
		"split": {"A <em>short</em> sentence of <mark>some</mark> words", `class="blocks two"`, `<div class="md a">`},
	} {
		doc := s.page("/review/" + id + "/diff?path=doc.md&rendered=1&view=" + view)
		checkHTML(t, doc)
		shows(t, doc, append(want, "unchanged blocks</summary>", "how many?", "which the diff does not show", "image: pic",
			"&lt;script&gt;", "As text", "/diff?path=doc.md")...)
		hides(t, doc, "<tr class", "<script>alert", `<img src="https`, "&amp;rendered=1")
	}
	shows(t, s.page("/review/"+id+"/diff?path=gone.md&rendered=1"), `<div class="md d">`, "It was")
	shows(t, s.page("/review/"+id+"/diff?path=new.markdown&rendered=1&fragment=1"), `<div class="md a">`, "<em>is</em>")
	large := s.page("/review/" + id + "/diff?path=large.md&rendered=1")
	shows(t, large, "Too large to show as anything but text", `<tr class="a">`)
	hides(t, s.page("/review/"+id+"/diff?path=code.go&rendered=1"), "Too large", "class=\"blocks")

	drawing := s.page("/review/" + id + "/diff?path=logo.svg&rendered=1")
	checkHTML(t, drawing)
	shows(t, drawing, `raw?path=logo.svg&amp;side=old"`, `raw?path=logo.svg&amp;side=new"`, "Swipe")
	hides(t, drawing, "onload")
	shows(t, s.page("/review/"+id+"/diff?path=vast.svg&rendered=1"), "too large to show")
}

func TestBlockRows(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", "", "", ""},
		{"the same", "a\n\nb", "a\n\nb", "x <p>a</p>|<p>a</p>; x <p>b</p>|<p>b</p>"},
		{"another word", "one two three", "one 2 three",
			"c <p>one <mark>two</mark> three</p>|<p>one <mark>2</mark> three</p>"},
		{"words in a row", "one two three", "one a b three",
			"c <p>one <mark>two</mark> three</p>|<p>one <mark>a b</mark> three</p>"},
		{"little in common", "one two three", "x y z one", "c <p>one two three</p>|<p>x y z one</p>"},
		{"entities", "a &amp; b", "a &lt; b", "c <p>a <mark>&amp;</mark> b</p>|<p>a <mark>&lt;</mark> b</p>"},
		{"a tag that came", "one two", "one **two**", "c <p>one two</p>|<p>one <strong>two</strong></p>"},
		{"in between", "a\n\nc", "a\n\nb\n\nc", "x <p>a</p>|<p>a</p>; a |<p>b</p>; x <p>c</p>|<p>c</p>"},
		{"links that others name", "[a]\n\n[a]: https://x.test/", "b",
			`c <p>` + linkStart("https://x.test/") + "a</a></p>|<p>b</p>"},
	} {
		var got []string
		for _, row := range blockRows(markdownBlocks(c.before), markdownBlocks(c.after)) {
			got = append(got, row.Class+" "+strings.TrimSpace(string(row.Old))+"|"+strings.TrimSpace(string(row.New)))
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, said, c.want)
		}
	}
}

func TestOrderHeadings(t *testing.T) {
	rows := blockRows(markdownBlocks("### a\n\n# b\n\n### c\n\nx"), markdownBlocks("### a\n\n# b\n\n#### d\n\nx"))
	orderHeadings(rows)
	var got []string
	for _, row := range rows {
		got = append(got, strings.TrimSpace(string(row.Old))+"|"+strings.TrimSpace(string(row.New)))
	}
	want := `<h6 aria-level="4">a</h6>|<h6 aria-level="4">a</h6> <h4>b</h4>|<h4>b</h4> <h6 aria-level="5">c</h6>|<h6>d</h6> <p>x</p>|<p>x</p>`
	if said := strings.Join(got, " "); said != want {
		t.Errorf("got  %s\nwant %s", said, want)
	}
}

// For any two documents, the combined output is as safe as the output for one, and nothing of either is lost.
func FuzzBlockRows(f *testing.F) {
	for i, payload := range payloads {
		f.Add(payload, payloads[(i+1)%len(payloads)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if tooMuchMarkdown(a) || tooMuchMarkdown(b) {
			return
		}
		before, after := markdownBlocks(a), markdownBlocks(b)
		var old, new strings.Builder
		for _, row := range blockRows(before, after) {
			checkHTML(t, string(row.Old)+string(row.New))
			old.WriteString(string(row.Old))
			new.WriteString(string(row.New))
		}
		unmarked := strings.NewReplacer("<mark>", "", "</mark>", "")
		if unmarked.Replace(old.String()) != strings.Join(before, "") ||
			unmarked.Replace(new.String()) != strings.Join(after, "") {
			t.Errorf("%q and %q became\n%s\n%s", a, b, old.String(), new.String())
		}
	})
}
