package builtin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// The secrets of these tests are assembled at run time, so that no secret scanner finds them in
// this file.
var (
	awsKey    = "AK" + "IA" + "QYLPMN5HFIQR7XYA"
	ghToken   = "gh" + "p_" + "x7Kq2mW9vLp4RtB8nYc3HdF6jSg1ZaE5uXo0"
	glToken   = "gl" + "pat-" + "x7Kq2mW9vLp4RtB8nYc3"
	stripe    = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
	npmToken  = "np" + "m_" + "x7kq2mw9vlp4rtb8nyc3hdf6jsg1zae5uxo0"
	randomly  = "q8Zr" + "T2xVn7LmK4wPb9sD"
	awsSecret = "k7Pq/" + "X2mWv9LpRtB8+nYc3HdF/6jSg1ZaE5uXo0Qw"
	pass      = "tr4v" + "el#Lamp9"
)

func privateKey(t testing.TB) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct{ name, path, text, rule string }{
		{"aws", "main.go", "\n\tkey := \"" + awsKey + "\"\n", "aws-access-token"},
		{"github", "deploy.sh", "\nTOKEN=" + ghToken + "\n", "github-pat"},
		{"gitlab", "x.py", "\nt = '" + glToken + "'\n", "gitlab-pat"},
		{"stripe", "pay.rb", "\nStripe.api_key = \"" + stripe + "\"\n", "stripe-access-token"},
		{"npm", ".npmrc", "\n//registry.npmjs.org/:_authToken=" + npmToken + "\n", "npm-access-token"},
		{"private key", "key.go", "\nvar k = `" + privateKey(t) + "`\n", "private-key"},
		{"key that is cut off", "id", "\n" + privateKey(t)[:120] + "\n", "private-key-part"},
		{"generic", "app.py", "\nslack_auth = \"" + randomly + "\"\n", genericRule},
		{"aws secret", "a.ini", "\naws_secret_access_key = " + awsSecret + "\n", "assigned-secret"},
		{"aws secret in code", "a.py", "\nsecret = '" + awsSecret + "'\n", "assigned-secret"},
		{"url", "a.go", "\ndb := \"postgres://app:" + pass + "@db.acme.io/prod\"\n", "url-password"},
		{"url without user", "a.yml", "\nurl: redis://:" + pass + "@cache.acme.io:6379\n", "url-password"},
		{"url, dev machine, solid", "a.py", "\nurl = 'postgres://app:" + randomly + "@localhost/x'\n", "url-password"},
		{"password", "a.go", "\npassword := \"" + pass + "\"\n", "assigned-secret"},
		{"short password", "a.py", "\nPASSWORD = 'hunter2'\n", "assigned-secret"},
		{"password in yaml", "a.yml", "\n  db_password: " + pass + "\n", "assigned-secret"},
		{"password in json", "a.json", "\n\"dbPassword\": \"" + pass + "\",\n", "assigned-secret"},
		{"password, typed", "a.ts", "\nconst password: string = \"" + pass + "\";\n", "assigned-secret"},
		{"password in env", ".env", "\nDB_PASSWORD=" + pass + "\n", "assigned-secret"},
		{"split by a zero width space", "main.go", "\nkey := \"" + awsKey[:9] + "\u200b" + awsKey[9:] + "\"\n",
			"aws-access-token"},
		{"in a minified file", "app.min.js", "\nvar a=1;" + strings.Repeat("f(1);", 3000) + "k=\"" + awsKey + "\";" +
			strings.Repeat("f(1);", 3000) + "\n", "aws-access-token"},
		{"in a vendored file", "vendor/x/x.go", "\nkey := \"" + awsKey + "\"\n", "aws-access-token"},
		{"in a README", "README.md", "\nuse " + awsKey + "\n", "aws-access-token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var secrets []reply.Finding
			for _, f := range review(newText(c.path, c.text)).Findings {
				if f.Rule == "secret" {
					secrets = append(secrets, f)
				}
			}
			if len(secrets) != 1 || secrets[0].Severity != reply.Critical || secrets[0].Line != 2 ||
				!strings.Contains(secrets[0].Issue, c.rule) {
				t.Fatalf("%+v", secrets)
			}
		})
	}
}

// Reports go into notes and to other people, so they must not contain the secret.
func TestFindingsDoNotHoldTheSecret(t *testing.T) {
	for _, secret := range []string{awsKey, ghToken, pass, stripe} {
		f := newText("a.go", "password := \""+secret+"\"\n")
		check := record.CheckResult{Name: "test", ExitCode: 1, Output: "a.go:1:1: bad password=\"" + secret + "\"\n"}
		r := reviewed(Input{Files: []File{f}, Checks: []record.CheckResult{Judge(check, nil, nil)}})
		if len(r.Findings) < 2 {
			t.Fatalf("%+v", r.Findings)
		}
		if text := fmt.Sprintf("%+v", r); strings.Contains(text, secret[:5]) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
}

func TestSecretsInTestsAndDocumentsWeighLess(t *testing.T) {
	wantFound(t, review(newText("a_test.go", "key := \""+awsKey+"\"\n")), "warning secret 1")
	wantFound(t, review(newText("testdata/k.pem", privateKey(t))), "warning secret 1")
	wantFound(t, review(newText("a_test.go", "password := \"hunter2\"\n")), "note secret 1")
	wantFound(t, review(newText("a.md", "password = \"hunter2\"\n")), "note secret 1")
	wantFound(t, review(newText("a.go", "// set password=\"tr4vel\"\n")), "note secret 1")
	wantFound(t, review(newText("certs/a.p12", "x\n")), "critical secret 0")
}

func TestNoSecrets(t *testing.T) {
	for _, c := range []struct{ name, path, text string }{
		{"documented key", "a.go", "k := \"AK" + "IAIOSFODNN7EXAMPLE\"\n"},
		{"documented secret", "a.md", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"},
		{"allowed by a comment", "a.go", "k := \"" + awsKey + "\" // gitleaks:allow\n"},
		{"go.sum", "go.sum", "github.com/a/b v1.0.0 h1:" + strings.Repeat("q8ZrT2xV", 5) + "abc=\n"},
		{"lock file", "package-lock.json", "\"integrity\": \"sha512-" + strings.Repeat("q8ZrT2xV", 8) + "\",\n\"token\": \"" +
			randomly + "\"\n"},
		{"Cargo.lock", "Cargo.lock", "checksum = \"" + strings.Repeat("0a1b2c3d", 8) + "\"\n"},
		{"environment, go", "a.go", "token := os.Getenv(\"API_TOKEN_V2\")\npassword := cfg.DB.Password2\n"},
		{"environment, js", "a.js", "const secret = process.env.SECRET_KEY_2;\nconst apiKey = `${env.KEY1}`;\n"},
		{"environment, py", "a.py", "PASSWORD = os.environ[\"DB_PASSWORD1\"]\ntoken = settings.TOKEN2\n"},
		{"environment, yaml", "a.yml",
			"password: ${DB_PASSWORD:?not set}\ntoken: ${{ secrets.NPM_TOKEN2 }}\nsecret: !Ref Secret2\n" +
				"api_key: {{ .Values.key1 }}\n"},
		{"environment, sh", "a.sh", "PASSWORD=\"$1\"\nTOKEN=\"$(cat token1.txt)\"\nexport SECRET=${SECRET_2}\n"},
		{"placeholders", "a.py",
			"password = \"changeme1\"\ntoken = \"your-token-here-1\"\nsecret = \"xxxxxx1\"\napi_key = \"<api-key-1>\"\n" +
				"pwd = '********'\npassword = 'password123'\n"},
		{"urls", "a.md",
			"postgres://user:password@localhost/db\nhttps://user:pass@host/x\nhttps://alice:s3cret99@example.com/\n" +
				"postgres://${USER}:${PASS}@db/x\nredis://:<password>@cache.acme.io\nhttp://host:8080/@user\n" +
				"ssh://git@github.com:22/x\n"},
		{"compose", "compose.yml",
			"DATABASE_URL: postgres://postgres:postgres@db:5432/app\nREDIS: redis://:devpass1@redis:6379\n"},
		{"form", "a.html",
			"<input type=\"password\" name=\"password\" autocomplete=\"current-password\">\n" +
				"<label for=\"password2\">Password:</label>\n"},
		{"names", "a.go",
			"const tokenType = \"oauth2\"\nvar passwordField = \"user_password_2\"\nsecretName := \"my-secret-v2\"\n" +
				"Token: \"sha256\"\n"},
		{"ts types", "a.ts",
			"interface A { password: string; token?: string1; apiKey: Key2 }\nlogin({ password: values.password1 });\n" +
				"if (type === 'password1') {}\n"},
		{"messages", "a.go", "msg := \"invalid password: must have 8+ characters\"\nerrors.New(\"token: unexpected EOF\")\n"},
		{"paths", "a.yml",
			"secret: config/secret1.yml\npassword_file: /run/secrets/db2\nprivate_key: ./keys/id_rsa2\ntoken: file:///x1\n"},
		{"git ids", "a.md", "fixed in 3f786850e387550fdab836ed7e6dc881de23001b\nkey commit: 3f786850e38755\n"},
		{"uuid", "a.json", "\"id\": \"123e4567-e89b-12d3-a456-426614174000\"\n"},
		{"key names", "a.go",
			"\"NewEncapsulationKey768\": \"NewEncapsulationKey1024\",\ncacheKey := \"user:profile:v2\"\n" +
				"primaryKey = testRSA2048PrivateKey\n"},
		{"keyboard", "a.js", "if (event.key === 'ArrowDown2') {}\nconst keyCode = 13;\n"},
		{"css", "a.css", ".token1 { color: #ff00aa; }\n.password::after { content: 'x1y2z3'; }\n"},
		{"hash", "a.py", "password_hash = hashlib.sha256(x).hexdigest()\nhashed_password = bcrypt.hashpw(p, salt1)\n"},
		{"public key", "a.pub",
			"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIq8ZrT2xVn7LmK4wPb9sDq8ZrT2xVn7LmK4w me@x\n-----BEGIN PUBLIC KEY-----\n" +
				"q8ZrT2xVn7LmK4wPb9sDq8ZrT2xVn7LmK4wPb9sDabcd\n-----END PUBLIC KEY-----\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range review(newText(c.path, c.text)).Findings {
				if f.Rule == "secret" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestRedactSecrets(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"nothing to hide: see a.go:12, the token is expired", "nothing to hide: see a.go:12, the token is expired"},
		{"the call login(password=userPassword) is wrong", "the call login(password=userPassword) is wrong"},
		{"use " + awsKey + " here", "use [redacted:aws-access-token] here"},
		{awsKey + "\n" + ghToken, "[redacted:aws-access-token]\n[redacted:github-pat]"},
		{"run with password=hunter2 now", "run with password=[redacted:assigned-secret] now"},
		{"DB_PASSWORD: 'admin123'", "DB_PASSWORD: '[redacted:assigned-secret]'"},
		{"password=$DB_PASSWORD1", "password=$DB_PASSWORD1"},
		{"postgres://u:pw@host/db", "postgres://u:[redacted:url-password]@host/db"},
		{"https://x:" + pass + "@git.acme.io/a.git", "https://x:[redacted:url-password]@git.acme.io/a.git"},
		{"é\u200d " + awsKey[:6] + "\u200b" + awsKey[6:] + " 👩\u200d💻", "é\u200d [redacted:aws-access-token] 👩\u200d💻"},
		{"bad \xff bytes \u200b" + awsKey + "\xff", "bad \xff bytes \u200b[redacted:aws-access-token]\xff"},
		{awsKey + " // gitleaks:allow", "[redacted:aws-access-token] // gitleaks:allow"},
		{"password=[redacted:assigned-secret]", "password=[redacted:assigned-secret]"},
	} {
		got, n := leaks.Redact(c.text)
		if got != c.want {
			t.Errorf("leaks.Redact(%q) = %q, want %q", c.text, got, c.want)
		}
		if want := strings.Count(c.want, redactedMark) - strings.Count(c.text, redactedMark); n != want {
			t.Errorf("leaks.Redact(%q) counts %d, want %d", c.text, n, want)
		}
	}
	key := privateKey(t)
	if got, n := leaks.Redact("a\n" + key + "b\n"); n != 1 || strings.Contains(got, key[40:60]) ||
		!strings.HasPrefix(got, "a\n") || !strings.HasSuffix(got, "\nb\n") {
		t.Errorf("%d, %q", n, got)
	}
}

// The hand-written reader must read the same as a TOML decoder, and every pattern must compile.
// The test fails if a newer gitleaks changes the form of its configuration.
func TestSecretRulesAreRead(t *testing.T) {
	var doc struct {
		Rules []struct {
			ID, Regex, Path string
			Keywords        []string
			SkipReport      bool
			Required        []any
		}
	}
	if _, err := toml.Decode(config.DefaultConfig, &doc); err != nil {
		t.Fatal(err)
	}
	rules := leaks.loaded()
	published := rules.rules[len(ownSecretRules()):]
	if rules.err != nil || len(rules.Allowlist.Paths) == 0 || len(published) != len(doc.Rules) || len(published) < 200 {
		t.Fatalf("%d rules, want %d, %v", len(published), len(doc.Rules), rules.err)
	}
	for i, want := range doc.Rules {
		got, body := published[i], published[i].body()
		if got.ID != want.ID || !slices.Equal(got.Keywords, want.Keywords) || body.Regex != want.Regex ||
			body.Path != want.Path || body.err != nil {
			t.Errorf("%s: %+v %+v", want.ID, got, body)
		}
		if want.SkipReport || len(want.Required) > 0 {
			t.Errorf("%s uses what is not implemented here", want.ID)
		}
	}
	for _, r := range rules.rules {
		if r.body().Regex != "" && len(r.Keywords) == 0 {
			t.Errorf("%s has no keyword and is never tried", r.ID)
		}
		for _, word := range r.Keywords {
			if word != strings.ToLower(word) || len(word) < 2 {
				t.Errorf("%s: keyword %q", r.ID, word)
			}
		}
	}
}

// Every event contains ids, paths and times, which must not change.
func TestRedactSecretsLeavesIdentifiers(t *testing.T) {
	for _, text := range []string{
		"3f786850e387550fdab836ed7e6dc881de23001b",
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"20261121051700-ab12cd", "2026-11-21T05:17:00Z", "f-a37638b4c6-2", "123e4567-e89b-12d3-a456-426614174000",
		"internal/token/token2_test.go:12", "config/secrets/api_key_v2.yml", "src/auth/access-key-2024.ts",
		"refs/runr/log/3f786850e387", "commit 3f786850e387550fdab836ed7e6dc881de23001b in refs/heads/token-refresh-2",
		"go test ./internal/auth ./internal/token", "key=value1 pairs", "https://git.acme.io/team/token-service2.git",
		"git@github.com:acme/secrets2.git", "ssh://git@git.acme.io:2222/a/b.git", "the token at a.go:12 has 64 bytes",
		"KeyError: 'token2'", "missing credentials: see docs/credentials.md", "password: must have 8+ characters",
	} {
		if got, n := leaks.Redact(text); n != 0 || got != text {
			t.Errorf("leaks.Redact(%q) = %q", text, got)
		}
	}
}

func FuzzRedactSecrets(f *testing.F) {
	f.Add("key = \"", "\"\n")
	f.Add("\u200b", "\xff\u200d")
	f.Add("password=", "@host password: x1y2z3")
	f.Add("curl -u a:b \n-----BEGIN PRIVATE KEY-----\n", "KEY-----")
	f.Fuzz(func(t *testing.T, before, behind string) {
		// a key that touches letters or digits is not a key
		text := before + " " + awsKey + "\n" + behind
		got, n := leaks.Redact(text)
		if n == 0 || strings.Contains(got, awsKey) {
			t.Fatalf("%d redacted: %q", n, got)
		}
	})
}

func BenchmarkScanOneMegabyte(b *testing.B) {
	line := "\tif err := store.Append(ctx, key, token.Value, access.User(name)); err != nil { // the api key %d\n"
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, line, i)
	}
	f := newText("a.go", text.String())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		review(f)
	}
}

// TestLikelyTokens: without gitleaks' rules whatever looks random is a secret in texts and changes.
func TestLikelyTokens(t *testing.T) {
	var alone *Secrets
	for text, want := range map[string]bool{
		"it prints " + ghToken: true, "key " + awsKey + " and": true, stripe: true, npmToken: true, glToken: true,
		"20261128122116-m9d7kb": false, strings.Repeat("0a", 20): false, "f-3kdm2": false,
		"internal/scripttest/rewrites": false, "TestRulesForSecretsAreInASecondProgram": false, "a plain text": false,
		"XDG_CACHE_HOME and utf-8, 2026-11-28T12:00:00Z": false, "scripted-implementer2": false,
	} {
		if _, n := alone.Redact(text); n > 0 != want {
			t.Errorf("%q: %d secrets, want %v", text, n, want)
		}
	}
	in := Input{Files: []File{newText("a.go", "k := \""+ghToken+"\"\n")}, Shown: 1}
	r, err := Review(t.Context(), in)
	if err != nil || !slices.Contains(found(r), "critical secret 1") {
		t.Errorf("%v, %v", found(r), err)
	}
}
