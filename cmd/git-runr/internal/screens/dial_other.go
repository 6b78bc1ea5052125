//go:build !unix

package screens

import (
	"net"
	"strconv"
	"time"
)

// dial connects to a port of the loopback address. Connecting, and then all reads and writes, take at most wait.
func dial(port int, wait time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), wait)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(wait))
}
