package track

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// wording is what a request says, without how it says it.
type wording struct {
	words  []string // stems that mean something, each once
	names  []string // identifiers: see foldName
	files  []string
	weight int             // of words, names and files
	stems  map[string]bool // the words, and the parts of names and file names
	wish
}

// maxWording is how much of a request is compared, in bytes.
const maxWording = 2000

// readWording takes a request apart.
func readWording(text string) wording {
	w := wording{stems: map[string]bool{}}
	tokens := tokenise(prose.Cut(text, maxWording))
	for _, t := range tokens {
		w.add(t)
	}
	w.wish = wishOf(tokens)
	return w
}

func (w *wording) add(t token) {
	switch t.kind {
	case tokenFile:
		w.addFile(t.text)
	case tokenName:
		w.addName(t.text)
	case tokenWord:
		w.addWord(t.text)
	}
}

func (w *wording) addFile(file string) {
	if file == "" || slices.Contains(w.files, file) {
		return
	}
	w.files = append(w.files, file)
	w.weight += weighsLittle
	base := path.Base(file)
	w.addStems(nameParts(strings.TrimSuffix(base, path.Ext(base))))
}

func (w *wording) addName(name string) {
	folded := foldName(name)
	if folded == "" || slices.Contains(w.names, folded) {
		return
	}
	w.names = append(w.names, folded)
	w.weight += weighsName
	w.addStems(nameParts(name))
}

func (w *wording) addStems(parts []string) {
	for _, part := range parts {
		if s := stem(part); s != "" {
			w.stems[s] = true
		}
	}
}

func (w *wording) addWord(word string) {
	s := stem(word)
	if s == "" || slices.Contains(w.words, s) {
		return
	}
	w.words = append(w.words, s)
	w.weight += weighsWord
	w.stems[s] = true
}

// weightIn is the weight of what other says too.
func (w wording) weightIn(other wording) int {
	sum := 0
	for _, word := range w.words {
		if other.stems[word] {
			sum += weighsWord
		}
	}
	for _, name := range w.names {
		if other.says(name) {
			sum += weighsName
		}
	}
	for _, file := range w.files {
		if slices.ContainsFunc(other.files, func(f string) bool { return sameFile(f, file) }) {
			sum += weighsLittle
		}
	}
	return sum
}

// hasOwnName reports whether w names something that other does not speak of.
func (w wording) hasOwnName(other wording) bool {
	return slices.ContainsFunc(w.names, func(name string) bool { return !other.says(name) })
}

// says reports whether w speaks of a name: by the name, or by its parts as words.
func (w wording) says(name string) bool {
	if slices.ContainsFunc(w.names, func(n string) bool { return sameName(n, name) }) {
		return true
	}
	said := 0
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' }) {
		s := stem(part)
		if s != "" && !w.stems[s] {
			return false
		}
		if s != "" {
			said++
		}
	}
	return said > 0
}

// foldName spells an identifier in one way: "Store.readNote()" is "store.read-note".
func foldName(name string) string {
	name = strings.NewReplacer("::", ".", "->", ".", "#", ".").Replace(name)
	var groups []string
	for group := range strings.SplitSeq(name, ".") {
		if parts := nameParts(group); len(parts) > 0 {
			groups = append(groups, strings.Join(parts, "-"))
		}
	}
	return strings.Join(groups, ".")
}

// nameParts are the words that an identifier is made of, in lower case: "readHTTPBody"
// is read, http, body.
func nameParts(name string) []string {
	var parts []string
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if start < end {
			parts = append(parts, strings.ToLower(string(runes[start:end])))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			flush(i)
			start = i + 1
		case i > start && startsHump(runes, i):
			flush(i)
		}
	}
	flush(len(runes))
	return parts
}

// startsHump reports whether a new word of a camelCase name begins at i, which is not the first.
func startsHump(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	lowerBefore := unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])
	lowerAfter := i+1 < len(runes) && unicode.IsLower(runes[i+1])
	return lowerBefore || lowerAfter
}

// stem is a word without its ending, and one word for those that mean the same;
// "" for a word that only gives a sentence its form.
func stem(word string) string {
	if formWords()[word] {
		return ""
	}
	if same, ok := synonyms()[word]; ok {
		return same
	}
	s := undouble(withoutEnding(word))
	if same, ok := synonyms()[s]; ok {
		return same
	}
	if formWords()[s] {
		return ""
	}
	return s
}

// withoutEnding takes off what inflects an English word.
func withoutEnding(s string) string {
	if len(s) <= 3 {
		return s
	}
	s = singular(s)
	for _, ending := range []string{"ation", "ating", "ated", "ate", "ion", "ing", "ed", "ly", "e"} {
		if rest, ok := strings.CutSuffix(s, ending); ok && len(rest) >= 3 && strings.ContainsAny(rest, "aeiouy") {
			return rest
		}
	}
	return s
}

func singular(s string) string {
	switch {
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-3] + "y"
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "shes"):
		return s[:len(s)-2]
	case strings.HasSuffix(s, "ss"), strings.HasSuffix(s, "us"), strings.HasSuffix(s, "is"):
		return s
	}
	return strings.TrimSuffix(s, "s")
}

// undouble makes "logg" of logging "log".
func undouble(s string) string {
	if n := len(s); n > 3 && s[n-1] == s[n-2] && strings.IndexByte("bdglmnprt", s[n-1]) >= 0 {
		return s[:n-1]
	}
	return s
}

// wordSet makes a set of the words in lists.
func wordSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			set[word] = true
		}
	}
	return set
}

// synonyms gives words, and stems of words, the stem that stands for them.
var synonyms = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"failure": "error", "fail": "error", "failur": "error", "broken": "error", "err": "error", "exception": "error", "except": "error",
		"spec": "test", "untested": "test",
		"func": "function", "method": "function", "funct": "function",
		"variable": "variable", "variabl": "variable", "var": "variable",
		"argument": "param", "arg": "param", "parameter": "param",
		"document": "doc", "documentation": "doc", "undocumented": "doc", "readme": "doc",
		"directory": "folder", "dir": "folder", "configuration": "config", "configur": "config", "cfg": "config", "setting": "config",
		"msg": "message", "messag": "message", "null": "nil", "undefined": "nil", "panic": "crash", "repository": "repo",
		"authentic": "auth", "authentication": "auth", "database": "db", "typescript": "type", "typ": "type", "type": "type", "tsc": "type",
		"handl": "check", "validat": "check", "valid": "check", "verify": "check", "verification": "check", "verifi": "check",
		"unchecked": "check", "unhandled": "check", "unvalidated": "check", "unverified": "check",
		"ignor": "check", "swallow": "check", "discard": "check",
		"unescaped": "escap", "sanitis": "escap", "sanitiz": "escap", "unsanitised": "escap", "unsanitized": "escap",
		"uncovered": "cover", "coverag": "cover", "unused": "us", "unformatted": "format", "format": "format",
		"unclosed": "clos", "uninitialised": "initialis", "uninitialized": "initialis", "initializ": "initialis", "unprotected": "protect",
		"eslint": "lint", "checker": "check", "linter": "lint", "compilation": "compil", "synchronis": "synchron", "synchroniz": "synchron",
		"data": "data", "date": "date", "state": "state",
	}
})

// formWords only give a sentence its form; what they say of what is wanted is read by wishOf.
var formWords = sync.OnceValue(func() map[string]bool {
	set := wordSet(
		"please must should need needs needed can could would may might will shall you your we our us i they them their one ones",
		"which who whose when if then than so but because since while where how what why until unless once whenever otherwise therefore thus hence",
		"into onto over under about via per through during across within between against before after up out off",
		"all every each any some more most other another both either such same own several various certain additional further remaining remain remains",
		"again yet already just only really very now currently properly correctly appropriately appropriate proper explicitly actually possibly possible potentially potential",
		"do does did done doing don't doesn't didn't isn't aren't wasn't cannot can't won't wouldn't shouldn't mustn't couldn't hasn't haven't",
		"not no never without missing miss misses lack lacks lacking absent none nothing nor neither omit omits omitted",
		"fix fixes fixed fixing resolve resolves resolved resolving correct corrects corrected repair repaired address addressed addressing",
		"add adds added adding addition write writes written writing create creates created creating provide provides provided providing include includes included",
		"implement implements implemented introduce introduced ensure ensures make makes making made sure let remove removes removed removing removal",
		"delete deletes deleted deleting drop drops dropped eliminate avoid avoids avoided prevent prevents stop stops keep get gets got getting rid",
		"want wants wanted require requires required necessary issue issues problem problems reported found see seen unit instead rather e.g i.e etc",
		"npm yarn pnpm reports report even though although although however well left come comes go goes having like similar",
	)
	for word := range reply.StopWords {
		set[word] = true
	}
	return set
})
