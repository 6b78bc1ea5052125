package safetext

import (
	"fmt"
	"io"
)

// Block is text of many lines: where it is an argument of Fprintf it is shown as Text
// has it, not as Line.
type Block string

// Fprintf is fmt.Fprintf for what people read. The format is the program's own and
// is written as it is; every argument may be text from outside and comes as Line
// makes it, a Block as Text does. What prints by it cannot forget to.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	if false {
		_ = fmt.Sprintf(format, args...) // go vet then checks the callers' formats
	}
	return fmt.Fprintf(w, format, shown(args)...)
}

func shown(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		if _, number := arg.(int); number { // may be the width of another: %*d
			safe[i] = arg
			continue
		}
		safe[i] = argument{arg}
	}
	return safe
}

// argument formats its value as fmt would, and makes that safe.
type argument struct{ value any }

func (a argument) Format(state fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(state, verb), a.value)
	if _, block := a.value.(Block); block {
		text = Text(text)
	} else {
		text = Line(text)
	}
	io.WriteString(state, text)
}
