package safetext

import (
	"fmt"
	"io"
)

// Block is text of many lines. As an argument of Fprintf it is formatted by Text, not by
// Line.
type Block string

// Fprintf is fmt.Fprintf for output to people. The format is the program's own and is written
// unchanged. Every argument may be foreign text and passes through Line, a Block through
// Text, so that no caller can forget it.
//
// If w is a Painter, it highlights the arguments by their type and value.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	if false {
		_ = fmt.Sprintf(format, args...) // has go vet check the callers' formats
	}
	painter, _ := w.(Painter)
	return fmt.Fprintf(w, format, shown(painter, args)...)
}

// Painter is a writer that highlights text by its meaning.
type Painter interface {
	// Paint returns the text before and after an argument, by its type and value.
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

// argument formats its value as fmt would, and makes the result safe.
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
