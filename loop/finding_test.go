package loop

import (
	"regexp"
	"testing"
)

func TestFindingIDSurvivesRewording(t *testing.T) {
	base := Finding{Severity: Warning, File: "auth.go", Line: 12, Issue: "The token is leaked in 2 log lines."}
	for name, other := range map[string]Finding{
		"line moved":      {File: "auth.go", Line: 99, EndLine: 101, Issue: base.Issue},
		"severity":        {Severity: Critical, File: "auth.go", Issue: base.Issue},
		"words reordered": {File: "auth.go", Issue: "In 2 log lines the token is leaked"},
		"case":            {File: "auth.go", Issue: "the TOKEN is Leaked in 2 log lines"},
		"punctuation":     {File: "auth.go", Issue: "The `token` is leaked, in 2 log lines!"},
		"figures":         {File: "auth.go", Issue: "The token is leaked in 37 log lines."},
		"small words":     {File: "auth.go", Issue: "token leaked in log"},
		"fix":             {File: "auth.go", Issue: base.Issue, Fix: "do not log it"},
	} {
		if got, want := FindingID(other), FindingID(base); got != want {
			t.Errorf("%s: id %s, want %s", name, got, want)
		}
	}
}

func TestFindingIDTellsFindingsApart(t *testing.T) {
	base := Finding{File: "auth.go", Issue: "the token is leaked"}
	for name, other := range map[string]Finding{
		"other file":  {File: "user.go", Issue: base.Issue},
		"other words": {File: "auth.go", Issue: "the password is leaked"},
		"negated":     {File: "auth.go", Issue: "the token is not leaked"},
		"no issue":    {File: "auth.go"},
		"only digits": {File: "auth.go", Issue: "42"},
	} {
		if FindingID(other) == FindingID(base) {
			t.Errorf("%s: same id as %+v", name, base)
		}
	}
	if FindingID(Finding{Issue: "41"}) == FindingID(Finding{Issue: "42"}) {
		t.Error("issues without words are told apart by their text")
	}
}

func TestFindingIDOfCheckouts(t *testing.T) {
	a := Finding{File: "/srv/one/auth.go", Issue: "leak"}
	b := Finding{File: "/srv/two/auth.go", Issue: "leak"}
	if FindingID(a) != FindingID(b) {
		t.Error("the checkout's folder changed the id")
	}
}

func TestFindingIDShape(t *testing.T) {
	if id := FindingID(Finding{Issue: "x"}); !regexp.MustCompile(`^f-[0-9a-f]{10}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
}

func TestIdentifyNumbersTwins(t *testing.T) {
	findings := []Finding{{File: "a.go", Issue: "leak"}, {File: "b.go", Issue: "leak"}, {File: "a.go", Issue: "Leak"}, {File: "a.go", Issue: "leak!"}}
	identify(findings)
	first := FindingID(findings[0])
	if findings[0].ID != first || findings[2].ID != first+"-2" || findings[3].ID != first+"-3" {
		t.Errorf("ids %q %q %q", findings[0].ID, findings[2].ID, findings[3].ID)
	}
	if findings[1].ID != FindingID(findings[1]) {
		t.Errorf("another finding has id %q", findings[1].ID)
	}
}

func TestReadSeverity(t *testing.T) {
	for value, want := range map[string]Severity{
		"Critical (must fix — blocks commit)": Critical,
		"**CRITICAL**":                        Critical,
		"🔴 Critical":                          Critical,
		"`critical`":                          Critical,
		"[BLOCKER]":                           Critical,
		"blocker":                             Critical,
		"P0":                                  Critical,
		"Severe":                              Critical,
		"fatal":                               Critical,
		"High/Critical":                       Critical,
		"P1":                                  Warning,
		"error":                               Warning,
		"High":                                Warning,
		"Major - data loss":                   Warning,
		"medium":                              Warning,
		"Low/Medium":                          Warning,
		"Warning":                             Warning,
		"tech_debt":                           Warning,
		"P2":                                  Note,
		"low":                                 Note,
		"Info":                                Note,
		"nit":                                 Note,
		"Notes":                               Note,
		"skippable":                           Note,
		"minor, not critical":                 Note,
	} {
		if got, known := readSeverity(value); got != want || !known {
			t.Errorf("readSeverity(%q) = %s, %v; want %s", value, got, known, want)
		}
	}
	for _, value := range []string{"", "purple", "not critical", "3", "criticality unclear"} {
		if got, known := readSeverity(value); got != Warning || known {
			t.Errorf("readSeverity(%q) = %s, %v; want a warning, unknown", value, got, known)
		}
	}
}

func TestReadPlace(t *testing.T) {
	for value, want := range map[string]place{
		"src/auth.go:42":          {"src/auth.go", 42, 0},
		"./src/auth.go:42":        {"src/auth.go", 42, 0},
		"a.go:10-20":              {"a.go", 10, 20},
		"a.go:10–20":              {"a.go", 10, 20},
		"a.go:20-10":              {"a.go", 10, 20},
		"a.go:10-10":              {"a.go", 10, 0},
		"a.go:10:5":               {"a.go", 10, 0},
		"a.go:10:5-12":            {"a.go", 10, 0},
		"a.go:L10-L12":            {"a.go", 10, 12},
		"`a.go:3`":                {"a.go", 3, 0},
		"**a.go:3**":              {"a.go", 3, 0},
		"`a.go`:3":                {"a.go", 3, 0},
		"`a.go`, line 3":          {"a.go", 3, 0},
		"[a.go](a.go#L3)":         {"a.go", 3, 0},
		"[a.go:7](a.go#L3)":       {"a.go", 7, 0},
		"[see here](src/a.go#L3)": {"src/a.go", 3, 0},
		"[a.go](https://example.com/r/blob/main/a#L3)": {"a.go", 3, 0},
		"a.go#L3-L9":                {"a.go", 3, 9},
		"a.go#L3C1-L9C2":            {"a.go", 3, 9},
		"a.go, line 12":             {"a.go", 12, 0},
		"a.go line 12":              {"a.go", 12, 0},
		"a.go (lines 3-9)":          {"a.go", 3, 9},
		"a.go:12 (the handler)":     {"a.go", 12, 0},
		"a.go:12, b.go:3":           {"a.go", 12, 0},
		"a.go, b.go:3":              {"a.go", 0, 0},
		"a.go:12, 15":               {"a.go", 12, 0},
		"my docs/read me.md:4":      {"my docs/read me.md", 4, 0},
		"my docs/read me.md":        {"my docs/read me.md", 0, 0},
		"app/[id]/p.ts:4":           {"app/[id]/p.ts", 4, 0},
		"app/(auth)/p.ts:4":         {"app/(auth)/p.ts", 4, 0},
		"src/auth.ts:handleLogin":   {"src/auth.ts", 0, 0},
		"a.go (new file)":           {"a.go", 0, 0},
		"Makefile:3":                {"Makefile", 3, 0},
		"Makefile":                  {"Makefile", 0, 0},
		".gitignore:2":              {".gitignore", 2, 0},
		"__init__.py:1":             {"__init__.py", 1, 0},
		`src\win\a.go:3`:            {"src/win/a.go", 3, 0},
		"/abs/path/a.go:4-4":        {"/abs/path/a.go", 4, 0},
		"a.go:99999999999999999999": {"a.go", 0, 0},
		"a.go:0":                    {"a.go", 0, 0},
		"general":                   {},
		"General":                   {},
		"N/A":                       {},
		"-":                         {},
		"—":                         {},
		"":                          {},
		"`none`":                    {},
		"{path}":                    {},
		"Line 12":                   {},
		"../../etc/passwd:1":        {},
		"https://example.com:80":    {},
		"the login handler does not check its argument": {},
	} {
		if got := readPlace(value); got != want {
			t.Errorf("readPlace(%q) = %+v, want %+v", value, got, want)
		}
	}
}

func TestCutPlace(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		want       place
	}{
		{"auth.go:12 leaks token", "leaks token", place{"auth.go", 12, 0}},
		{"`auth.go:12`: leaks token", "leaks token", place{"auth.go", 12, 0}},
		{"`auth.go`:12 — leaks token", "leaks token", place{"auth.go", 12, 0}},
		{"(auth.go:3-9) leaks", "leaks", place{"auth.go", 3, 9}},
		{"[auth.go](auth.go#L3) leaks", "leaks", place{"auth.go", 3, 0}},
		{"auth.go, line 7: leaks", "leaks", place{"auth.go", 7, 0}},
		{"auth.go: leaks", "leaks", place{"auth.go", 0, 0}},
		{"Makefile: leaks", "Makefile: leaks", place{}},
		{"Fix type errors", "Fix type errors", place{}},
		{"auth.go:12", "auth.go:12", place{}},
		{"10:30 is not a place", "10:30 is not a place", place{}},
		{"127.0.0.1:80 is fixed in the code", "127.0.0.1:80 is fixed in the code", place{}},
		{"localhost:8080 is fixed in the code", "localhost:8080 is fixed in the code", place{}},
	} {
		got, rest := cutPlace(c.text)
		if got != c.want || rest != c.rest {
			t.Errorf("cutPlace(%q) = %+v, %q; want %+v, %q", c.text, got, rest, c.want, c.rest)
		}
	}
}
