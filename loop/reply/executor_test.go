package reply

import (
	"strings"
	"testing"
)

func TestVerificationSection(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"none":            {"## SUBTASK COMPLETE\n", ""},
		"empty":           {"", ""},
		"to the end":      {"### Verification Results\n\nok\n", "ok"},
		"same level":      {"### Verification Results\nok\n### Issues\nnone\n", "ok"},
		"higher level":    {"### Verification Results\nok\n## Issues\nnone\n", "ok"},
		"lower level":     {"### Verification Results\nok\n#### Lint\nclean\n", "ok\n#### Lint\nclean"},
		"fence":           {"### Verification Results\n```\n## out\n```\nok\n## Next\n", "```\n## out\n```\nok"},
		"tilde fence":     {"### Verification Results\n~~~\n## out\n```\n~~~\n## Next\n", "~~~\n## out\n```\n~~~"},
		"suffix":          {"#### Verification Results (all pass)\nok\n", "ok"},
		"self-check":      {"### Artifact Self-Check\nok\n", "ok"},
		"crlf":            {"### Verification Results\r\nok\r\nfine\r\n## Next\r\n", "ok\nfine"},
		"heading in code": {"```\n### Verification Results\n```\nok\n", ""},
		"in a sentence":   {"see ### Verification Results\nok\n", ""},
		"two":             {"### Verification Results\na\n### Artifact Self-Check\nb\n", "a\n\nb"},
	} {
		if got := ParseExecutor(c.text).Verification; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestClaimOverTheLimit(t *testing.T) {
	r := ParseExecutor("## SUBTASK COMPLETE\n### Files Modified\n- " + strings.Repeat("a", 4097) + "\n- " +
		strings.Repeat("b", 4096) + "\n")
	if len(r.Files) != 1 || len(r.Files[0]) != 4096 || len(r.Warnings) != 1 {
		t.Errorf("%d files, warnings %q", len(r.Files), r.Warnings)
	}
}

func TestHostileExecutors(t *testing.T) {
	for name, unit := range map[string]string{
		"arrows": "a -> ", "braces": "{a => ", "tabs": "a\t", "backticks": "`", "quotes": `"\`, "bullets": "- ",
		"codes": "M ", "fences": "```\n",
		"unsafe": "- ../x\n", "sections": "### Files Modified\n- a.go\n", "verifications": "### Verification Results\n",
		"statuses": "**Status:** ",
		"bare":     "Files modified:\n", "links": "[a](",
	} {
		text := "### Files Modified\n- " + strings.Repeat(unit, 200_000/len(unit))
		if r := ParseExecutor(text); r.Files == nil || r.Warnings == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
