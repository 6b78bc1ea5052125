package safetext

import (
	"fmt"
	"io"
)

// Block is text of many lines: where it is an argument of Fprintf it is shown as
// Text has it, not as Line.
type Block string

// Fprintf is fmt.Fprintf for what people read. The format is the program's own and
// is written as it is; every argument may be text from outside and comes as Line
// makes it, a Block as Text does. What prints by it cannot forget to.
//
// A writer that is a Painter sets them off by what they are.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	if false {
		_ = fmt.Sprintf(format, args...) // go vet then checks the callers' formats
	}
	painter, _ := w.(Painter)
	return fmt.Fprintf(w, format, shown(painter, args)...)
}

// Painter is a writer on which text is set off by what it means.
type Painter interface {
	// Paint gives what is written before and after an argument, by its type and value.
	Paint(arg any) (before, after string)
}

func shown(painter Painter, args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		if _, number := arg.(int); number { // may be the width of another: %*d
			safe[i] = arg
			continue
		}
		shown := argument{value: arg}
		if painter != nil {
			shown.before, shown.after = painter.Paint(arg)
		}
		safe[i] = shown
	}
	return safe
}

// argument formats its value as fmt would, and makes that safe.
type argument struct {
	value         any
	before, after string
}

func (a argument) Format(state fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(state, verb), a.value)
	if _, block := a.value.(Block); block {
		text = Text(text)
	} else {
		text = Line(text)
	}
	io.WriteString(state, a.before+text+a.after)
}
