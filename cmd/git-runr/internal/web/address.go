package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Address is where the server of a repository listens, as it stands in the state
// directory. After the server has ended it says where the last one was.
type Address struct {
	Port    int       `json:"port"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Program string    `json:"program,omitempty"` // the build that serves; "" for one that did not say yet
}

// URL is the start page, without a token.
func (a Address) URL() string { return fmt.Sprintf("http://127.0.0.1:%d/", a.Port) }

// LoginURL is the start page with a token or login code that opens it.
func (a Address) LoginURL(token string) string { return a.URL() + "login?token=" + token }

// ReviewURL is the page of one review with the token that opens it.
func (a Address) ReviewURL(secret Secret, id string) string {
	return a.URL() + "review/" + url.PathEscape(id) + "?token=" + secret.Review(id)
}

// home is a file or lock of the server's in the state directory. In a repository that
// several people share each has a server of their own: what it writes is in their name.
func home(kind string) string { return "serve-" + strconv.Itoa(os.Getuid()) + kind }

func addressPath(repo *gitstore.Repo) string { return filepath.Join(repo.StateDir(), home(".json")) }
func secretPath(repo *gitstore.Repo) string  { return filepath.Join(repo.StateDir(), home(".secret")) }

// readAddress is the address of the running server or of the last one; the zero
// Address when there was none.
func readAddress(repo *gitstore.Repo) (a Address) {
	data, err := os.ReadFile(addressPath(repo))
	if err != nil || json.Unmarshal(data, &a) != nil || a.Port < 1 || a.Port > 65535 {
		return Address{}
	}
	return a
}

// readSecret is the secret in the state directory; nil when there is none that only
// this user can read.
func readSecret(repo *gitstore.Repo) Secret {
	info, err := os.Stat(secretPath(repo))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil
	}
	secret, err := os.ReadFile(secretPath(repo))
	if err != nil || len(secret) != secretSize {
		return nil
	}
	return secret
}

// challengeSize is the length of what a server must prove its secret by.
const challengeSize = 32

// healthTime is how long a server may take to say that it is there.
const healthTime = time.Second

// Running is the server of the repository and this user, if one answers. It is not
// taken in by another program that listens on its port.
func Running(ctx context.Context, repo *gitstore.Repo) (Address, Secret, bool) {
	address, secret := readAddress(repo), readSecret(repo)
	if address.Port == 0 || secret == nil {
		return address, secret, false
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	challenge := newSecret().token("challenge")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.URL()+"api/health?challenge="+challenge, nil)
	if err != nil {
		return address, secret, false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	answer, err := client.Do(request)
	if err != nil {
		return address, secret, false
	}
	defer answer.Body.Close()
	var health healthJSON
	err = json.NewDecoder(io.LimitReader(answer.Body, 1<<10)).Decode(&health)
	return address, secret, err == nil && sameToken(health.Proof, secret.proof(challenge))
}

// Await is Running as soon as a server that is starting answers, at most for wait.
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

// ErrRunning says that the repository has a server already.
var ErrRunning = errors.New("a server runs already")

// Listen takes the place of the repository's server: on port, or, for 0, where the
// last server was so that its links keep working, or else anywhere. On another port
// than the last one the old links are dead; then so are their tokens, since somebody
// else may listen there now and be given them. program is the build that is to serve. It is
// ErrRunning when the place is taken.
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
	last := readAddress(p.repo).Port
	if port == 0 && last != 0 {
		p.Listener, _ = listenOn(last) // it may be taken
	}
	if p.Listener == nil {
		if p.Listener, err = listenOn(port); err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
	}
	p.Address.Port, p.Address.PID, p.Address.Started = p.Addr().(*net.TCPAddr).Port, os.Getpid(), time.Now().UTC().Truncate(time.Millisecond)
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
		return nil, err // a nil *TCPListener would be no nil Listener
	}
	return listener, nil
}

// record keeps the secret, then the address, by which others find the server.
func (p *Place) record(last int) error {
	p.Secret = readSecret(p.repo)
	if p.Secret == nil || last != p.Address.Port {
		p.Secret = newSecret()
		if err := safefile.WriteFile(secretPath(p.repo), p.Secret, 0o600); err != nil {
			return fmt.Errorf("write the server's secret: %w", err)
		}
	}
	data, err := json.Marshal(p.Address)
	if err != nil {
		return err
	}
	if err := safefile.WriteFile(addressPath(p.repo), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the server's address: %w", err)
	}
	return nil
}

// Gone reports whether the repository was deleted, or the address file, which ends
// the server as well.
func (p *Place) Gone() bool {
	_, err := os.Stat(addressPath(p.repo))
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Leave gives the place back. Its address stays, for the next server to prefer.
func (p *Place) Leave() {
	p.Listener.Close()
	p.unlock()
}

// health says that the server is there, and proves it to who has the secret too.
func (s *Server) health(r *http.Request) (any, error) {
	answer := healthJSON{Status: "ok"}
	if challenge := r.URL.Query().Get("challenge"); len(challenge) == challengeSize {
		answer.Proof = s.Secret.proof(challenge)
	}
	return answer, nil
}

type healthJSON struct {
	Status string `json:"status"`
	Proof  string `json:"proof,omitempty"`
}
