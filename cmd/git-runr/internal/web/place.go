package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Place is a listening socket that belongs to the one server of a repository.
type Place struct {
	net.Listener
	Address screens.Address
	Secret  screens.Secret
	repo    *gitstore.Repo
	unlock  func()
}

// Listen takes the place of the repository's server. It listens on port, or for 0 on the last server's port, so that
// old links keep working, or else on any port. If the port changes, it makes a new secret: somebody else may listen on
// the old port and receive the old tokens. program is the build of the server. Listen returns screens.ErrRunning if the
// place is taken, and screens.ErrPort if it cannot listen on the port.
func Listen(repo *gitstore.Repo, port int, program string) (*Place, error) {
	unlock, free, err := repo.TryLock(screens.ServerLock())
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, screens.ErrRunning
	}
	p := &Place{repo: repo, unlock: unlock, Address: screens.Address{Program: program}}
	if err := p.listen(port); err != nil {
		unlock()
		return nil, err
	}
	return p, nil
}

func (p *Place) listen(port int) (err error) {
	last := screens.ReadAddress(p.repo).Port
	if port == 0 && last != 0 {
		p.Listener, _ = listenOn(last) // it may be taken
	}
	if p.Listener == nil {
		if p.Listener, err = listenOn(port); err != nil {
			return fmt.Errorf("%w on port %d: %w", screens.ErrPort, port, err)
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
	p.Secret = screens.ReadSecret(p.repo)
	if p.Secret == nil || last != p.Address.Port {
		p.Secret = screens.NewSecret()
		if err := safefile.WriteFile(screens.SecretPath(p.repo), p.Secret, 0o600); err != nil {
			return fmt.Errorf("write the server's secret: %w", err)
		}
	}
	data, _ := json.Marshal(p.Address) // our own types can be encoded
	if err := safefile.WriteFile(screens.AddressPath(p.repo), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the server's address: %w", err)
	}
	return nil
}

// Gone reports whether the repository or the address file was deleted. Deleting either ends the server.
func (p *Place) Gone() bool {
	_, err := os.Stat(screens.AddressPath(p.repo))
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Leave releases the place. The address file remains, so that the next server prefers the same port.
func (p *Place) Leave() {
	p.Listener.Close()
	p.unlock()
}
