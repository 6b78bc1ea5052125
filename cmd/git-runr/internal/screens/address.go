package screens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
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
	host := net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port))
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return health, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return health, err
	}
	_, err = fmt.Fprintf(conn, "GET /api/health?challenge=%s HTTP/1.0\r\nHost: %s\r\n\r\n", challenge, host)
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

// Place is a listening socket that belongs to the one server of a repository.
type Place struct {
	net.Listener
	Address Address
	Secret  Secret
	repo    *gitstore.Repo
	unlock  func()
}

// ErrRunning means that the repository has a server already.
var ErrRunning = errors.New("a server runs already")

// Listen takes the place of the repository's server. It listens on port, or for 0 on the last server's port, so that
// old links keep working, or else on any port. If the port changes, it makes a new secret: somebody else may listen on
// the old port and receive the old tokens. program is the build of the server. Listen returns ErrRunning if the place
// is taken.
func Listen(repo *gitstore.Repo, port int, program string) (*Place, error) {
	unlock, free, err := repo.TryLock(home(""))
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, ErrRunning
	}
	p := &Place{repo: repo, unlock: unlock, Address: Address{Program: program}}
	if err := p.listen(port); err != nil {
		unlock()
		return nil, err
	}
	return p, nil
}

func (p *Place) listen(port int) (err error) {
	last := ReadAddress(p.repo).Port
	if port == 0 && last != 0 {
		p.Listener, _ = listenOn(last) // it may be taken
	}
	if p.Listener == nil {
		if p.Listener, err = listenOn(port); err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
	}
	p.Address.Port, p.Address.PID, p.Address.Started = p.Addr().(*net.TCPAddr).Port, os.Getpid(),
		time.Now().UTC().Truncate(time.Millisecond)
	if err := p.record(last); err != nil {
		p.Listener.Close()
		return err
	}
	return nil
}

// listenOn listens on loopback and nowhere else.
func listenOn(port int) (net.Listener, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, err // a nil *TCPListener would make a non-nil Listener
	}
	return listener, nil
}

// record writes the secret and then the address, by which other processes find the server.
func (p *Place) record(last int) error {
	p.Secret = ReadSecret(p.repo)
	if p.Secret == nil || last != p.Address.Port {
		p.Secret = NewSecret()
		if err := safefile.WriteFile(SecretPath(p.repo), p.Secret, 0o600); err != nil {
			return fmt.Errorf("write the server's secret: %w", err)
		}
	}
	data, err := json.Marshal(p.Address)
	if err != nil {
		return err
	}
	if err := safefile.WriteFile(AddressPath(p.repo), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the server's address: %w", err)
	}
	return nil
}

// Gone reports whether the repository or the address file was deleted. Deleting either ends the server.
func (p *Place) Gone() bool {
	_, err := os.Stat(AddressPath(p.repo))
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Leave releases the place. The address file remains, so that the next server prefers the same port.
func (p *Place) Leave() {
	p.Listener.Close()
	p.unlock()
}

// Health is the answer of a server to a health request.
type Health struct {
	Status string `json:"status"`
	Proof  string `json:"proof,omitempty"`
}
