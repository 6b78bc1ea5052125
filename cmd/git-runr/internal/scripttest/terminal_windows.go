package scripttest

import "io"

// atTerminal has no terminal to run a command at.
func atTerminal([]string, io.Writer, io.Writer) int { return 125 }
