package diagnose

import (
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
)

// folded returns text in the form in which words are compared: in lower case, without plural endings, each between
// single spaces. It returns "" if text has no word.
func folded(text string) string {
	words := each.Of(prose.Words(text), prose.Singular)
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ") + " "
}

// phrases parses a comma-separated list into folded phrases.
func phrases(list string) []string { return each.Of(strings.Split(list, ","), folded) }

// firstOf returns the position of the first phrase in a folded text, or -1 if there is none.
func firstOf(text string, phrases ...string) int {
	first := -1
	for _, p := range phrases {
		if at := strings.Index(text, p); p != "" && at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// request is the text of a request in two folded forms with equal positions.
type request struct {
	raw   string
	all   string // all words
	prose string // without paths and identifiers, which name a place and ask for nothing
}

func newRequest(text string) request {
	r := request{raw: text, all: " ", prose: " "}
	for _, t := range prose.Tokens(text, "") {
		words := strings.TrimPrefix(folded(t.Raw), " ")
		r.all += words
		if isPlace(t) && words != "" {
			words = strings.Repeat("/", len(words)-1) + " "
		}
		r.prose += words
	}
	return r
}

// has reports whether the request has one of the phrases outside of paths and identifiers.
func (r request) has(phrases []string) bool { return firstOf(r.prose, phrases...) >= 0 }

// isPlace reports whether t is a path, an address or an identifier instead of a word of prose.
func isPlace(t prose.Token) bool {
	bare := strings.Trim(t.Text, "`,;:.!?*()")
	if strings.ContainsAny(bare, "/_\\=$") || strings.Contains(bare, "::") || strings.Contains(t.Raw, "()") {
		return true
	}
	stem, ext, dotted := strings.Cut(bare, ".")
	return dotted && stem != "" && ext != ""
}
