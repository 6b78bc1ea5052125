package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/safetext"
)

const (
	maxBody     = 1 << 20          // bytes of a request body
	requestTime = 30 * time.Second // limit of every request except live updates
	cookieLife  = 30 * 24 * time.Hour
)

// contentPolicy lets a page load only what this server serves, and forbids inline scripts and styles: comments and
// file names stay text.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// Paths that need no token: they reveal nothing about the repository.
const (
	healthPath  = "/api/health"
	loginPath   = "/login"
	assetPrefix = "/assets/"
	eventsPath  = "/api/events"
)

// Handler returns the whole server: the security checks, then the routes. A request passes, in this order, the
// allow-list of hosts (against DNS rebinding), the limits, the check of its origin (against forged requests of other
// sites and other ports of this machine), and the tokens (against other users of the machine).
func (s *Server) Handler() http.Handler {
	inner := s.authenticate(s.checkBody(s.mux))
	return s.observe(secureHeaders(s.allowHost(limited(sameOrigin(inner)))))
}

func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store") // assets override it
		next.ServeHTTP(w, r)
	})
}

// allowHost answers only requests to the names that a browser uses for this machine.
func (s *Server) allowHost(next http.Handler) http.Handler {
	allowed := []string{}
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		allowed = append(allowed, fmt.Sprintf("%s:%d", host, s.Port))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(allowed, r.Host) {
			refuse(w, r, http.StatusMisdirectedRequest, "this server answers only to "+strings.Join(allowed, ", "))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limited bounds what one request may cost.
func limited(next http.Handler) http.Handler {
	methods := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(methods, r.Method) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refuse(w, r, http.StatusMethodNotAllowed, "method not allowed")
			return
		}
		if r.ContentLength > maxBody {
			_, _ = io.CopyN(io.Discard, r.Body, 4*maxBody) // a client cut off while sending would not read the response
			refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if r.URL.Path == eventsPath {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), requestTime)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// sameOrigin refuses requests by pages of other origins: writes, and reads that are not navigation, because the
// browser sends our cookie with requests by a page on another port of this machine.
func sameOrigin(next http.Handler) http.Handler {
	const foreign = "the request comes from another site"
	cop := http.NewCrossOriginProtection()
	cop.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, http.StatusForbidden, foreign)
	}))
	return cop.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromElsewhere(r) && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			refuse(w, r, http.StatusForbidden, foreign)
			return
		}
		next.ServeHTTP(w, r)
	}))
}

// fromElsewhere reports whether the browser says that another origin caused the request.
func fromElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// authenticate lets requests with the cookie or a token pass.
func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case path == healthPath || strings.HasPrefix(path, assetPrefix):
			next.ServeHTTP(w, r)
		case !isAPI(r) && r.URL.Query().Has("token"):
			s.logIn(w, r)
		case s.hasCookie(r):
			next.ServeHTTP(w, r)
		case !isAPI(r):
			refusePage(w, http.StatusUnauthorized, "Not logged in", "To open the inbox in this browser, type in the repository:",
				"git runr serve --open")
		default:
			s.authenticateAPI(w, r, next)
		}
	})
}

func (s *Server) authenticateAPI(w http.ResponseWriter, r *http.Request, next http.Handler) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		token = r.URL.Query().Get("token") // where existing clients put it
	}
	id := reviewOfPath(r.URL.Path)
	switch {
	case token == "":
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, r, http.StatusUnauthorized, "a token is needed: git runr serve --json prints one")
	case screens.SameToken(token, s.Secret.Session()) || id != "" && screens.SameToken(token, s.Secret.Review(id)):
		next.ServeHTTP(w, r)
	default:
		refuse(w, r, http.StatusForbidden, "forbidden")
	}
}

// ofOneReview matches paths that are about one review. The group is its full id, such as 20260102030405-abcdef.
var ofOneReview = lazyre.Compile(`^/(?:api/review/[^/]+|review)/([0-9]{14}-[^/]{6})(?:/|$)`)

// reviewOfPath returns the full id of the one review that a path is about, or "".
func reviewOfPath(path string) string {
	if found := ofOneReview().FindStringSubmatch(path); found != nil {
		return found[1]
	}
	return ""
}

// cookieName includes the port, because browsers send a cookie to all ports of a host.
func (s *Server) cookieName() string { return fmt.Sprintf("runr_%d", s.Port) }

func (s *Server) hasCookie(r *http.Request) bool {
	cookie, err := r.Cookie(s.cookieName())
	return err == nil && screens.SameToken(cookie.Value, s.Secret.Session())
}

// logIn exchanges the token of a link for a cookie and redirects to the address without it.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	id := reviewOfPath(r.URL.Path)
	if r.Method != http.MethodGet || id == "" && r.URL.Path != loginPath {
		refusePage(w, http.StatusForbidden, "Forbidden", "This address takes no token.")
		return
	}
	token := r.URL.Query().Get("token")
	known := screens.SameToken(token, s.Secret.Session()) || id != "" && screens.SameToken(token, s.Secret.Review(id)) ||
		s.codes.Use(s.Secret, token, time.Now())
	if !known {
		refusePage(w, http.StatusForbidden, "Forbidden",
			"The link is wrong or was used before. For a new one, type in the repository:", "git runr serve --open")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: s.Secret.Session(), Path: "/", MaxAge: int(cookieLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	target := "/"
	if id != "" {
		target = (&url.URL{Path: "/review/" + id}).String()
	}
	redirect(w, r, target)
}

// redirect redirects the browser. A browser that came from another site does not send a strict cookie after a
// redirect, so it gets a page that goes on by itself.
func redirect(w http.ResponseWriter, r *http.Request, target string) {
	if !fromElsewhere(r) {
		http.Redirect(w, r, target, http.StatusSeeOther)
		return
	}
	writePlain(w, http.StatusOK, plainView{Title: "Logged in", Onward: target})
}

// formTokenField is the field of a form that holds its token.
const formTokenField = "form_token"

// formToken returns the token that a form must send in formTokenField. Only those who can read the page know it.
func (s *Server) formToken(*http.Request) string { return s.Secret.Token("form") }

// checkBody accepts as writes only JSON to the API and our own forms to the page. A form or text of another site can
// be neither. A program with a token may send an empty body.
func (s *Server) checkBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		silent := isAPI(r) && r.ContentLength == 0 &&
			(r.Method == http.MethodDelete || r.Header.Get("Content-Type") == "" && !s.hasCookie(r))
		if r.Method == http.MethodGet || r.Method == http.MethodHead || silent {
			next.ServeHTTP(w, r)
			return
		}
		wanted := "application/x-www-form-urlencoded"
		if isAPI(r) {
			wanted = "application/json"
		}
		if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != wanted {
			refuse(w, r, http.StatusUnsupportedMediaType, "Content-Type must be "+wanted)
			return
		}
		if !isAPI(r) && !s.checkForm(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) checkForm(w http.ResponseWriter, r *http.Request) bool {
	var large *http.MaxBytesError
	switch err := r.ParseForm(); {
	case errors.As(err, &large):
		refuse(w, r, http.StatusRequestEntityTooLarge, tooLarge)
	case err != nil:
		refuse(w, r, http.StatusBadRequest, "the form cannot be read")
	case !screens.SameToken(r.PostForm.Get(formTokenField), s.formToken(r)):
		refuse(w, r, http.StatusForbidden, "the form is not from this page; load it again")
	default:
		return true
	}
	return false
}

// observe counts and logs requests, and turns a panic into a response. The log omits queries, because they contain
// tokens.
func (s *Server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.begin()()
		began, answer := time.Now(), &statusWriter{ResponseWriter: w}
		defer func() {
			if fault := recover(); fault != nil {
				s.fault(answer, r, fmt.Errorf("%v\n%s", fault, debug.Stack()))
			}
			if s.LogRequests {
				s.log("%s %s %d %s", r.Method, safetext.Line(r.URL.Path), answer.status, time.Since(began).Round(time.Millisecond))
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

// health reports that the server runs, and proves it to a client that has the secret too.
func (s *Server) health(r *http.Request) (any, error) {
	answer := screens.Health{Status: "ok"}
	if challenge := r.URL.Query().Get("challenge"); len(challenge) == screens.ChallengeSize {
		answer.Proof = s.Secret.Proof(challenge)
	}
	return answer, nil
}
