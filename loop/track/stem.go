package track

import (
	"sync"

	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// stem is a word without its ending, and one word for those that mean the same;
// "" for a word that only gives a sentence its form.
func stem(word string) string {
	if isForm(word) {
		return ""
	}
	if same, ok := synonyms()[word]; ok {
		return same
	}
	s := prose.Stem(word)
	if same, ok := synonyms()[s]; ok {
		return same
	}
	if isForm(s) {
		return ""
	}
	return s
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

func isForm(word string) bool { return formWords.Has(word) || reply.StopWords.Has(word) }

// formWords only give a sentence its form; what they say of what is wanted is read by wishOf.
var formWords = prose.WordSet(`please must should need needs needed can could would may might will shall you your we our us i they them their one ones
	which who whose when if then than so but because since while where how what why until unless once whenever otherwise therefore thus hence
	into onto over under about via per through during across within between against before after up out off
	all every each any some more most other another both either such same own several various certain additional further remaining remain remains
	again yet already just only really very now currently properly correctly appropriately appropriate proper explicitly actually possibly possible potentially potential
	do does did done doing don't doesn't didn't isn't aren't wasn't cannot can't won't wouldn't shouldn't mustn't couldn't hasn't haven't
	not no never without missing miss misses lack lacks lacking absent none nothing nor neither omit omits omitted
	fix fixes fixed fixing resolve resolves resolved resolving correct corrects corrected repair repaired address addressed addressing
	add adds added adding addition write writes written writing create creates created creating provide provides provided providing include includes included
	implement implements implemented introduce introduced ensure ensures make makes making made sure let remove removes removed removing removal
	delete deletes deleted deleting drop drops dropped eliminate avoid avoids avoided prevent prevents stop stops keep get gets got getting rid
	want wants wanted require requires required necessary issue issues problem problems reported found see seen unit instead rather e.g i.e etc
	npm yarn pnpm reports report even though although although however well left come comes go goes having like similar`)
