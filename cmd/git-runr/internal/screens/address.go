package screens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
