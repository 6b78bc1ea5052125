// Command pictures makes an SVG of the terminal output of commands: it shows the screens on standard input, each
// ended by a form feed, one after the other. See make.sh.
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"log"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	columns, rows = 84, 25
	cell, line    = 84, 19 // in tenths of a pixel, in pixels
	seconds       = 6      // per screen
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(os.Stdout)
	draw(w, strings.Split(strings.TrimSuffix(string(text), "\f"), "\f"))
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

func draw(w io.Writer, screens []string) {
	width, height := columns*cell/10+32, rows*line+28
	fmt.Fprintf(w,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
<style>
text { white-space: pre; fill: #d8dee9 } .b { font-weight: bold } .d { fill: #8b95a7 } .g { fill: #8fce7b } .c { fill: #7cc7d6 } .y { fill: #e6c35c } .r { fill: #ff7b72; font-weight: bold }
g { opacity: 0; animation: s %ds infinite step-end } g:first-of-type { opacity: 1 }
@keyframes s { 0%% { opacity: 1 } %.2f%% { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { g { animation: none } }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#16191f"/>
`, width, height, width, seconds*len(screens), 100/float64(len(screens)))
	for i, screen := range screens {
		fmt.Fprintf(w, "<g style=\"animation-delay: %ds\">\n", i*seconds)
		for row, text := range fitted(screen) {
			fmt.Fprintf(w, "<text x=\"16\" y=\"%d\">%s</text>\n", 26+row*line, spans(text))
		}
		fmt.Fprintln(w, "</g>")
	}
	fmt.Fprintln(w, "</svg>")
}

// fitted returns the lines of a screen, cut to the available height.
func fitted(screen string) []string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	if len(lines) > rows {
		lines = append(lines[:rows-1], "\x1b[2m…\x1b[m")
	}
	return lines
}

// spans returns a line with colour escapes as SVG, cut at the last column.
func spans(text string) string {
	var b strings.Builder
	class, room := "", columns
	for text != "" {
		part, rest, escaped := strings.Cut(text, "\x1b[")
		if n := utf8.RuneCountInString(part); n > room {
			part = string([]rune(part)[:max(room-1, 0)]) + "…"
		}
		room = max(room-utf8.RuneCountInString(part), 0)
		switch part = html.EscapeString(part); {
		case part == "":
		case class == "":
			b.WriteString(part)
		default:
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, part)
		}
		if !escaped || room == 0 {
			break
		}
		var code string
		code, text, _ = strings.Cut(rest, "m")
		class = map[string]string{"1": "b", "2": "d", "32": "g", "36": "c", "33": "y", "1;31": "r", "31": "r"}[code]
	}
	return b.String()
}
