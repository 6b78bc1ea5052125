package reply

import (
	"slices"
	"strings"

	"git-runr/loop/prose"
)

// sectionKind is what stands below a heading or a lead-in.
type sectionKind byte

const (
	sectionPlain    sectionKind = iota
	sectionAsking               // what is to be done: every item counts
	sectionCriteria             // what was asked of the change: only what is marked incomplete counts
	sectionMuted                // the past, praise, examples: nothing counts
)

// asksNothing reports whether the section below title lists what was asked before,
// what is met, what was required, or praise.
func asksNothing(title string) bool {
	kind := kindOfTitle(title)
	return kind == sectionMuted || kind == sectionCriteria
}

var (
	openWords = prose.WordSet(`unmet missing open unresolved unaddressed outstanding remaining gaps still not failed failing incomplete`)

	criteriaWords = prose.WordSet(`criteria checklist acceptance`)

	mutedWords = prose.WordSet(`previous previously earlier resolved addressed fixed strengths strength positive positives praise pros met example examples kudos`)

	askingWords = prose.WordSet(`requested required requests todo todos actions action blocking blockers blocker issues issue problems problem concerns concern remaining unmet
		missing open unresolved outstanding fixes nits nit suggestions recommendations improvements improve weaknesses cons wanted needed reasons
		faults defects objections fix left gaps minor major optional`)
)

// kindOfTitle reads a heading.
func kindOfTitle(title string) sectionKind {
	words := wordsOf(title)
	if len(words) == 0 || len(words) > 12 {
		return sectionPlain
	}
	open := hasWord(words, openWords) || says(words, "to be", "must be", "needs to", "to do", "must fix")
	criteria := slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "requirement") }) || hasWord(words, criteriaWords) ||
		says(words, "done checks", "done check", "definition of done") || len(words) < 3 && words[len(words)-1] == "checks"
	switch {
	case criteria && !open:
		return sectionCriteria
	case !open && tellsOfThePast(words):
		return sectionMuted
	case words[0] == "no" || words[0] == "0":
		return sectionPlain
	case open || hasWord(words, askingWords) || says(words, "to change", "i want", "i would like", "next steps", "before merging", "before merge", "not approved", "request changes"):
		return sectionAsking
	}
	return sectionPlain
}

// tellsOfThePast: titles of earlier rounds, of what is good and of what the change does.
func tellsOfThePast(words []string) bool {
	return hasWord(words, mutedWords) || says(words, "last round", "last time", "last review", "what's good", "what is good", "went well", "well done", "output format",
		"change does", "pr does", "commit does", "patch does", "changes made", "what changed", "summary of changes", "what was done", "you wrote",
		"this change", "this pr", "this commit", "looks good", "i like", "i liked")
}

// kindOfLead reads a line that introduces what follows.
func kindOfLead(text string) sectionKind {
	words := wordsOf(text)
	if says(words, "i verified", "i checked", "i ran", "i read", "i reviewed", "i looked at", "i tested", "files reviewed", "does the following", "wrote", "said", "review the change") {
		return sectionMuted
	}
	return kindOfTitle(text)
}
