package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
)

func take(t *testing.T, s *site, port int) *Place {
	t.Helper()
	p, err := Listen(s.repo, port, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Leave)
	return p
}

// serveOn serves s at p until the test ends.
func serveOn(t *testing.T, s *site, p *Place) {
	t.Helper()
	s.Server.Port, s.Server.Secret = p.Address.Port, p.Secret
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, p, time.Hour, p.Gone) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestOneServerKeepsItsAddress(t *testing.T) {
	s := newSite(t)
	first := take(t, s, 0)
	if _, err := Listen(s.repo, 0, "test"); !errors.Is(err, screens.ErrRunning) {
		t.Fatalf("a second server: %v", err)
	}
	if ip := first.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		t.Errorf("listens on %s", ip)
	}
	for _, path := range []string{screens.AddressPath(s.repo), screens.SecretPath(s.repo)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	first.Leave()
	second := take(t, s, 0)
	if second.Address.Port != first.Address.Port || string(second.Secret) != string(first.Secret) {
		t.Errorf("port %d after %d, or another secret", second.Address.Port, first.Address.Port)
	}
	second.Leave()

	// a foreign program now has the port and would receive the tokens in old links
	foreign, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", first.Address.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	third := take(t, s, 0)
	if third.Address.Port == first.Address.Port || string(third.Secret) == string(first.Secret) {
		t.Errorf("port %d, and the old secret lives on", third.Address.Port)
	}
	third.Leave()
	if _, err := Listen(s.repo, first.Address.Port, "test"); err == nil {
		t.Error("listens on a port that is taken")
	}
	take(t, s, 0).Leave() // the failed attempts left the place free
}

func TestSecretThatOthersCanRead(t *testing.T) {
	s := newSite(t)
	first := take(t, s, 0)
	first.Leave()
	if err := os.Chmod(screens.SecretPath(s.repo), 0o644); err != nil {
		t.Fatal(err)
	}
	second := take(t, s, 0)
	if string(second.Secret) == string(first.Secret) || screens.ReadSecret(s.repo) == nil {
		t.Error("the secret that others can read is used")
	}
}

func TestRunning(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	if _, _, ok := screens.Running(ctx, s.repo); ok {
		t.Fatal("runs before it was started")
	}
	p := take(t, s, 0)
	serveOn(t, s, p)
	address, secret, ok := screens.Await(ctx, s.repo, 10*time.Second)
	if !ok || address != p.Address || string(secret) != string(p.Secret) {
		t.Fatalf("%+v, %v", address, ok)
	}
	other := []byte(strings.Repeat("x", screens.SecretSize))
	if err := os.WriteFile(screens.SecretPath(s.repo), other, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := screens.Running(ctx, s.repo); ok {
		t.Error("a server that has not the secret is taken for ours")
	}
	if _, _, ok := screens.Await(ctx, s.repo, 30*time.Millisecond); ok {
		t.Error("waited for a server that never came")
	}
	if p.Gone() {
		t.Error("gone while it is there")
	}
	if err := os.Remove(screens.AddressPath(s.repo)); err != nil {
		t.Fatal(err)
	}
	if !p.Gone() {
		t.Error("not gone without its address")
	}
}

func TestReadAddress(t *testing.T) {
	s := newSite(t)
	for _, bad := range []string{"", "{", `{"port":0}`, `{"port":70000}`, `{"port":"x"}`} {
		if err := os.MkdirAll(s.repo.StateDir(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(screens.AddressPath(s.repo), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := screens.ReadAddress(s.repo); got != (screens.Address{}) {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// TestLongRequestLine: a request line that is too long still gets an answer.
func TestLongRequestLine(t *testing.T) {
	s := newSite(t)
	p := take(t, s, 0)
	serveOn(t, s, p)
	for size, want := range map[int]string{9_000: "HTTP/1.1 401 ", 40_000: "HTTP/1.1 431 ", 200_000: "HTTP/1.1 431 "} {
		conn, err := net.Dial("tcp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n", strings.Repeat("x", size), p.Addr())
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Errorf("%d bytes: %q, %v", size, got, err)
		}
		conn.Close()
	}
}

// TestNotRunning: Running ends in about a second where the port has no listener, where a program accepts nothing, where
// it answers nothing, and where it answers a byte at a time.
func TestNotRunning(t *testing.T) {
	s := newSite(t)
	take(t, s, 0).Leave()
	address := screens.ReadAddress(s.repo)
	if _, _, ok := screens.Running(t.Context(), s.repo); ok {
		t.Fatal("a port without a listener is a server")
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", address.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	running := make(chan bool, 1)
	ask := func(as string) {
		t.Helper()
		go func() {
			_, _, ok := screens.Running(t.Context(), s.repo)
			running <- ok
		}()
		select {
		case ok := <-running:
			if ok {
				t.Errorf("%s: it is a server", as)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: still asks", as)
		}
	}
	ask("accepts nothing")
	accepted := make(chan net.Conn, 2)
	go func() {
		for range cap(accepted) {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	defer (<-accepted).Close() // of the one that asked before
	go func() {
		conn := <-accepted
		defer conn.Close()
		for _, err := conn.Write([]byte("H")); err == nil; _, err = conn.Write([]byte("T")) {
			time.Sleep(50 * time.Millisecond)
		}
	}()
	ask("answers a byte at a time")
}
