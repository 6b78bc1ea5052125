// Package agent runs other people's programs: coding agents and checks.
//
// # Running
//
// Run starts one command without a shell, in a session of its own, with an
// environment that is complete as given, and supervises it:
//
//	          ┌── ends by itself ─ what it left: TERM, grace, KILL ─▶ exit code, signal
//	start ────┼── wall time over ───┐
//	          ├── silent too long ──┼─ TERM ─▶ grace ─▶ KILL until none is left
//	          └── ctx is done ──────┘
//
// Stopping reaches everything that the command started. On Linux the members of
// its family are found by parent, group, session and a mark in the environment;
// elsewhere only its process group is stopped. If git-runr itself is killed, the
// kernel (on Linux) tells the command to end. Of a command that
// ends by itself the process group is stopped, once its output is read or 2 s are over.
// A daemon, which has a session of its own, outlives a check; of what an agent started on
// Linux nothing outlives its call, or it would go on writing where others work.
//
// Output is kept in bounded memory, head and tail; a transcript gets all of it.
//
// # Environment
//
// Environ and CheckEnviron are allow-lists. Nothing of git's own variables
// passes, for those that a hook inherits point at another repository. DepthVar
// tells our hooks that an agent is at work.
//
// # Agents
//
// An agent is a command that takes a prompt on standard input, or in place of {prompt} or
// {prompt_file} among its arguments. A custom command answers on standard output. A preset is
// a known tool, a row of a table: arguments that keep a reviewer from writing and
// configuration in the repository from being run, and a reader of the events that it streams:
// the final message, errors that the exit status hides, what was refused to it, what it took,
// its session. Files of the checkout that instruct a tool whatever its arguments are, are put
// aside while it reviews: nobody else may work in that checkout then. Call puts the parts
// together and is what the loop uses.
//
// The text of an Answer is foreign: it is valid UTF-8 and has been judged not to
// be empty, and nothing else is promised of it.
package agent
