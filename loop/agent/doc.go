// Package agent runs other people's programs for the loop: coding agents and checks.
//
// # Running
//
// Run starts one command without a shell, in a session of its own, with exactly the
// environment that it is given, and supervises it:
//
//	          ┌── exits by itself ─ its remains: TERM, grace, KILL ─▶ exit code, signal
//	start ────┼── wall time over ───┐
//	          ├── silent too long ──┼─ TERM ─▶ grace ─▶ KILL until no process is left
//	          └── ctx is done ──────┘
//
// Stopping reaches everything that the command started. On Linux the processes of its
// family are found by parent, group, session and a mark in the environment; elsewhere
// only the process group is stopped. If git-runr itself is killed, the Linux kernel
// signals the command. After a command that exits by itself, its process group is stopped
// once its output is read, or after 2 s. A daemon in a session of its own outlives a
// check. On Linux no process of an agent outlives the call, because it could go on
// writing where others work.
//
// Output is kept in bounded memory, head and tail; a transcript receives all of it.
//
// # Environment
//
// Environ and CheckEnviron are allow-lists. GIT_ variables never pass, because those that
// a hook inherits point at another repository. DepthVar tells our hooks that an agent is
// at work.
//
// # Agents
//
// An agent is a command that receives a prompt on standard input, or in place of {prompt}
// or {prompt_file} in its arguments. A custom command answers on standard output. A preset
// describes a known tool in one file: arguments that keep a reviewer from writing and the
// repository's configuration from being run, and rules for the tool's event stream, which
// yield the final message, errors that the exit status hides, denied permissions, usage
// and session. Some files of the checkout instruct a tool whatever its
// arguments are; they are moved away while it reviews, so nobody else may work in that
// checkout. Call combines these parts; the loop uses it.
//
// The text of an Answer is foreign: it is valid UTF-8 and not empty; nothing else is
// guaranteed.
package agent
