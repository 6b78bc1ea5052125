package reply

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
	findings := []Finding{{File: "a.go", Issue: "leak"}, {File: "b.go", Issue: "leak"}, {File: "a.go", Issue: "Leak"},
		{File: "a.go", Issue: "leak!"}}
	Identify(findings)
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

// The ids are in stored events and must never change.
func TestFindingIDStays(t *testing.T) {
	f := Finding{File: "a.go", Issue: "Cafe\u0301 naïve: the token is LEAKED on line 12, हिन्दी!"}
	if got := FindingID(f); got != "f-cc41278c58" {
		t.Errorf("got %s", got)
	}
}
