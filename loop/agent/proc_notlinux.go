//go:build !linux

package agent

import (
	"context"
	"syscall"
	"time"
)

// endWithUs does nothing: only Linux can signal a child when its parent dies.
func endWithUs(*syscall.SysProcAttr) {}

// leftFamily returns nil: outside Linux nothing proves which processes are ours.
func leftFamily(noted) *family { return nil }

// belongs returns false, as leftFamily returns nil.
func belongs(noted) bool { return false }

// AdoptOrphans does nothing outside Linux.
func AdoptOrphans() {}

// startOf returns 0: only orphans are compared by when they started.
func startOf(int) uint64 { return 0 }

// endOrphans returns true: outside Linux we get no orphans.
func endOrphans(context.Context, time.Duration) bool { return true }

// family is a command and its process group. A process that left the group is not found;
// only Linux can find it.
type family struct{ leader int }

func newFamily(leader int, _ string, _ bool) *family { return &family{leader: leader} }

func (f *family) noted() noted { return noted{PID: f.leader} }

// signalGroup is signal, which reaches only the group.
func (f *family) signalGroup(sig syscall.Signal) int { return f.signal(sig) }
