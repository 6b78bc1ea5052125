// Package diagnose says why a run stopped and what to type next. Its functions
// are pure: from a folded run to a diagnosis, and from a diagnosis to text.
package diagnose
