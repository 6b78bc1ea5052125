package web

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// payloads are texts that would run or load something if a page let them. Each contains a mark by which the tests
// find it again.
var payloads = []string{
	`<script>alert("xss")</script>`,
	`<script src=//evil.test/xss.js></script>`,
	`<img src=x onerror=alert("xss")>`,
	`<svg onload=alert("xss")>`,
	`<svg><script>xss()</script></svg>`,
	`<iframe src="javascript:xss()"></iframe>`,
	`<a href="javascript:xss()">a</a>`,
	`<body onload=xss()>`,
	`<style>*{background:url(//evil.test/xss)}</style>`,
	`<link rel=stylesheet href=//evil.test/xss.css>`,
	`<base href=//evil.test/xss/>`,
	`<meta http-equiv=refresh content="0;url=//evil.test/xss">`,
	`<form action=//evil.test/xss><button>a</button></form>`,
	`<input autofocus onfocus=xss()>`,
	`<details open ontoggle=xss()>`,
	`<video><source onerror=xss()></video>`,
	`<object data="data:text/html,xss"></object>`,
	`<math><mi xlink:href="javascript:xss()">a</mi></math>`,
	`<template><script>xss()</script></template>`,
	`<noscript><p title="</noscript><img src=x onerror=xss()>">`,
	`</textarea><script>xss()</script>`,
	`</title><script>xss()</script>`,
	`</script><script>xss()</script>`,
	`--><script>xss()</script><!--`,
	`]]><script>xss()</script>`,
	`" onmouseover="xss()" x="`,
	`' onmouseover='xss()' x='`,
	"` onmouseover=`xss()` x=`",
	`{{template "xss"}} {{.}} ${xss()} #{xss()}`,
	`javascript:xss()`,
	`data:text/html;base64,PHNjcmlwdD54c3M8L3NjcmlwdD4=`,
	`<x style="background:url(xss)" onclick=xss()>a`,
	`<p style=animation-name:xss onanimationstart=xss()>`,
	`&lt;script&gt;xss()&lt;/script&gt;`,
	`<scr<script>ipt>xss()</scr</script>ipt>`,
	`<a href="vbscript:xss()">a</a><a href=" java&#10;script:xss()">b</a>`,
	`<img src="x` + "`" + `><script>xss()</script>"` + "`" + `>`,
	`<!--[if IE]><script>xss()</script><![endif]-->`,
	`<?xml version="1.0"?><xss/>`,
	`<![CDATA[<script>xss()</script>]]>`,
}

// markdownPayloads are payloads that Markdown could turn into active HTML.
var markdownPayloads = []string{
	`[a](javascript:xss())`,
	`[a](JaVaScRiPt:xss())`,
	`[a]( javascript:xss() )`,
	`[a](<javascript:xss()>)`,
	`[a](java&#115;cript:xss())`,
	`[a](&#x6A;avascript:xss())`,
	`[a](data:text/html,<script>xss()</script>)`,
	`[a](vbscript:xss())`,
	`[a](file:///etc/xss)`,
	`[a](//evil.test/xss)`,
	`[a](/review/xss)`,
	`[a](https://evil.test/xss "x\" onmouseover=\"xss()")`,
	`[a](https://evil.test/" onmouseover="xss())`,
	`[a](https://evil.test/'onmouseover='xss())`,
	`<javascript:xss()>`,
	`<data:text/html,xss>`,
	`<https://evil.test/"onmouseover="xss()>`,
	`![a](javascript:xss())`,
	`![a](https://evil.test/xss.png "t\" onerror=\"xss()")`,
	`![](data:image/svg+xml;base64,xss)`,
	`![[a](javascript:xss())](https://evil.test/xss)`,
	`[![a](https://evil.test/xss.png)](javascript:xss())`,
	"[a][b]\n\n[b]: javascript:xss() \"x\"",
	"[a]: data:text/html,xss\n\n[a]",
	"```\"onmouseover=\"xss()\n</code></pre><script>xss()</script>\n```",
	"```suggestion\n</td><script>xss()</script>\n```",
	"```js<script>xss()</script>\n```",
	"    </code></pre><script>xss()</script>",
	"`</code><script>xss()</script>`",
	"# <script>xss()</script>",
	"| <script>xss()</script> | [a](javascript:xss()) |\n|:--|--:|\n| <img src=x onerror=xss()> | b |",
	"- [x] <script>xss()</script>\n- [ ] b",
	"> <script>xss()</script>\n> > [a](javascript:xss())",
	"~~<script>xss()</script>~~ **[a](javascript:xss())** _<b onclick=xss()>_",
	"a www.evil.test/\"onmouseover=\"xss() b",
	"https://evil.test/<script>xss()</script>",
	"mailto:xss@evil.test?subject=<script>xss()</script>",
	"<xss@evil.test>",
	"a\n===\n<script>xss()</script>\n---",
	"[a](\x01javascript:xss())",
	"[a](java\tscript:xss())",
	"&#60;script&#62;xss()&#60;/script&#62;",
	"\\<script>xss()\\</script>",
	"<div>\n\n[a](javascript:xss())\n\n<script>xss()</script></div>",
}

// allowedTags lists the tags that the page itself writes.
var allowedTags = strings.Fields(
	"html head meta title link script body a header img nav button svg path circle rect line text g main div p h1 h2 h3 " +
		"h4 h5 h6 " +
		"span b i em strong del code pre mark bdi time ul ol li dl dt dd kbd dialog form input label select option " +
		"textarea details summary table caption colgroup col tfoot thead tbody tr td th " +
		"progress colgroup col section article aside footer figure figcaption fieldset legend template blockquote hr br")

// checkHTML parses a page as a browser does, checks that it runs, styles and loads nothing except our own assets, and
// returns its text.
func checkHTML(t *testing.T, page string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for node := range doc.Descendants() {
		switch node.Type {
		case html.TextNode:
			text.WriteString(node.Data)
		case html.CommentNode:
			t.Errorf("a comment %q", node.Data)
		case html.ElementNode:
			checkElement(t, node)
		}
	}
	return text.String()
}

func checkElement(t *testing.T, node *html.Node) {
	t.Helper()
	if !slices.Contains(allowedTags, node.Data) {
		t.Errorf("an element <%s>", node.Data)
	}
	for _, a := range node.Attr {
		value := strings.ToLower(a.Val)
		inside := strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") || strings.HasPrefix(value, "#")
		switch {
		case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcset" || a.Key == "srcdoc" ||
			a.Key == "http-equiv":
			t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
		case a.Key == "src" && node.Data == "img":
			if !strings.HasPrefix(value, "/assets/") && !strings.Contains(value, "/raw?") {
				t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
			}
		case a.Key == "src" || a.Key == "href" && node.Data == "link":
			if !strings.HasPrefix(value, "/assets/") {
				t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
			}
		case a.Key == "action" || a.Key == "formaction":
			if !inside {
				t.Errorf("<%s %s=%q>", node.Data, a.Key, a.Val)
			}
		case a.Key == "href" && !inside:
			checkOutside(t, node, value)
		}
	}
	if node.Data == "script" && node.FirstChild != nil {
		t.Errorf("a script in the page: %q", node.FirstChild.Data)
	}
}

// checkOutside checks that links to other sites run nothing and send no referrer.
func checkOutside(t *testing.T, node *html.Node, href string) {
	t.Helper()
	known := strings.HasPrefix(href, "http://") || strings.HasPrefix(href, "https://") ||
		strings.HasPrefix(href, "mailto:")
	rel := slices.ContainsFunc(node.Attr, func(a html.Attribute) bool {
		return a.Key == "rel" && strings.Contains(a.Val, "noopener") && strings.Contains(a.Val, "nofollow")
	})
	if !known || !rel {
		t.Errorf("a link to %q", href)
	}
}

func TestMarkdownOfPayloads(t *testing.T) {
	for _, payload := range slices.Concat(payloads, markdownPayloads) {
		for _, wrapped := range []string{payload, "a " + payload + " b", "- " + payload, "> " + payload, "*" + payload + "*",
			"[" + payload + "](https://x.test)", "![" + payload + "](b)"} {
			text := checkHTML(t, string(markdownHTML(wrapped, quotedLines{file: "a.html", lines: []string{payload}})))
			if t.Failed() {
				t.Fatalf("of %q:\n%s", wrapped, markdownHTML(wrapped, quotedLines{}))
			}
			if !strings.Contains(text, "xss") && strings.Contains(payload, "<") && !strings.HasPrefix(payload, "```js") {
				t.Errorf("%q is not shown: %q", wrapped, text)
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"a *b* **c** `d` ~~e~~", "<p>a <em>b</em> <strong>c</strong> <code>d</code> ~~e~~</p>\n"},
		{"a | b\n--|:-:\n`c` \\| *d* | <e>\nf",
			"<table>\n<tr>\n<th>a</th>\n<th align=\"center\">b</th>\n</tr>\n<tr>\n<td><code>c</code> | <em>d</em></td>\n" +
				"<td align=\"center\">&lt;e&gt;</td>\n</tr>\n<tr>\n<td>f</td>\n<td align=\"center\"></td>\n</tr>\n</table>\n"},
		{"x\n| a |\n|--:|\n| b | c |",
			"<p>x</p>\n<table>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n<tr>\n<td align=\"right\">b | c</td>\n</tr>\n" +
				"</table>\n"},
		{"a | b\n--\nc | d\n|-|", "<h5>a | b</h5><p>c | d\n|-|</p>\n"},
		{"*see http://b.test/a_b_c?d=e&f*",
			`<p><em>see <a href="http://b.test/a_b_c?d=e&amp;f" title="http://b.test/a_b_c?d=e&amp;f" rel="nofollow noopener noreferrer" target="_blank">http://b.test/a_b_c?d=e&amp;f</a></em></p>` + "\n"},
		{"# a", "<h4>a</h4>"},
		{"###### a", "<h6>a</h6>"},
		{"[a](https://b.test/c?d=e&f)",
			`<p><a href="https://b.test/c?d=e&amp;f" title="https://b.test/c?d=e&amp;f" rel="nofollow noopener noreferrer" target="_blank">a</a></p>` + "\n"},
		{"[a](b.md)", `<p>a <span class="nolink">(b.md)</span></p>` + "\n"},
		{"![a](https://b.test)",
			`<p><a href="https://b.test" title="https://b.test" rel="nofollow noopener noreferrer" target="_blank">image: a</a></p>` + "\n"},
		{"```go\nfunc\n```", `<pre class="code"><code><span class="k">func</span>` + "\n</code></pre>\n"},
		{"<b>a</b>", "<p>&lt;b&gt;a&lt;/b&gt;</p>\n"},
		{"a\u202eb", `<p>a\u{202e}b</p>` + "\n"},
		{"see https://b.test/c_(d).",
			`<p>see <a href="https://b.test/c_(d)" title="https://b.test/c_(d)" rel="nofollow noopener noreferrer" target="_blank">https://b.test/c_(d)</a>.</p>` + "\n"},
		{"(http://b.test)!",
			`<p>(<a href="http://b.test" title="http://b.test" rel="nofollow noopener noreferrer" target="_blank">http://b.test</a>)!</p>` + "\n"},
		{"xhttps://b.test https:// http://.", "<p>xhttps://b.test https:// http://.</p>\n"},
		{"[https://a.test](https://b.test)",
			`<p><a href="https://b.test" title="https://b.test" rel="nofollow noopener noreferrer" target="_blank">https://a.test</a></p>` + "\n"},
	} {
		if got := string(markdownHTML(c.source, quotedLines{})); got != c.want {
			t.Errorf("%q\ngot  %s\nwant %s", c.source, got, c.want)
		}
	}
}

func TestSuggestion(t *testing.T) {
	quoted := quotedLines{file: "a.txt", lines: []string{"one", "two", "three"}}
	got := string(markdownHTML("so:\n\n```suggestion\none\n2\n2.5\nthree\n```\n", quoted))
	text := checkHTML(t, got)
	if want := "Suggested change one−twoadded: "; !strings.Contains(text, "Suggested change") ||
		strings.Contains(text, want) {
		t.Errorf("%q", text)
	}
	for _, part := range []string{
		`<tr class="x"><td class="mk"><span class="vh"></span> </td><td class="code">one</td>`,
		`<tr class="d"><td class="mk"><span class="vh">removed: </span>−</td><td class="code">two</td>`,
		`<tr class="a"><td class="mk"><span class="vh">added: </span>+</td><td class="code">2</td>`,
		`<tr class="a"><td class="mk"><span class="vh">added: </span>+</td><td class="code">2.5</td>`,
		`<tr class="x"><td class="mk"><span class="vh"></span> </td><td class="code">three</td>`,
	} {
		if strings.Count(got, part) != 1 {
			t.Errorf("%s is not there once:\n%s", part, got)
		}
	}
	if all := strings.Count(got, "<tr"); all != 5 {
		t.Errorf("%d rows", all)
	}
}

// Texts that would make a parser slow, or its output large, are shown unformatted.
func TestMarkdownIsBounded(t *testing.T) {
	for name, source := range map[string]string{
		"quotes": strings.Repeat(">", 50_000), "spaced quotes": strings.Repeat("> ", 25_000),
		"lists": strings.Repeat("- ", 20_000), "brackets": strings.Repeat("[", 50_000),
		"links": strings.Repeat("[a](", 12_000), "images": strings.Repeat("![", 25_000),
		"stars": strings.Repeat("*a_ ", 15_000),
		"columns": strings.Repeat("|a", 10_000) + "|\n" + strings.Repeat("|-", 10_000) + "|\n" +
			strings.Repeat("|\n", 10_000),
		"rows": "|a|b|\n|-|-|\n" + strings.Repeat("|\n", 25_000), "references": strings.Repeat("[a]: b\n", 8000),
		"nested": strings.Repeat("> - ", 15_000), "deep": strings.Repeat("*", 60_000) + "a",
		"numbers": strings.Repeat("1. ", 20_000), "emphasis": strings.Repeat("**a *b ", 9000),
		"strikes": strings.Repeat("~~a ~b ", 9000), "underscores": strings.Repeat("_a__b", 12_000),
	} {
		out := string(markdownHTML(source, quotedLines{}))
		if plain := strings.HasPrefix(out, `<pre class="plain">`); !plain || len(out) > 5*len(source) {
			t.Errorf("%s: %d bytes become %d of %.40q", name, len(source), len(out), out)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, payload := range slices.Concat(payloads, markdownPayloads) {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 4096 {
			return
		}
		checkHTML(t, string(markdownHTML(source, quotedLines{file: "a.js", lines: []string{source}})))
	})
}
