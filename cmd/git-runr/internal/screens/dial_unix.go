//go:build unix

package screens

import (
	"os"
	"syscall"
	"time"
)

// dial connects to a port of the loopback address. Connecting, and then all reads and writes, take at most wait. The
// package net would bring the C library's resolver into each process of git-runr, and with it a quarter of the time
// that a process takes to start.
func dial(port int, wait time.Duration) (*os.File, error) {
	syscall.ForkLock.RLock() // a child that starts now would inherit the socket
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connect(fd, port, wait); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	conn := os.NewFile(uintptr(fd), "socket") // it has deadlines, because the socket does not block any more
	return conn, conn.SetDeadline(time.Now().Add(wait))
}

// connect connects the socket, and then sets it not to block.
func connect(fd, port int, wait time.Duration) error {
	limit := syscall.NsecToTimeval(max(wait, time.Millisecond).Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err != nil && err != syscall.EINTR { // after a signal the kernel goes on connecting, and the first write waits
		return os.NewSyscallError("connect", err)
	}
	return os.NewSyscallError("fcntl", syscall.SetNonblock(fd, true))
}
