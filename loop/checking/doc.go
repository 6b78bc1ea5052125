// Package checking runs checks for a change, in a checkout of its own or in the worktree of a run. It puts into the
// worktree what checks need (furnish), keeps results by tree and command (checks), and watches what a command or an
// agent does to the repository beyond its own files (watch).
package checking
