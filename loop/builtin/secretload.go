package builtin

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Secrets finds secrets in texts: with the rules of gitleaks' configuration and with our own. A nil Secrets has our own
// rules alone.
type Secrets struct{ rules func() *secretRules }

// NewSecrets returns the search with the rules of gitleaks' configuration that read returns. It reads them when the
// first text that may hold a secret is searched. If that fails, it calls warn and searches with our own rules alone, of
// which likelyToken is one then.
func NewSecrets(read func() (string, error), warn func(error)) *Secrets {
	return &Secrets{sync.OnceValue(func() *secretRules {
		text, err := read()
		if err != nil {
			warn(err)
			return ownRulesAlone()
		}
		return readSecretRules(text)
	})}
}

var ownRulesAlone = sync.OnceValue(func() *secretRules { return readSecretRules("") })

func (s *Secrets) loaded() *secretRules {
	if s == nil {
		return ownRulesAlone()
	}
	return s.rules()
}

// readSecretRules reads only the rules' ids and keywords. Decoding the whole configuration would take 4 to 15 ms, and
// most texts need none of it. An empty configuration gives our own rules.
func readSecretRules(configuration string) *secretRules {
	head, _, _ := strings.Cut(configuration, ruleHeader)
	s := &secretRules{rules: slices.Concat(ownSecretRules(), publishedRules(configuration)), own: configuration == ""}
	_, s.err = toml.Decode(head, s)
	s.Allowlists = append(s.Allowlists, s.Allowlist)
	prepareLists(s.Allowlists)
	for i, r := range s.rules {
		for _, word := range r.Keywords {
			s.keywords.add(word, i)
		}
	}
	return s
}

const ruleHeader = "\n[[rules]]\n"

var (
	ruleID       = lazy(`\nid = "([^"]*)"`)
	ruleKeywords = lazy(`\nkeywords = \[[^\]]*\]`)
	quoted       = lazy(`"([^"]*)"`) // keywords and ids contain no escapes
)

// publishedRules returns the rules of a configuration.
func publishedRules(configuration string) (rules []*secretRule) {
	_, rest, _ := strings.Cut(configuration, ruleHeader)
	for block := range strings.SplitSeq(rest, ruleHeader) {
		if block != "" {
			rules = append(rules, publishedRule(block))
		}
	}
	return rules
}

// publishedRule reads only the two fields of a rule that are needed at once.
func publishedRule(block string) *secretRule {
	r := &secretRule{}
	if id := ruleID().FindStringSubmatch("\n" + block); id != nil {
		r.ID = id[1]
	}
	for _, word := range quoted().FindAllStringSubmatch(ruleKeywords().FindString(block), -1) {
		r.Keywords = append(r.Keywords, word[1])
	}
	switch r.ID {
	case genericRule:
		r.accept, r.wanted = acceptGeneric, hasMixedWord
	case "url-password":
		r.accept, r.anchored = acceptURL, true
	case "assigned-secret":
		r.accept, r.anchored = acceptAssigned, true
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
