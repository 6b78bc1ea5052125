// Package checking runs checks for a change, in a checkout of its own or in the worktree of a run. It gives the worktree
// what checks need (furnish), keeps results by tree and command (checks), and watches what a command or an agent does to
// the repository beside its own files (watch).
package checking
