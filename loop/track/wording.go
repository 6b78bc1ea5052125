package track

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"git-runr/loop/prose"
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
		if other.saysFile(file) {
			sum += weighsLittle
		}
	}
	return sum
}

// hasOwnFile reports whether w names a file that other does not.
func (w wording) hasOwnFile(other wording) bool {
	return slices.ContainsFunc(w.files, func(file string) bool { return !other.saysFile(file) })
}

func (w wording) saysFile(file string) bool {
	return slices.ContainsFunc(w.files, func(f string) bool { return endsAlike(f, file, "/") })
}

// hasOwnName reports whether w names something that other does not speak of.
func (w wording) hasOwnName(other wording) bool {
	return slices.ContainsFunc(w.names, func(name string) bool { return !other.says(name) })
}

// says reports whether w speaks of a name: by the name, or by its parts as words.
func (w wording) says(name string) bool {
	if slices.ContainsFunc(w.names, func(n string) bool { return endsAlike(n, name, ".") }) {
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

// The weights of what a wording is made of.
const (
	weighsLittle = 1 // files: most requests about a file share it
	weighsWord   = 2
	weighsName   = 4 // identifiers
)

// endsAlike reports whether one path or name is the other or its end, behind sep: reviewers shorten them.
func endsAlike(a, b, sep string) bool {
	return a == b || strings.HasSuffix(a, sep+b) || strings.HasSuffix(b, sep+a)
}
