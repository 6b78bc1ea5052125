package reply

import (
	"strings"
	"testing"
)

var fixedOrOpen = RulingWords{Settles: "fixed", Stands: "open"}

func rulingBlock(nonce, body string) string {
	return "I looked.\n\n```runr-rulings " + nonce + "\n{\"rulings\": [" + body + "]}\n```\n"
}

func TestParseRulings(t *testing.T) {
	const fixed, open = `{"finding": 1, "says": "fixed", "why": "it is guarded"}`,
		`{"finding": 1, "says": "open", "why": "still there"}`
	for name, tc := range map[string]struct{ text, want string }{
		"fixed":                   {rulingBlock("n0", fixed), "fixed it is guarded"},
		"open":                    {rulingBlock("n0", open), "open still there"},
		"open, without a reason":  {rulingBlock("n0", `{"finding": 1, "says": "open"}`), "open "},
		"said twice alike":        {rulingBlock("n0", fixed) + rulingBlock("n0", fixed), "fixed it is guarded"},
		"contradicts itself":      {rulingBlock("n0", fixed+","+open), ""},
		"contradicts itself anew": {rulingBlock("n0", open) + rulingBlock("n0", fixed) + rulingBlock("n0", fixed), ""},
		"another nonce":           {rulingBlock("n1", fixed), ""},
		"no nonce":                {rulingBlock("", fixed), ""},
		"no reason":               {rulingBlock("n0", `{"finding": 1, "says": "fixed", "why": " "}`), ""},
		"another word":            {rulingBlock("n0", `{"finding": 1, "says": "fixed partly", "why": "a"}`), ""},
		"another finding": {rulingBlock("n0",
			`{"finding": 2, "says": "fixed", "why": "a"}, {"finding": 0, "says": "fixed", "why": "a"}`), ""},
		"no number":                 {rulingBlock("n0", `{"finding": "1", "says": "fixed", "why": "a"}`), ""},
		"a key twice":               {rulingBlock("n0", `{"finding": 1, "says": "open", "says": "fixed", "why": "a"}`), ""},
		"quoted":                    {"> " + strings.ReplaceAll(rulingBlock("n0", fixed), "\n", "\n> "), ""},
		"in code":                   {eachLine("    ", rulingBlock("n0", fixed)), ""},
		"our own instructions":      {RulingInstructions("n0", fixedOrOpen, 1), ""},
		"prose":                     {"Finding 1 is fixed.", ""},
		"a reviewer's block":        {"```runr-review n0\n{\"rulings\": [" + fixed + "]}\n```", ""},
		"the reason has line feeds": {rulingBlock("n0", `{"finding": 1, "says": "fixed", "why": "a\nb"}`), "fixed a b"},
	} {
		said := ParseRulings(tc.text, "n0", fixedOrOpen, 1)[0]
		got := map[bool]string{true: "fixed ", false: "open "}[said.Settles] + said.Why
		if !said.Said {
			got = ""
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if ParseRulings(rulingBlock("", fixed), "", fixedOrOpen, 1)[0].Said {
		t.Error("without a nonce anything is an answer")
	}
}

// FuzzParseRulings: only a block with the nonce settles a finding, with a reason on one line.
func FuzzParseRulings(f *testing.F) {
	f.Add(rulingBlock("n0", `{"finding": 1, "says": "fixed", "why": "a"}`))
	f.Add("x ```runr-rulings n0\n{}\n```")
	f.Fuzz(func(t *testing.T, text string) {
		said := ParseRulings(text, "n0", fixedOrOpen, 2)
		for _, r := range said {
			if r.Settles && (!r.Said || !strings.Contains(text, "runr-rulings n0") || !strings.Contains(text, "fixed") ||
				r.Why == "" || strings.ContainsAny(r.Why, "\r\n")) {
				t.Errorf("%q is taken for fixed: %q", text, r.Why)
			}
		}
		if len(said) != 2 {
			t.Errorf("%d rulings", len(said))
		}
	})
}
