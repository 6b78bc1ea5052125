package syntax

import (
	"cmp"
	_ "embed" // the table of languages
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// quote is a kind of string literal.
type quote struct {
	Open, Close string
	Escape      bool // a backslash escapes the next character
	Multi       bool // it may span lines
	Loose       bool // it may span lines, but only in a whole file: a part of a file may begin inside one
	Char        bool // a single character; see charLiteral
}

// Language describes one language for the scanner: an entry of languages.json, which is documented here, and functions
// for what a table cannot express.
type Language struct {
	ID       string
	Settings bool // a format of settings: values may be unquoted

	// Both, Coloured and Reviewed are names and endings of files, separated by blanks: files that the page colours and
	// the built-in reviewer reads as code, and files that only one of the two handles.
	Both, Coloured, Reviewed string

	LineComments  []string
	Attributes    bool // "#[" does not begin a comment
	SpacedHash    bool // "#" begins a comment only at the start of a word
	BlockComments [][2]string
	Nested        bool // block comments nest
	Quotes        []quote
	Keywords      string // separated by blanks
	Builtins      string
	Fold          bool   // keywords in any case
	Sigils        string // bytes besides letters that may begin a word
	WordBytes     string // bytes besides letters and digits that may be in a word
	Calls         bool   // word( is a call
	StringKeys    bool   // "word": is a key
	WordKeys      string // text that makes the word before it a key, at the start of a line
	Units         bool   // numbers may end in a per cent sign
	Regexps       bool   // /…/ may be a literal
	// Head is a pattern for the start of a line: its first group is of the kind HeadKind, its second is a string.
	Head, HeadKind string
	// Raw is a pattern for the start of a raw string, which RawClose ends: $1 in it is the pattern's group.
	Raw, RawClose string

	raw     func() *regexp.Regexp // Raw; nil if it is empty
	heredoc func(*Scanner, *openText) bool
	head    func() *regexp.Regexp // Head; nil if it is empty
	scan    func(*Scanner)        // replaces all of the above

	once  sync.Once
	table map[string]Kind
}

// words returns the language's words; the table is built at its first use.
func (l *Language) words() map[string]Kind {
	l.once.Do(func() {
		l.table = map[string]Kind{}
		for w := range strings.FieldsSeq(l.Builtins) {
			l.table[w] = Builtin
		}
		for w := range strings.FieldsSeq(l.Keywords) {
			l.table[w] = Keyword
		}
	})
	return l.table
}

//go:embed languages.json
var languagesJSON []byte

// languages are loaded at their first use, to keep the program's start fast.
var languages = sync.OnceValue(func() map[string]*Language {
	var all map[string]*Language
	if err := json.Unmarshal(languagesJSON, &all); err != nil {
		panic("languages.json: " + err.Error()) // a test loads the file
	}
	for id, l := range all {
		l.ID = id
		if l.Head != "" {
			l.head = lazyre.Compile(l.Head)
		}
		if l.Raw != "" {
			l.raw = lazyre.Compile(l.Raw)
		}
	}
	for _, id := range []string{"php", "ruby", "shell"} {
		all[id].heredoc = heredoc
	}
	all["markup"].scan, all["markdown"].scan = markup, markdownSource
	return all
})

// byFile maps a file's name or ending to its language: for colouring, and for the reviewer.
var byFile = sync.OnceValue(func() (tables [2]map[string]*Language) {
	tables = [2]map[string]*Language{{}, {}}
	for _, l := range languages() {
		for i, own := range []string{l.Coloured, l.Reviewed} {
			for name := range strings.FieldsSeq(l.Both + " " + own) {
				tables[i][name] = l
			}
		}
	}
	return tables
})

// Coloured returns the language of a file by its name, nil if it is not coloured.
func Coloured(file string) *Language {
	base := strings.ToLower(path.Base(file))
	if strings.HasPrefix(base, "dockerfile.") {
		return languages()["docker"]
	}
	return find(byFile()[0], base)
}

// Reviewed returns the language of a file by its name, nil if it is not known code.
func Reviewed(file string) *Language { return find(byFile()[1], strings.ToLower(path.Base(file))) }

func find(table map[string]*Language, base string) *Language {
	if l, ok := table[base]; ok {
		return l
	}
	return table[path.Ext(base)]
}

// otherNames are common alternative names of languages.
var otherNames = map[string]string{
	"golang": "go", "javascript": "js", "typescript": "js", "bash": "shell", "console": "shell", "cpp": "c", "c++": "c",
	"c#": "csharp", "dockerfile": "docker", "makefile": "make", "kotlin": "java",
}

// Named returns the language of a fenced block, by its name or file ending.
func Named(name string) *Language {
	name = strings.ToLower(name)
	name = cmp.Or(otherNames[name], name)
	if l := languages()[name]; l != nil && l.Both+l.Coloured != "" {
		return l
	}
	return byFile()[0]["."+name]
}

// heredoc reads "<<WORD", which makes a string of the following lines, up to WORD.
func heredoc(s *Scanner, open *openText) bool {
	rest, ok := strings.CutPrefix(s.rest(), "<<")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, "<-~")
	word := strings.TrimLeft(rest, ` '"`)
	size := 0
	for size < len(word) && IsWordByte(word[size]) {
		size++
	}
	if size == 0 || isDigit(word[0]) || strings.HasPrefix(rest, "  ") || s.lang.Calls && word[0] >= 'a' {
		return false
	}
	*open = openText{kind: String, close: word[:size], line: true}
	end := len(s.src) - len(word) + size
	if end < len(s.src) && (s.src[end] == '\'' || s.src[end] == '"') {
		end++
	}
	s.emit(String, end)
	return true
}

// markup scans HTML and XML: comments, tags, attributes and their values.
func markup(s *Scanner) {
	for s.at < len(s.src) {
		rest := s.rest()
		switch {
		case s.open.tag:
			s.insideTag()
		case strings.HasPrefix(rest, "<!--"):
			s.take(openText{kind: Comment, close: "-->"}, len("<!--"))
		case strings.HasPrefix(rest, "<![CDATA["):
			s.take(openText{kind: String, close: "]]>"}, len("<![CDATA["))
		case tagStart(rest) > 0:
			s.emit(Heading, s.at+tagStart(rest))
			s.open.tag = true
		default:
			next := strings.IndexByte(rest[1:], '<')
			if next < 0 {
				next = len(rest) - 1
			}
			s.emit(Plain, s.at+next+1)
		}
	}
}

// tagStart returns the length of "<name", "</name", "<?name" or "<!name"; 0 for none.
func tagStart(rest string) int {
	i := 1
	if rest[0] != '<' || len(rest) < 2 {
		return 0
	}
	if strings.IndexByte("/?!", rest[1]) >= 0 {
		i++
	}
	start := i
	for i < len(rest) && (IsWordByte(rest[i]) || strings.IndexByte(":-.", rest[i]) >= 0) {
		i++
	}
	if i == start {
		return 0
	}
	return i
}

func (s *Scanner) insideTag() {
	rest := s.rest()
	switch c := rest[0]; {
	case c == '>':
		s.emit(Heading, s.at+1)
		s.open.tag = false
	case c == '"' || c == '\'':
		s.take(openText{kind: String, close: string(c)}, 1)
	case IsWordByte(c) || c == ':' || c == '@':
		i := 1
		for i < len(rest) && strings.IndexByte(" \t=>\"'/", rest[i]) < 0 {
			i++
		}
		s.emit(Key, s.at+i)
	default:
		s.emit(Plain, s.at+1)
	}
}

// markdownSource scans the source of Markdown: headings, fences, quotes and code spans.
func markdownSource(s *Scanner) {
	body := strings.TrimLeft(s.rest(), " ")
	for _, fence := range []string{"```", "~~~"} {
		if strings.HasPrefix(body, fence) && !strings.Contains(body[len(fence):], fence) {
			s.emit(String, len(s.src))
			s.open = openText{kind: String, close: body[:len(body)-len(strings.TrimLeft(body, fence[:1]))], line: true,
				fence: true}
			return
		}
	}
	switch {
	case strings.HasPrefix(body, "#") && strings.HasPrefix(strings.TrimLeft(body, "#"), " "):
		s.emit(Heading, len(s.src))
	case strings.HasPrefix(body, ">"):
		s.emit(Comment, len(s.src))
	}
	for s.at < len(s.src) {
		rest := s.rest()
		if rest[0] == '`' {
			if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
				s.emit(String, s.at+end+2)
				continue
			}
		}
		next := strings.IndexByte(rest[1:], '`')
		if next < 0 {
			next = len(rest) - 1
		}
		s.emit(Plain, s.at+next+1)
	}
}
