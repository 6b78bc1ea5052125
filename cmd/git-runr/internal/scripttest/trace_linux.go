package scripttest

import "syscall"

// What tests need of ptrace(2) and wait(2), and package syscall does not name.
const (
	SysGood      = 0x80       // in the signal of a stop at a system call
	OfThisThread = 0x20000000 // __WNOTHREAD
	OfAnyKind    = 0x40000000 // __WALL

	TraceOptions = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK |
		syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACEEXEC
)
