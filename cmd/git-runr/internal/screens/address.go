package screens

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// Address is where the server of a repository listens, as recorded in the state directory.
// After the server has ended, it is the address of the last one.
type Address struct {
	Port    int       `json:"port"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Program string    `json:"program,omitempty"` // the build of the server; "" if an old build did not record it
}

// URL returns the start page, without a token.
func (a Address) URL() string { return fmt.Sprintf("http://127.0.0.1:%d/", a.Port) }

// LoginURL returns the start page with a token or login code that opens it.
func (a Address) LoginURL(token string) string { return a.URL() + "login?token=" + token }

// ReviewURL returns the page of one review with the token that opens it.
func (a Address) ReviewURL(secret Secret, id string) string {
	return a.URL() + "review/" + url.PathEscape(id) + "?token=" + secret.Review(id)
}

// home returns the name of a file or lock of the server in the state directory. In a repository shared by several
// people each has a server of their own, because it writes in their name.
func home(kind string) string { return "serve-" + strconv.Itoa(os.Getuid()) + kind }

// ServerLock returns the name of the lock that the server of the repository and this user holds.
func ServerLock() string { return home("") }

// AddressPath returns the file that records where the server of the repository and this user listens or listened last.
func AddressPath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), home(".json")) }

// SecretPath returns the file with the server's secret, which only this user may read.
func SecretPath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), home(".secret")) }

// ReadAddress returns the address of the running server or of the last one, or the zero Address if there was none.
func ReadAddress(repo *gitstore.Repo) (a Address) {
	data, err := os.ReadFile(AddressPath(repo))
	if err != nil || json.Unmarshal(data, &a) != nil || a.Port < 1 || a.Port > 65535 {
		return Address{}
	}
	return a
}

// ReadSecret returns the secret in the state directory, or nil if there is none that only this user can read.
func ReadSecret(repo *gitstore.Repo) Secret {
	info, err := os.Stat(SecretPath(repo))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil
	}
	secret, err := os.ReadFile(SecretPath(repo))
	if err != nil || len(secret) != SecretSize {
		return nil
	}
	return secret
}

// ChallengeSize is the length of the challenge by which a server proves that it has the secret.
const ChallengeSize = 32

// healthTime is how long a server may take to answer a health request.
const healthTime = time.Second

// Running returns the server of the repository and this user if one answers. The server must prove that it has the
// secret, so another program on its port is not mistaken for it.
func Running(ctx context.Context, repo *gitstore.Repo) (Address, Secret, bool) {
	address, secret := ReadAddress(repo), ReadSecret(repo)
	if address.Port == 0 || secret == nil {
		return address, secret, false
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	challenge := NewSecret().Token("challenge")
	health, err := address.health(ctx, challenge)
	return address, secret, err == nil && SameToken(health.Proof, secret.Proof(challenge))
}

// health asks the server for its health. It speaks HTTP/1.0 itself, so that the connection ends with the answer:
// net/http would add TLS, and with it a seventh to the start of each process.
func (a Address) health(ctx context.Context, challenge string) (health Health, err error) {
	deadline, _ := ctx.Deadline()
	conn, err := dial(a.Port, time.Until(deadline))
	if err != nil {
		return health, err
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /api/health?challenge=%s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n", challenge, a.Port)
	if err != nil {
		return health, err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 4<<10))
	if err != nil {
		return health, err
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	if status := strings.Fields(head); len(status) < 2 || status[1] != "200" {
		return health, fmt.Errorf("the server answered %q", strings.SplitN(head, "\r\n", 2)[0])
	}
	return health, json.Unmarshal([]byte(body), &health)
}

// Await waits at most wait for a starting server to answer, and returns what Running does.
func Await(ctx context.Context, repo *gitstore.Repo, wait time.Duration) (Address, Secret, bool) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		address, secret, ok := Running(ctx, repo)
		if ok {
			return address, secret, true
		}
		select {
		case <-ctx.Done():
			return address, secret, false
		case <-time.After(10 * time.Millisecond):
		}
	}
}

var (
	// ErrRunning means that the repository has a server already.
	ErrRunning = errors.New("a server runs already")
	// ErrPort means that the server cannot listen on the port.
	ErrPort = errors.New("cannot listen")
)

// Health is the answer of a server to a health request.
type Health struct {
	Status string `json:"status"`
	Proof  string `json:"proof,omitempty"`
}

// Secret is the source of all tokens of one repository and user: 32 random bytes that never leave the state directory.
// Every process of the user can read it and make tokens itself.
type Secret []byte

// SecretSize is the length of a Secret in bytes.
const SecretSize = 32

// NewSecret makes a new secret, which invalidates every token made from the old one.
func NewSecret() Secret {
	secret := make(Secret, SecretSize)
	rand.Read(secret) // never returns an error
	return secret
}

// Token returns the token for a purpose: 32 hexadecimal digits.
func (s Secret) Token(purpose string) string {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(purpose))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Session returns the token that opens everything.
func (s Secret) Session() string { return s.Token("session") }

// Review returns the token that opens one review; id is the full id.
func (s Secret) Review(id string) string { return s.Token("review:" + id) }

// Proof answers a challenge. It shows a client that the server has the secret and did not merely take over its port.
func (s Secret) Proof(challenge string) string { return s.Token("health:" + challenge) }

// CodeLife is how long a login code is valid.
const CodeLife = time.Minute

// Code returns a login code that works once and only for a minute. It may be on a command line, which every user of
// the machine can read.
func (s Secret) Code(now time.Time) string {
	nonce := make([]byte, 8)
	rand.Read(nonce)
	head := strconv.FormatInt(now.UnixMilli(), 36) + "." + hex.EncodeToString(nonce)
	return head + "." + s.Token("code:"+head)
}

// Codes remembers used login Codes for as long as they would be valid.
type Codes struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// use reports whether code is made from secret, fresh at now and not yet used.
func (c *Codes) Use(secret Secret, code string, now time.Time) bool {
	at := strings.LastIndexByte(code, '.')
	if at < 0 || !SameToken(code[at+1:], secret.Token("code:"+code[:at])) {
		return false
	}
	millis, err := strconv.ParseInt(strings.SplitN(code, ".", 2)[0], 36, 64)
	age := now.Sub(time.UnixMilli(millis))
	if err != nil || age < -CodeLife || age > CodeLife {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old, when := range c.used {
		if now.Sub(when) > 2*CodeLife {
			delete(c.used, old)
		}
	}
	if _, used := c.used[code]; used {
		return false
	}
	if c.used == nil {
		c.used = map[string]time.Time{}
	}
	c.used[code] = now
	return true
}

// SameToken compares in constant time.
func SameToken(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}
