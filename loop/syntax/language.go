package syntax

import (
	"maps"
	"path"
	"strings"
	"sync"
)

// quote is a kind of string literal.
type quote struct {
	open, close string
	escape      bool // a backslash takes the next character along
	multi       bool // it may go over lines
	loose       bool // it may go over lines, which is believed of a whole file only: a part may begin inside one
	char        bool // one character only: see charLiteral
}

// Language is what the scanner knows of one language.
type Language struct {
	ID       string
	Settings bool // of settings more than of code: values may stand without quotes

	lineComments  []string
	attributes    bool // "#[" begins no comment
	spacedHash    bool // "#" begins a comment at the start of a word only
	blockComments [][2]string
	nested        bool // block comments nest
	quotes        []quote
	keywords      string // separated by blanks
	builtins      string
	fold          bool   // keywords in any case
	sigils        string // bytes that a word may begin with beside letters
	wordBytes     string // bytes within words beside letters and digits
	calls         bool   // word( is a call
	stringKeys    bool   // "word": is a key
	wordKeys      string // what makes a key of the word before it at the start of a line
	units         bool   // numbers may end in a per cent sign
	regexps       bool   // /…/ may be a literal
	rawString     func(rest string) (openText, int)
	heredoc       func(*Scanner, *openText) bool
	lineStart     func(*Scanner) // looks at the start of each line
	scan          func(*Scanner) // instead of all of the above

	once  sync.Once
	table map[string]Kind
}

// words are the language's words, made when they are first needed.
func (l *Language) words() map[string]Kind {
	l.once.Do(func() {
		l.table = map[string]Kind{}
		for w := range strings.FieldsSeq(l.builtins) {
			l.table[w] = Builtin
		}
		for w := range strings.FieldsSeq(l.keywords) {
			l.table[w] = Keyword
		}
	})
	return l.table
}

var (
	doubleQuote  = quote{open: `"`, close: `"`, escape: true}
	singleQuote  = quote{open: `'`, close: `'`, escape: true}
	charQuote    = quote{open: `'`, close: `'`, escape: true, char: true}
	looseDouble  = quote{open: `"`, close: `"`, escape: true, loose: true}
	looseSingle  = quote{open: `'`, close: `'`, escape: true, loose: true}
	rawSingle    = quote{open: `'`, close: `'`}
	tripleDouble = quote{open: `"""`, close: `"""`, escape: true, multi: true}
	tripleSingle = quote{open: `'''`, close: `'''`, escape: true, multi: true}
	slashes      = []string{"//"}
	hash         = []string{"#"}
	cComment     = [][2]string{{"/*", "*/"}}
)

// languages are made on first use: the program starts without them.
var languages = sync.OnceValue(func() map[string]*Language {
	all := map[string]*Language{"markup": {scan: markup}, "markdown": {scan: markdownSource}}
	for _, family := range []map[string]*Language{bracketLanguages(), wordLanguages(), dataLanguages()} {
		maps.Copy(all, family)
	}
	for id, l := range all {
		l.ID = id
	}
	return all
})

// bracketLanguages are those that set their blocks in curly brackets.
func bracketLanguages() map[string]*Language {
	return map[string]*Language{
		"go": {
			lineComments: slashes, blockComments: cComment, calls: true,
			quotes:   []quote{doubleQuote, charQuote, {open: "`", close: "`", multi: true}},
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			builtins: "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota",
		},
		"js": {
			lineComments: slashes, blockComments: cComment, calls: true, sigils: "$@", regexps: true,
			quotes:   []quote{doubleQuote, singleQuote, {open: "`", close: "`", escape: true, multi: true}},
			keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of override private protected public readonly return satisfies set static super switch this throw try type typeof var void while with yield",
			builtins: "any bigint boolean never number object string symbol unknown undefined null true false NaN Infinity",
		},
		"rust": {
			lineComments: slashes, blockComments: cComment, nested: true, calls: true, rawString: rustRaw,
			quotes:   []quote{{open: `"`, close: `"`, escape: true, multi: true}, charQuote},
			keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while yield",
			builtins: "self Self true false bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result Some None Ok Err Box",
		},
		"c": {
			lineComments: slashes, blockComments: cComment, calls: true, rawString: cppRaw, lineStart: preprocessor,
			quotes:   []quote{doubleQuote, charQuote},
			keywords: "alignas alignof and asm auto break case catch class co_await co_return co_yield concept const consteval constexpr constinit const_cast continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if import inline module mutable namespace new noexcept not operator or override private protected public register reinterpret_cast requires restrict return sizeof static static_assert static_cast struct switch template this thread_local throw try typedef typeid typename union using virtual volatile while",
			builtins: "bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t true false nullptr NULL",
		},
		"java": {
			lineComments: slashes, blockComments: cComment, calls: true, sigils: "@",
			quotes:   []quote{tripleDouble, doubleQuote, charQuote},
			keywords: "abstract as assert break by case catch class companion const constructor continue data def default do else enum extends final finally for fun goto if implements import in init inline instanceof interface internal is lateinit module native new object open operator out override package permits private protected public record return sealed static strictfp super suspend switch synchronized this throw throws trait transient try typealias val var volatile when where while with yield",
			builtins: "boolean byte char double float int long short void true false null String Object Integer Boolean Long Int Unit Any",
		},
		"csharp": {
			lineComments: slashes, blockComments: cComment, calls: true, sigils: "@#",
			quotes:   []quote{{open: `"""`, close: `"""`, multi: true}, {open: `@"`, close: `"`, multi: true}, doubleQuote, charQuote},
			keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock nameof namespace new operator out override params partial private protected public readonly record ref required return sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using virtual volatile when where while with yield",
			builtins: "bool byte char decimal double dynamic float int long nint nuint object sbyte short string uint ulong ushort var void true false null",
		},
		"swift": {
			lineComments: slashes, blockComments: cComment, nested: true, calls: true, sigils: "@#",
			quotes:   []quote{tripleDouble, doubleQuote},
			keywords: "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate final for func guard if import in indirect init inout internal is lazy let mutating nonisolated open operator override private protocol public repeat rethrows return some static struct subscript super switch throw throws try typealias unowned var weak where while",
			builtins: "self Self true false nil Any Bool Character Double Float Int String Void",
		},
		"dart": {
			lineComments: slashes, blockComments: cComment,
			quotes: []quote{tripleDouble, tripleSingle, doubleQuote, singleQuote},
		},
		"php": {
			lineComments: []string{"//", "#"}, attributes: true, blockComments: cComment, calls: true, sigils: "$", fold: true, heredoc: heredoc,
			quotes:   []quote{looseDouble, looseSingle},
			keywords: "abstract and as break case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield",
			builtins: "array bool callable false float int iterable mixed never null object parent self string true void",
		},
	}
}

// wordLanguages are those whose blocks end by a word, an indent or with the statement.
func wordLanguages() map[string]*Language {
	return map[string]*Language{
		"python": {
			lineComments: hash, calls: true, sigils: "@",
			quotes:   []quote{tripleDouble, tripleSingle, doubleQuote, singleQuote},
			keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
			builtins: "None True False self cls int str float bool bytes list dict set tuple object type",
		},
		"ruby": {
			lineComments: hash, spacedHash: true, calls: true, sigils: "@$:", wordBytes: "?!", regexps: true, heredoc: heredoc,
			quotes:   []quote{looseDouble, looseSingle, {open: "`", close: "`", escape: true}},
			keywords: "alias and begin break case class def defined? do else elsif end ensure for if in include module next not or private protected public raise redo require require_relative rescue retry return super then undef unless until when while yield attr_accessor attr_reader attr_writer",
			builtins: "nil true false self __FILE__ __LINE__",
		},
		"elixir": {
			lineComments: hash, spacedHash: true, quotes: []quote{tripleDouble, doubleQuote, singleQuote},
		},
		"lua": {
			lineComments: []string{"--"}, calls: true, quotes: []quote{{open: "[[", close: "]]", multi: true}, doubleQuote, singleQuote},
			keywords: "and break do else elseif end for function goto if in local not or repeat return then until while", builtins: "nil true false self",
		},
		"shell": {
			Settings: true, lineComments: hash, spacedHash: true, sigils: "$", wordBytes: "-", heredoc: heredoc,
			quotes:   []quote{looseDouble, {open: `'`, close: `'`, loose: true}},
			keywords: "case coproc do done elif else esac fi for function if in select then time until while",
			builtins: "alias break cd continue declare echo eval exec exit export false local printf pwd read readonly return set shift source test trap true type ulimit umask unset wait",
		},
		"sql": {
			lineComments: []string{"--"}, blockComments: cComment, fold: true, calls: true,
			quotes:   []quote{{open: `'`, close: `'`, loose: true}, {open: `"`, close: `"`}, {open: "`", close: "`"}},
			keywords: "add all alter analyze and any as asc begin between by cascade case check column commit constraint create cross current database default delete desc distinct do drop each else end except exists explain for foreign from full function grant group having if in index inner insert intersect into is join key left like limit natural not of offset on or order outer over partition primary procedure recursive references replace restrict returning returns revoke right rollback row select set table temporary then to transaction trigger union unique update using values view when where window with",
			builtins: "bigint blob boolean bytea char date decimal double false float int integer json jsonb null numeric real serial smallint text time timestamp timestamptz true uuid varchar",
		},
	}
}

// dataLanguages are those of settings, data, style sheets and recipes.
func dataLanguages() map[string]*Language {
	return map[string]*Language{
		"json": {
			lineComments: slashes, blockComments: cComment, stringKeys: true, quotes: []quote{doubleQuote}, builtins: "true false null",
		},
		"yaml": {
			Settings: true, lineComments: hash, spacedHash: true, wordKeys: ":", wordBytes: "-./", sigils: "&*", stringKeys: true,
			quotes: []quote{doubleQuote, rawSingle}, builtins: "true false null yes no on off",
		},
		"toml": {
			Settings: true, lineComments: []string{"#", ";"}, wordKeys: "=", wordBytes: "-.", lineStart: sectionName,
			quotes:   []quote{tripleDouble, {open: `'''`, close: `'''`, multi: true}, doubleQuote, rawSingle},
			builtins: "true false inf nan",
		},
		"css": {
			lineComments: slashes, blockComments: cComment, wordBytes: "-", sigils: "-@.#$", wordKeys: ":", units: true, calls: true,
			quotes: []quote{doubleQuote, singleQuote}, keywords: "@media @import @font-face @keyframes @supports @layer @container @charset @use @include @mixin @extend @if @else @each",
			builtins: "inherit initial unset auto none",
		},
		"docker": {
			Settings: true, lineComments: hash, spacedHash: true, sigils: "$", wordBytes: "-", lineStart: instruction,
			quotes: []quote{doubleQuote, rawSingle},
		},
		"make": {
			Settings: true, lineComments: hash, sigils: "$@", wordBytes: "-./%", lineStart: targetName,
			keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override private unexport vpath",
		},
		"hash": { // Terraform, Perl, R and others
			Settings: true, lineComments: hash, spacedHash: true, quotes: []quote{doubleQuote, singleQuote},
		},
	}
}

// files are the names and endings of each language's files: those that the page colours and
// the reviewer reads as code, and those of one of the two.
var files = []struct{ language, both, coloured, reviewed string }{
	{"go", ".go", ".templ go.mod go.work", ""},
	{"js", ".js .mjs .cjs .jsx .ts .mts .cts .tsx", "", ".vue .svelte"},
	{"python", ".py .pyi", ".pyw .bzl .star build workspace", ".pyx"},
	{"rust", ".rs", "", ""},
	{"c", ".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .proto", ".ino .cu .glsl", ".zig"},
	{"java", ".java .kt .kts .scala .groovy .gradle", ".dart jenkinsfile", ""},
	{"dart", "", "", ".dart"},
	{"csharp", ".cs", "", ""},
	{"swift", ".swift", "", ""},
	{"ruby", ".rb .rake .gemspec gemfile rakefile vagrantfile", "", ".ru guardfile podfile fastfile"},
	{"elixir", "", "", ".ex .exs"},
	{"php", ".php", "", ""},
	{"shell", ".sh .bash .zsh", ".fish .env .bashrc .profile .zshrc pkgbuild", ".ksh"},
	{"sql", ".sql", "", ""},
	{"json", "", ".json .jsonc .json5 .webmanifest .ipynb", ""},
	{"yaml", ".yaml .yml", "", ""},
	{"toml", ".toml", ".ini .cfg .conf .properties .editorconfig .gitconfig cargo.lock", ""},
	{"css", ".css .scss .less", "", ""},
	{"docker", "dockerfile containerfile", ".dockerfile", ""},
	{"make", ".mk makefile gnumakefile", ".mak", ""},
	{"hash", "", "", ".tf .hcl .pl .pm .r .cmake .nix .jl justfile"},
	{"lua", "", ".lua", ""},
	{"markup", "", ".html .htm .xml .svg .xhtml .vue .svelte .plist .csproj .tmpl .xsl", ""},
	{"markdown", ".md .markdown .mdx", "", ""},
}

// byFile are the languages by a file's name or ending: the coloured and the reviewed one.
var byFile = sync.OnceValue(func() (tables [2]map[string]*Language) {
	tables = [2]map[string]*Language{{}, {}}
	for _, f := range files {
		for i, own := range []string{f.coloured, f.reviewed} {
			for name := range strings.FieldsSeq(f.both + " " + own) {
				tables[i][name] = languages()[f.language]
			}
		}
	}
	return tables
})

// Coloured is the language of a file by its name, nil when it has no colours.
func Coloured(file string) *Language {
	base := strings.ToLower(path.Base(file))
	if strings.HasPrefix(base, "dockerfile.") {
		return languages()["docker"]
	}
	return find(byFile()[0], base)
}

// Reviewed is the language of a file by its name, nil when it is no code that we know.
func Reviewed(file string) *Language { return find(byFile()[1], strings.ToLower(path.Base(file))) }

func find(table map[string]*Language, base string) *Language {
	if l, ok := table[base]; ok {
		return l
	}
	return table[path.Ext(base)]
}

// Named is the language of a fenced block, by its name or file ending.
func Named(name string) *Language {
	name = strings.ToLower(name)
	for _, other := range [][2]string{{"golang", "go"}, {"javascript", "js"}, {"typescript", "js"}, {"bash", "shell"}, {"console", "shell"}, {"cpp", "c"}, {"c++", "c"}, {"c#", "csharp"}, {"dockerfile", "docker"}, {"makefile", "make"}, {"kotlin", "java"}} {
		if other[0] == name {
			name = other[1]
		}
	}
	for _, f := range files {
		if f.language == name && f.both+f.coloured != "" {
			return languages()[name]
		}
	}
	return byFile()[0]["."+name]
}

// rustRaw is r"…", r#"…"# and their byte forms.
func rustRaw(rest string) (openText, int) {
	body := strings.TrimPrefix(rest, "b")
	body, ok := strings.CutPrefix(body, "r")
	hashes := len(body) - len(strings.TrimLeft(body, "#"))
	if !ok || !strings.HasPrefix(body[hashes:], `"`) {
		return openText{}, 0
	}
	return openText{kind: String, close: `"` + body[:hashes]}, len(rest) - len(body) + hashes + 1
}

// cppRaw is R"name(…)name".
func cppRaw(rest string) (openText, int) {
	body, ok := strings.CutPrefix(rest, `R"`)
	name, _, ok2 := strings.Cut(body[:min(len(body), 17)], "(")
	if !ok || !ok2 {
		return openText{}, 0
	}
	return openText{kind: String, close: ")" + name + `"`}, len(`R"`) + len(name) + 1
}

// heredoc notes what "<<WORD" asks for: the lines after this one, up to WORD.
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
	if size == 0 || isDigit(word[0]) || strings.HasPrefix(rest, "  ") || s.lang.calls && word[0] >= 'a' {
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

// preprocessor marks a C directive.
func preprocessor(s *Scanner) {
	body := strings.TrimLeft(s.src, " \t")
	name, ok := strings.CutPrefix(body, "#")
	if !ok {
		return
	}
	name = strings.TrimLeft(name, " \t")
	size := 0
	for size < len(name) && IsWordByte(name[size]) {
		size++
	}
	end := len(s.src) - len(name) + size
	s.emit(Plain, len(s.src)-len(body))
	s.emit(Keyword, end)
	if after := strings.TrimLeft(s.src[end:], " \t"); strings.HasPrefix(after, "<") && strings.Contains(after, ">") {
		s.emit(Plain, len(s.src)-len(after))
		s.emit(String, len(s.src)-len(after)+strings.Index(after, ">")+1)
	}
}

// sectionName marks "[name]" of an INI or TOML file.
func sectionName(s *Scanner) {
	if strings.HasPrefix(s.src, "[") {
		if end := strings.LastIndexByte(s.src, ']'); end > 0 && !strings.Contains(s.src[:end], "#") {
			s.emit(Heading, end+1)
		}
	}
}

// instruction marks the first word of a line of a Dockerfile.
func instruction(s *Scanner) {
	body := strings.TrimLeft(s.src, " \t")
	word, _, _ := strings.Cut(body, " ")
	if word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		s.emit(Plain, len(s.src)-len(body))
		s.emit(Keyword, len(s.src)-len(body)+len(word))
	}
}

// targetName marks "name:" of a Makefile.
func targetName(s *Scanner) {
	if s.src == "" || isBlank(s.src[0]) || s.src[0] == '#' {
		return
	}
	if i := strings.IndexAny(s.src, ":="); i > 0 && s.src[i] == ':' && !strings.HasPrefix(s.src[i:], ":=") && !strings.ContainsAny(s.src[:i], "#$") {
		s.emit(Heading, i)
	}
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

// tagStart is the length of "<name", "</name", "<?name" or "<!name"; 0 for none.
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
			s.open = openText{kind: String, close: body[:len(body)-len(strings.TrimLeft(body, fence[:1]))], line: true, fence: true}
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
