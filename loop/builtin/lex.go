package builtin

import (
	"path"
	"strings"
)

// language is what a line-by-line reader must know to tell code from strings and comments.
type language struct {
	id       string
	line     []string // what begins a comment that ends with the line
	block    bool     // has /* comments */
	quotes   string   // quotes of strings that end with the line
	multi    []string // quotes of strings that may go on over lines, longest first
	raw      string   // the quote among multi in which a backslash is nothing special
	charLit  bool     // ' begins a character, or a Rust lifetime
	regexLit bool     // / may begin a regular expression
}

var (
	langGo     = &language{id: "go", line: []string{"//"}, block: true, quotes: `"`, multi: []string{"`"}, raw: "`", charLit: true}
	langJS     = &language{id: "js", line: []string{"//"}, block: true, quotes: `"'`, multi: []string{"`"}, regexLit: true}
	langPython = &language{id: "python", line: []string{"#"}, quotes: `"'`, multi: []string{`"""`, `'''`}}
	langRuby   = &language{id: "ruby", line: []string{"#"}, quotes: "\"'`", regexLit: true}
	langElixir = &language{id: "elixir", line: []string{"#"}, quotes: `"'`, multi: []string{`"""`}}
	langShell  = &language{id: "shell", line: []string{"#"}, quotes: `"'`}
	langHash   = &language{id: "hash", line: []string{"#"}, quotes: `"'`}
	langPHP    = &language{id: "php", line: []string{"//", "#"}, block: true, quotes: `"'`}
	langRust   = &language{id: "rust", line: []string{"//"}, block: true, multi: []string{`"`}, charLit: true}
	langJava   = &language{id: "java", line: []string{"//"}, block: true, quotes: `"`, multi: []string{`"""`}, charLit: true}
	langCSharp = &language{id: "csharp", line: []string{"//"}, block: true, quotes: `"`, multi: []string{`"""`}, charLit: true}
	langSwift  = &language{id: "swift", line: []string{"//"}, block: true, quotes: `"`, multi: []string{`"""`}}
	langDart   = &language{id: "dart", line: []string{"//"}, block: true, quotes: `"'`, multi: []string{`"""`, `'''`}}
	langC      = &language{id: "c", line: []string{"//"}, block: true, quotes: `"`, charLit: true}
	langSQL    = &language{id: "sql", line: []string{"--"}, block: true, quotes: `"'`}
	langText   = &language{id: "text"}                                // neither strings nor comments
	langMarkup = &language{id: "text", multi: []string{"```", "~~~"}} // code in fences is quoted text
	langCSS    = &language{id: "css", block: true, quotes: `"'`}
)

// languageOf goes by the name of the file; nil when it is no code that we know.
func languageOf(p string) *language {
	base := strings.ToLower(path.Base(p))
	switch base {
	case "makefile", "gnumakefile", "dockerfile", "containerfile", "justfile":
		return langHash
	case "rakefile", "gemfile", "guardfile", "vagrantfile", "podfile", "fastfile":
		return langRuby
	}
	switch path.Ext(base) {
	case ".go":
		return langGo
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return langJS
	case ".py", ".pyi", ".pyx":
		return langPython
	case ".rb", ".rake", ".gemspec", ".ru":
		return langRuby
	case ".ex", ".exs":
		return langElixir
	case ".sh", ".bash", ".zsh", ".ksh":
		return langShell
	case ".yml", ".yaml", ".toml", ".tf", ".hcl", ".pl", ".pm", ".r", ".mk", ".cmake", ".nix", ".jl":
		return langHash
	}
	return curlyLanguageOf(path.Ext(base))
}

func curlyLanguageOf(ext string) *language {
	switch ext {
	case ".php":
		return langPHP
	case ".rs":
		return langRust
	case ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle":
		return langJava
	case ".cs":
		return langCSharp
	case ".swift":
		return langSwift
	case ".dart":
		return langDart
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".m", ".mm", ".proto", ".zig":
		return langC
	case ".sql":
		return langSQL
	case ".css", ".scss", ".less":
		return langCSS
	case ".md", ".mdx", ".markdown":
		return langMarkup
	}
	return nil
}

// codeLine is a line of the new content taken apart. code and comment are as
// long as Text; what does not belong to them is blank.
type codeLine struct {
	Line
	added    bool
	code     string
	comment  string
	inString bool // the line begins inside a string
	leftOpen bool // the line ends inside a string
}

// takeApart reads the lines that the diff shows in order. What stands in the
// gaps between hunks is unknown: each run of lines is taken to begin in code.
func takeApart(lang *language, f File) []codeLine {
	lines := make([]codeLine, 0, len(f.Added)+len(f.Context))
	x := lexer{lang: lang}
	a, c := f.Added, f.Context
	for len(a)+len(c) > 0 {
		var l codeLine
		if len(c) == 0 || (len(a) > 0 && a[0].Number < c[0].Number) {
			l, a = codeLine{Line: a[0], added: true}, a[1:]
		} else {
			l, c = codeLine{Line: c[0]}, c[1:]
		}
		if n := len(lines); n > 0 && lines[n-1].Number+1 != l.Number {
			x = lexer{lang: lang}
		}
		l.inString = x.inString()
		l.code, l.comment = x.line(l.Text)
		l.leftOpen = x.inString()
		lines = append(lines, l)
	}
	return lines
}

// lexer keeps what is open at the end of a line.
type lexer struct {
	lang   *language
	closer string // ends the string or comment that is open; empty in code

	text          string
	at            int
	code, comment []byte
}

func (x *lexer) inString() bool { return x.closer != "" && x.closer != "*/" }

func (x *lexer) line(text string) (code, comment string) {
	x.text, x.at = text, 0
	blank := strings.Repeat(" ", len(text))
	x.code, x.comment = []byte(blank), []byte(blank)
	if x.closer != "" {
		x.finishOpen()
	}
	for x.at < len(x.text) {
		x.step()
	}
	return string(x.code), string(x.comment)
}

// finishOpen passes over what an earlier line left open.
func (x *lexer) finishOpen() {
	start := x.at
	if x.closer == "*/" {
		x.skipTo("*/", false)
		copy(x.comment[start:x.at], x.text[start:x.at])
		return
	}
	x.skipTo(x.closer, x.closer != x.lang.raw)
}

// skipTo moves behind the closer, or to the end of the line and leaves it open.
func (x *lexer) skipTo(closer string, escapes bool) {
	for x.at < len(x.text) {
		switch {
		case escapes && x.text[x.at] == '\\':
			x.at += 2
		case strings.HasPrefix(x.text[x.at:], closer):
			x.at += len(closer)
			x.closer = ""
			return
		default:
			x.at++
		}
	}
	x.at = len(x.text)
	x.closer = closer
}

func (x *lexer) step() {
	rest := x.text[x.at:]
	switch {
	case x.lineComment(rest):
		copy(x.comment[x.at:], rest)
		x.at = len(x.text)
	case x.lang.block && strings.HasPrefix(rest, "/*"):
		start := x.at
		x.at += 2
		x.skipTo("*/", false)
		copy(x.comment[start:x.at], x.text[start:x.at])
	case x.multiString(rest), x.charLiteral(rest), x.shortString(rest), x.regexLiteral(rest):
	default:
		x.code[x.at] = x.text[x.at]
		x.at++
	}
}

// lineComment reports whether a comment begins here. A # counts after a blank
// only: in most languages it has other uses inside a word.
func (x *lexer) lineComment(rest string) bool {
	for _, mark := range x.lang.line {
		if !strings.HasPrefix(rest, mark) {
			continue
		}
		if mark == "#" && x.lang != langPython && x.at > 0 && !strings.ContainsRune(" \t;", rune(x.text[x.at-1])) {
			continue
		}
		if x.lang == langPHP && strings.HasPrefix(rest, "#[") {
			continue
		}
		return true
	}
	return false
}

func (x *lexer) multiString(rest string) bool {
	for _, quote := range x.lang.multi {
		if !strings.HasPrefix(rest, quote) {
			continue
		}
		closer := quote
		if x.lang == langRust {
			closer = quote + x.rustHashes()
		}
		x.keepQuote(len(quote))
		x.skipTo(closer, quote != x.lang.raw && closer == quote)
		return true
	}
	return false
}

// rustHashes gives the hashes before the quote of a raw string: r##"…"##.
func (x *lexer) rustHashes() string {
	n := 0
	for n < x.at && x.text[x.at-1-n] == '#' {
		n++
	}
	if n == 0 || x.at-1-n < 0 || x.text[x.at-1-n] != 'r' {
		return ""
	}
	return strings.Repeat("#", n)
}

// keepQuote leaves the opening quote in the code, so that a rule sees that an argument is a string.
func (x *lexer) keepQuote(n int) {
	copy(x.code[x.at:x.at+n], x.text[x.at:x.at+n])
	x.at += n
}

func (x *lexer) charLiteral(rest string) bool {
	if !x.lang.charLit || rest[0] != '\'' {
		return false
	}
	end := strings.IndexByte(rest[1:], '\'')
	if strings.HasPrefix(rest, `'\`) && len(rest) > 2 {
		end = strings.IndexByte(rest[3:], '\'')
		if end >= 0 {
			end += 2
		}
	}
	if end < 0 || end > 10 {
		return false
	}
	if end > 4 && rest[1] != '\\' {
		return false
	}
	x.at += end + 2
	return true
}

func (x *lexer) shortString(rest string) bool {
	if strings.IndexByte(x.lang.quotes, rest[0]) < 0 {
		return false
	}
	x.keepQuote(1)
	x.skipTo(rest[:1], true)
	x.closer = ""
	return true
}

// regexLiteral passes over /…/ where an operand is expected.
func (x *lexer) regexLiteral(rest string) bool {
	if !x.lang.regexLit || rest[0] != '/' {
		return false
	}
	before := strings.TrimRight(string(x.code[:x.at]), " \t")
	if before != "" && !strings.ContainsRune("(,=:[!&|?{};~", rune(before[len(before)-1])) && !strings.HasSuffix(before, "return") {
		return false
	}
	class := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			x.at += i + 1
			return true
		}
	}
	return false
}
