package web

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
)

// attack is a request that must not reach a handler.
type attack struct {
	name   string
	method string
	path   string // ID stands for the review's id
	body   string
	header []string // PORT stands for the server's port
	// cookie says whether a browser would send our cookie with the request.
	cookie bool
	status int
}

// attacks returns the cases that were tested against four layers of defence, then our own cases.
func attacks() []attack {
	const resolve = "/api/review/submissions/ID/resolve"
	return []attack{
		{name: "1 form of another site", method: "POST", path: resolve, body: "resolvedBy=x",
			header: []string{formBody, "Origin: http://evil.test", "Sec-Fetch-Site: cross-site"}, cookie: true, status: 403},
		{name: "2 Origin only, of an old browser", method: "POST", path: resolve, body: `{}`,
			header: []string{jsonBody, "Origin: http://evil.test"}, cookie: true, status: 403},
		{name: "3 Origin null, of a sandboxed frame", method: "POST", path: resolve, body: `{}`,
			header: []string{jsonBody, "Origin: null"}, cookie: true, status: 403},
		{name: "4 another port of localhost", method: "POST", path: resolve, body: `{}`,
			header: []string{jsonBody, "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"}, cookie: true, status: 403},
		{name: "5 DNS rebinding, GET", method: "GET", path: "/api/review/submissions",
			header: []string{"Host: evil.test:PORT"}, cookie: true, status: 421},
		{name: "6 DNS rebinding, POST", method: "POST", path: resolve, body: `{}`,
			header: []string{jsonBody, "Host: evil.test:PORT", "Origin: http://evil.test:PORT", "Sec-Fetch-Site: same-origin"},
			cookie: true, status: 421},
		{name: "7 Host 0.0.0.0", method: "GET", path: "/api/review/submissions", header: []string{"Host: 0.0.0.0:PORT"},
			cookie: true, status: 421},
		{name: "8 Host localhost.evil.test", method: "GET", path: "/api/review/submissions",
			header: []string{"Host: localhost.evil.test:PORT"}, cookie: true, status: 421},
		{name: "9 wrong port", method: "GET", path: "/api/review/submissions", header: []string{"Host: localhost:1"},
			cookie: true, status: 421},
		{name: "10 cross-site GET", method: "GET", path: "/api/review/submissions",
			header: []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, status: 401},
		{name: "11 another user of the machine reads", method: "GET", path: "/api/review/submissions/ID", status: 401},
		{name: "12 another user of the machine writes", method: "POST", path: resolve, body: `{}`, header: []string{jsonBody},
			status: 401},
		{name: "13 JSON as text/plain", method: "POST", path: resolve, body: `{}`,
			header: []string{"Content-Type: text/plain"}, cookie: true, status: 415},

		{name: "JSON as text/plain from another site", method: "POST", path: resolve, body: `{}`,
			header: []string{"Content-Type: text/plain", "Origin: http://evil.test"}, cookie: true, status: 403},
		{name: "no Content-Type", method: "POST", path: resolve, body: `{}`, cookie: true, status: 415},
		{name: "form to the API", method: "POST", path: resolve, body: "resolvedBy=x", header: []string{formBody},
			cookie: true, status: 415},
		{name: "form without its token", method: "POST", path: "/review/ID/comment", body: "comment=x",
			header: []string{formBody}, cookie: true, status: 403},
		{name: "form with a guessed token", method: "POST", path: "/review/ID/comment",
			body: "comment=x&form_token=00000000000000000000000000000000", header: []string{formBody}, cookie: true,
			status: 403},
		{name: "form token in the address", method: "POST", path: "/review/ID/comment?form_token=FORM", body: "comment=x",
			header: []string{formBody}, cookie: true, status: 403},
		{name: "form without the cookie", method: "POST", path: "/review/ID/comment", body: "comment=x&form_token=FORM",
			header: []string{formBody}, status: 401},
		{name: "form with parts", method: "POST", path: "/review/ID/comment", body: "x",
			header: []string{"Content-Type: multipart/form-data; boundary=b"}, cookie: true, status: 415},
		{name: "DELETE of another origin", method: "DELETE", path: "/api/review/sessions/ID",
			header: []string{"Origin: http://evil.test"}, cookie: true, status: 403},
		{name: "image of another port", method: "GET", path: "/review/ID",
			header: []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"}, cookie: true,
			status: 403},
		{name: "live updates of another port", method: "GET", path: "/api/events",
			header: []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}, cookie: true, status: 403},
		{name: "live updates without a token", method: "GET", path: "/api/events", status: 401},
		{name: "page without a token", method: "GET", path: "/review/ID", status: 401},
		{name: "start page without a token", method: "GET", path: "/", status: 401},
		{name: "page with a guessed token", method: "GET", path: "/review/ID?token=00000000000000000000000000000000",
			status: 403},
		{name: "guessed bearer", method: "GET", path: "/api/review/submissions/ID",
			header: []string{"Authorization: Bearer 00000000000000000000000000000000"}, status: 403},
		{name: "cookie of another port", method: "GET", path: "/", header: []string{"Cookie: runr_1=SESSION"}, status: 401},
		{name: "preflight", method: "OPTIONS", path: resolve,
			header: []string{"Origin: http://evil.test", "Access-Control-Request-Method: POST"}, cookie: true, status: 405},
		{name: "TRACE", method: "TRACE", path: "/", cookie: true, status: 405},
		{name: "Host without a port", method: "GET", path: "/", header: []string{"Host: localhost"}, cookie: true,
			status: 421},
		{name: "Host with a trailing dot", method: "GET", path: "/", header: []string{"Host: localhost.:PORT"}, cookie: true,
			status: 421},
		{name: "health under another name", method: "GET", path: "/api/health", header: []string{"Host: evil.test:PORT"},
			status: 421},
	}
}

func TestAttacks(t *testing.T) {
	s := newSite(t)
	id := s.submitted()
	fill := strings.NewReplacer("ID", id, "PORT", fmt.Sprint(s.Port), "FORM", s.formToken(nil), "SESSION",
		s.Secret.Session()).Replace
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			var header []string
			for _, h := range a.header {
				header = append(header, fill(h))
			}
			if a.cookie {
				header = append(header, s.asPerson())
			}
			answer := s.ask(a.method, fill(a.path), fill(a.body), header...)
			if answer.StatusCode != a.status {
				t.Errorf("status %d, want %d\n%s", answer.StatusCode, a.status, answer.text)
			}
			wantSecure(t, answer)
		})
	}
	record := s.api("GET", "/api/review/submissions/"+id, "").want(200).object()
	if record["status"] != "submitted" || record["claimedBy"] != nil {
		t.Errorf("an attack changed the review: %v", record)
	}
}

// wantSecure checks the headers of every answer, and that no header lets other sites read it.
func wantSecure(t *testing.T, answer *response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
			"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q", answer.what, name, got)
		}
	}
	for name := range answer.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: %s is set", answer.what, name)
		}
	}
	if cookie := answer.Header.Get("Set-Cookie"); cookie != "" && answer.StatusCode >= 400 {
		t.Errorf("%s: a refusal sets %s", answer.what, cookie)
	}
}

// The same requests from permitted places succeed.
func TestNotAttacks(t *testing.T) {
	s := newSite(t)
	id := s.submitted()
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		at := fmt.Sprintf("%s:%d", host, s.Port)
		s.ask("GET", "/api/review/submissions", "", "Host: "+at, s.asPerson()).want(200)
		s.ask("POST", "/api/review/submissions/"+id+"/claim", `{}`, "Host: "+at, "Origin: http://"+at,
			"Sec-Fetch-Site: same-origin", s.asPerson(), jsonBody).want(200)
	}
	s.ask("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"Ada <ada@example.com>"}`, s.asProgram(),
		"Content-Type: application/json; charset=utf-8").want(200)
	form := s.ask("POST", "/review/"+id+"/claim", "form_token="+s.formToken(nil), formBody, s.asPerson(),
		"Sec-Fetch-Site: same-origin")
	if form.StatusCode >= 400 && form.StatusCode != 404 { // if the API has such a form, the page handles it
		t.Errorf("form: status %d\n%s", form.StatusCode, form.text)
	}
}

func TestLimits(t *testing.T) {
	s := newSite(t)
	large := `{"message":"` + strings.Repeat("x", maxBody) + `"}`
	s.api("POST", "/api/review/sessions", large).want(413).says("1 MiB")
	s.ask("POST", "/review/x/comment", "form_token="+s.formToken(nil)+"&x="+large, formBody, s.asPerson()).want(413)

	connection, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection,
		"POST /api/review/sessions HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n%s\r\nTransfer-Encoding: chunked\r\n"+
			"Connection: close\r\n\r\n", s.Port, s.asProgram(), jsonBody)
	for range 40 { // a body without a declared length
		if _, err := fmt.Fprintf(connection, "8000\r\n%s\r\n", strings.Repeat("x", 0x8000)); err != nil {
			break
		}
	}
	connection.SetReadDeadline(time.Now().Add(10 * time.Second))
	line := make([]byte, 12)
	if _, err := connection.Read(line); err != nil || string(line) != "HTTP/1.1 413" {
		t.Errorf("%q, %v", line, err)
	}
}

func TestLogin(t *testing.T) {
	s := newSite(t)
	id, other := s.request(), s.request()
	want := func(path string, status int, location string, header ...string) *response {
		t.Helper()
		answer := s.ask("GET", path, "", header...).want(status)
		wantSecure(t, answer)
		cookies := answer.Cookies()
		if status >= 400 {
			if len(cookies) > 0 {
				t.Errorf("%s gives a cookie", path)
			}
			return answer
		}
		if got := answer.Header.Get("Location"); got != location {
			t.Errorf("%s goes to %q, want %q", path, got, location)
		}
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode ||
			cookies[0].Path != "/" || cookies[0].Name != fmt.Sprintf("runr_%d", s.Port) {
			t.Fatalf("%s: cookies %v", path, cookies)
		}
		s.ask("GET", "/api/review/submissions", "", "Cookie: "+cookies[0].Name+"="+cookies[0].Value).want(200)
		return answer
	}
	want("/review/"+id+"?token="+s.Secret.Review(id), 303, "/review/"+id)
	want("/login?token="+s.Secret.Session(), 303, "/")
	want("/review/"+id+"?token="+s.Secret.Session(), 303, "/review/"+id)
	want("/review/"+id+"?token="+s.Secret.Review(other), 403, "")
	want("/login?token="+s.Secret.Review(id), 403, "")
	want("/?token="+s.Secret.Session(), 403, "")
	want("//evil.test/review?token="+s.Secret.Session(), 403, "")

	code := s.Secret.Code(time.Now())
	want("/login?token="+code, 303, "/")
	want("/login?token="+code, 403, "")
	want("/login?token="+s.Secret.Code(time.Now().Add(-2*screens.CodeLife)), 403, "")

	// after a link of another site a redirect would lose the cookie
	page := want("/review/"+id+"?token="+s.Secret.Review(id), 200, "", "Sec-Fetch-Site: cross-site",
		"Sec-Fetch-Mode: navigate")
	if !strings.Contains(page.text, `content="0;url=/review/`+id+`"`) {
		t.Errorf("page:\n%s", page.text)
	}
	if refused := s.ask("GET", "/review/"+id, "").want(401); !strings.Contains(refused.text, "git runr serve --open") ||
		!strings.HasPrefix(refused.Header.Get("Content-Type"), "text/html") {
		t.Errorf("page:\n%s", refused.text)
	}
	if refused := s.ask("GET", "/api/review/submissions", "").
		want(401); refused.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("%v", refused.Header)
	}
}

// A review's token opens that review and nothing else.
func TestReviewToken(t *testing.T) {
	s := newSite(t)
	id, other := s.submitted(), s.submitted()
	token := "Authorization: Bearer " + s.Secret.Review(id)
	s.ask("GET", "/api/review/submissions/"+id, "", token).want(200)
	s.ask("GET", "/api/review/drafts/"+id, "", token).want(200)
	s.ask("GET", "/api/review/submissions/"+id+"?token="+s.Secret.Review(id), "").want(200)
	s.ask("POST", "/api/review/submissions/"+id+"/claim", `{"claimedBy":"x"}`, token, jsonBody).want(200)
	for _, path := range []string{
		"/api/review/submissions/" + other, "/api/review/drafts/" + other, "/api/review/submissions", "/api/review/sessions",
		"/api/events", "/api/review/submissions/latest", "/api/review/submissions/" + id[:14],
	} {
		s.ask("GET", path, "", token).want(403)
	}
	s.ask("POST", "/api/review/sessions", `{"revision":"HEAD"}`, token, jsonBody).want(403)
	s.ask("POST", "/api/review/submissions/"+id+"%2F..%2F"+other+"/claim", `{}`, token, jsonBody).want(404)
	// the redirect's target needs the token again
	s.ask("GET", "/api/review/submissions/"+id+"/../"+other, "", token).want(307)
}

// Tokens appear in no list, record, log or ref, and in no file except the secret's.
func TestTokensStayHidden(t *testing.T) {
	s := newSite(t)
	created := s.api("POST", "/api/review/sessions", `{"files":["a.txt"],"message":"m"}`).want(200).object()
	id, token := created["id"].(string), created["token"].(string)
	if token != s.Secret.Review(id) ||
		created["url"] != fmt.Sprintf("http://127.0.0.1:%d/review/%s?token=%s", s.Port, id, token) || len(token) != 32 {
		t.Fatalf("created %v", created)
	}
	var texts []string
	for _, path := range []string{"/api/review/sessions", "/api/review/submissions?status=all",
		"/api/review/submissions/" + id, "/api/review/drafts/" + id, "/api/review/nothing"} {
		texts = append(texts, s.api("GET", path, "").text)
	}
	s.ask("GET", "/review/"+id+"?token="+token, "")
	s.ask("GET", "/review/"+id+"?token="+token[1:], "")
	s.ask("GET", "/api/review/submissions/"+id+"?token="+token, "")
	s.ask("GET", "/api/nothing/last", "")
	s.logged("GET /review/" + id + " 303")
	texts = append(texts, s.logged("/api/nothing/last"), runGit(t, s.dir, "log", "--all", "--format=%B", "-p"))
	for _, text := range texts {
		for _, secret := range []string{token, s.Secret.Session(), s.formToken(nil)} {
			if strings.Contains(text, secret[1:]) {
				t.Errorf("a token shows in:\n%s", text)
			}
		}
	}
}
