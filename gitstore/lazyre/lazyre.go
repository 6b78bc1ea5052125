// Package lazyre compiles regular expressions at their first use: most processes need few of them, and a hook must
// start fast.
package lazyre

import (
	"regexp"
	"sync"
)

// Compile returns a function that compiles expr at its first call. It panics for a malformed expr.
func Compile(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
