package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// series has the times of one command at each size of the history.
type series struct {
	name   string
	points map[int]float64 // events, ms
}

type growth []series

// growth collects the rows that were measured at more than one size.
func (b *bench) growth() growth {
	var g growth
	for _, r := range b.rows {
		if r.events == 0 {
			continue
		}
		i := slices.IndexFunc(g, func(s series) bool { return s.name == r.what })
		if i < 0 {
			i = len(g)
			g = append(g, series{r.what, map[int]float64{}})
		}
		g[i].points[r.events] = r.took.Wall
	}
	return slices.DeleteFunc(g, func(s series) bool { return len(s.points) < 2 })
}

func (s series) sizes() []int { return slices.Sorted(maps.Keys(s.points)) }

// exponent returns the growth of time between the two largest sizes: 0 for constant, 1 for linear.
func (s series) exponent() float64 {
	n := s.sizes()
	a, z := n[len(n)-2], n[len(n)-1]
	return math.Log(s.points[z]/s.points[a]) / math.Log(float64(z)/float64(a))
}

// noise is a difference, in ms, that is not significant.
const noise = 5

func (s series) grows() string {
	n := s.sizes()
	switch e := s.exponent(); {
	case e < 0.2, s.points[n[len(n)-1]]-s.points[n[0]] < noise:
		return "flat"
	case e < 0.8:
		return "less than linear"
	case e <= 1.2:
		return "linear"
	}
	return "**worse than linear**"
}

func (g growth) sizes() []int {
	all := map[int]bool{}
	for _, s := range g {
		for n := range s.points {
			all[n] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (g growth) table() string {
	if len(g) == 0 {
		return ""
	}
	var t strings.Builder
	t.WriteString("\n| growth, by events | ")
	for _, n := range g.sizes() {
		fmt.Fprintf(&t, "%d | ", n)
	}
	t.WriteString("grows |\n|---|" + strings.Repeat("--:|", len(g.sizes())) + "---|\n")
	for _, s := range g {
		fmt.Fprintf(&t, "| %s | ", s.name)
		for _, n := range g.sizes() {
			if ms, ok := s.points[n]; ok {
				t.WriteString(duration(ms))
			}
			t.WriteString(" | ")
		}
		fmt.Fprintf(&t, "%s (^%.2f) |\n", s.grows(), s.exponent())
	}
	return t.String()
}

// The picture has two logarithmic axes.
const (
	left, top, wide, high = 60, 20, 480, 400
	names                 = 260 // to the right of it
)

// svg returns the picture of growth: one line per command, with its name at the end.
func (g growth) svg() string {
	var t strings.Builder
	fmt.Fprintf(&t,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n",
		left+wide+names, top+high+50)
	fmt.Fprintf(&t, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	if len(g) > 0 {
		p := g.plane()
		p.axes(&t)
		g.lines(&t, p)
	}
	t.WriteString("</svg>\n")
	return t.String()
}

// plane converts events and milliseconds to coordinates of the picture.
type plane struct{ fewest, most, least, longest float64 }

func (g growth) plane() plane {
	n := g.sizes()
	p := plane{fewest: math.Log10(float64(n[0])), most: math.Log10(float64(n[len(n)-1])), least: 0, longest: 1}
	for _, s := range g {
		for _, ms := range s.points {
			p.least = min(p.least, math.Floor(math.Log10(ms)))
			p.longest = max(p.longest, math.Ceil(math.Log10(ms)))
		}
	}
	return p
}

func (p plane) x(events float64) float64 {
	return left + wide*(math.Log10(events)-p.fewest)/(p.most-p.fewest)
}

func (p plane) y(ms float64) float64 {
	return top + high*(p.longest-math.Log10(ms))/(p.longest-p.least)
}

func (p plane) axes(t *strings.Builder) {
	for e := p.least; e <= p.longest; e++ {
		y := p.y(math.Pow(10, e))
		fmt.Fprintf(t, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, y, left+wide, left-6, y+4, axis(math.Pow(10, e)))
	}
	for e := math.Ceil(p.fewest); e <= p.most; e++ {
		x := p.x(math.Pow(10, e))
		fmt.Fprintf(t, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%.0f</text>`+"\n",
			x, top, top+high, x, top+high+16, math.Pow(10, e))
	}
	fmt.Fprintf(t, `<text x="%d" y="%d" text-anchor="middle">events</text>`+"\n", left+wide/2, top+high+36)
}

func axis(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.0f s", ms/1000)
	}
	return fmt.Sprintf("%g ms", ms)
}

var colours = []string{"#1b6ca8", "#c0392b", "#1e8449", "#7d3c98", "#b9770e", "#117a65", "#5d6d7e", "#a04000",
	"#2e4053", "#943126"}

func (g growth) lines(t *strings.Builder, p plane) {
	ordered := slices.Clone(g)
	slices.SortFunc(ordered, func(a, b series) int { return int(1000 * (a.end(p) - b.end(p))) })
	places := apart(ordered, p)
	for i, s := range ordered {
		colour := colours[i%len(colours)]
		t.WriteString(`<polyline fill="none" stroke="` + colour + `" stroke-width="1.5" points="`)
		for _, n := range s.sizes() {
			fmt.Fprintf(t, "%.1f,%.1f ", p.x(float64(n)), p.y(s.points[n]))
		}
		fmt.Fprintf(t, `"/><text x="%d" y="%.1f" fill="%s">%s: %s</text>`+"\n", left+wide+8, places[i]+4, colour, s.name,
			strings.Trim(s.grows(), "*"))
	}
}

// apart returns the heights of the names: near the ends of their lines, without overlaps.
func apart(ordered growth, p plane) []float64 {
	const line = 13
	places := make([]float64, len(ordered))
	next := float64(top)
	for i, s := range ordered {
		places[i] = max(next, s.end(p))
		next = places[i] + line
	}
	last := float64(top + high + 40)
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], last)
		last = places[i] - line
	}
	return places
}

// end returns the height at which a line ends.
func (s series) end(p plane) float64 {
	n := s.sizes()
	return p.y(s.points[n[len(n)-1]])
}
