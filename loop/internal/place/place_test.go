package place

import "testing"

func TestRead(t *testing.T) {
	for value, want := range map[string]Place{
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
		if got := Read(value); got != want {
			t.Errorf("Read(%q) = %+v, want %+v", value, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		want       Place
	}{
		{"auth.go:12 leaks token", "leaks token", Place{"auth.go", 12, 0}},
		{"`auth.go:12`: leaks token", "leaks token", Place{"auth.go", 12, 0}},
		{"`auth.go`:12 — leaks token", "leaks token", Place{"auth.go", 12, 0}},
		{"(auth.go:3-9) leaks", "leaks", Place{"auth.go", 3, 9}},
		{"[auth.go](auth.go#L3) leaks", "leaks", Place{"auth.go", 3, 0}},
		{"auth.go, line 7: leaks", "leaks", Place{"auth.go", 7, 0}},
		{"auth.go: leaks", "leaks", Place{"auth.go", 0, 0}},
		{"Makefile: leaks", "Makefile: leaks", Place{}},
		{"Fix type errors", "Fix type errors", Place{}},
		{"auth.go:12", "auth.go:12", Place{}},
		{"10:30 is not a place", "10:30 is not a place", Place{}},
		{"127.0.0.1:80 is fixed in the code", "127.0.0.1:80 is fixed in the code", Place{}},
		{"localhost:8080 is fixed in the code", "localhost:8080 is fixed in the code", Place{}},
	} {
		got, rest := Cut(c.text)
		if got != c.want || rest != c.rest {
			t.Errorf("Cut(%q) = %+v, %q; want %+v, %q", c.text, got, rest, c.want, c.rest)
		}
	}
}
