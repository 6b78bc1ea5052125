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
