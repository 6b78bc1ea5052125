package builtin

import (
	"fmt"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
	"github.com/zricethezav/gitleaks/v8/config"
)

// loadSecretRules reads the rules' ids and keywords at the first call. Decoding the whole
// configuration would take 4 to 15 ms, and most texts need none of it.
var loadSecretRules = sync.OnceValue(func() *secretRules {
	head, rest, _ := strings.Cut(config.DefaultConfig, ruleHeader)
	s := &secretRules{rules: ownSecretRules()}
	_, s.err = toml.Decode(head, s)
	s.Allowlists = append(s.Allowlists, s.Allowlist)
	prepareLists(s.Allowlists)
	for block := range strings.SplitSeq(rest, ruleHeader) {
		s.rules = append(s.rules, publishedRule(block))
	}
	for i, r := range s.rules {
		for _, word := range r.Keywords {
			s.keywords.add(word, i)
		}
	}
	return s
})

const ruleHeader = "\n[[rules]]\n"

// publishedRule reads only the two fields of a rule that are needed at once.
func publishedRule(block string) *secretRule {
	r := &secretRule{Keywords: quoted(between(block, "\nkeywords = [", "]"))}
	if id := quoted(between("\n"+block, "\nid = ", "\n")); len(id) == 1 {
		r.ID = id[0]
	}
	if r.ID == genericRule {
		r.accept, r.wanted = acceptGeneric, hasMixedWord
	}
	r.body = sync.OnceValue(func() *ruleBody {
		// the block contains [[rules.allowlists]] tables
		doc := struct{ Rules []*ruleBody }{}
		_, err := toml.Decode(ruleHeader+block, &doc)
		if err != nil || len(doc.Rules) != 1 {
			return &ruleBody{err: fmt.Errorf("read rule %s: %w", r.ID, err)}
		}
		return doc.Rules[0].prepare()
	})
	return r
}

// between returns the text between begin and the next end; "" if there is none.
func between(s, begin, end string) string {
	_, rest, _ := strings.Cut(s, begin)
	text, _, ok := strings.Cut(rest, end)
	if !ok {
		return ""
	}
	return text
}

// quoted returns the strings in double quotes; keywords and ids contain no escapes.
func quoted(s string) []string {
	var list []string
	for {
		_, rest, ok := strings.Cut(s, `"`)
		word, after, ok2 := strings.Cut(rest, `"`)
		if !ok || !ok2 {
			return list
		}
		list, s = append(list, word), after
	}
}
