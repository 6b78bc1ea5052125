package checking

import (
	"slices"
	"testing"
)

func TestNamedFiles(t *testing.T) {
	for command, want := range map[string][]string{
		"sh tools/setup.sh":               {"/sh", "/tools/setup.sh"},
		"pip install ./lib":               {"/pip", "/install", "/lib"},
		"cd web && sh it.sh":              {"/cd", "/&&", "/web/&&", "/sh", "/web/sh", "/it.sh", "/web/it.sh"},
		"(cd 'web'; npm ci)":              {"/cd", "/npm", "/web/npm", "/ci", "/web/ci"},
		"npm --prefix web ci":             {"/npm", "/--prefix", "/ci", "/web/ci"},
		"cd ../../etc; cat ../x *.c /tmp": {"/cd", "/cat"},
		"":                                nil,
	} {
		if got := namedFiles(command); !slices.Equal(got, want) {
			t.Errorf("namedFiles(%q) = %q, want %q", command, got, want)
		}
	}
}

func TestSecretOf(t *testing.T) {
	for line, want := range map[string]string{
		"API_KEY=sk-42-private\n":                       "sk-42-private",
		`export DB_PASSWORD="pg 93"`:                    "",
		`export DB_PASSWORD="pg 934"`:                   "pg 934",
		"DATABASE_URL=postgres://me:hunter22@db:5432/x": "hunter22",
		"DATABASE_URL=postgres://localhost:5432/x":      "",
		"AUTH=password":                                 "", // a plain word appears in many texts
		"SECRET=correcthorsebatterystaple":              "correcthorsebatterystaple",
		"MODE=development-1":                            "",
		"# TOKEN of nobody":                             "",
		"":                                              "",
	} {
		if got := secretOf(line); got != want {
			t.Errorf("secretOf(%q) = %q, want %q", line, got, want)
		}
	}
}
