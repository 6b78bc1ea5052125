package checking

import "testing"

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
