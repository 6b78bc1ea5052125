package main

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
)

// alias is a name that a command had before, or has in roborev. Its words, and flags of
// it that are called otherwise now, are replaced where they are typed; no text names them.
type alias struct {
	typed, now string
	flags      map[string]string // also arguments that are flags now
}

// aliases are all old names. What stands behind one stays behind what replaces it.
func aliases() []alias {
	decisions := map[string]string{"commit": "--commit", "skip": "--skip", "stop": "--stop"}
	return []alias{
		{"answer", "resume --decide", decisions},
		{"continue", "resume --safe", nil},
		{"fix", "run --review", nil},
		{"inbox get", "show --only-review", nil},
		{"list", "inbox list", nil},
		{"report", "show --steps", nil},
		{"restore", "undo --snapshot", map[string]string{"--to": "--into"}},
		{"scan", "review --missing", nil},
		{"snapshots", "undo --list", nil},
	}
}

// renamed replaces an old name in the words that were typed, the program's first.
// Behind "help" the flags of what replaces it are left out.
func renamed(words []string) []string {
	at := 1
	for at < len(words) && strings.HasPrefix(words[at], "-") {
		if slices.Contains([]string{"C", "color"}, strings.TrimLeft(words[at], "-")) {
			at++
		}
		at++
	}
	help := at < len(words) && words[at] == "help"
	if help {
		at++
	}
	for _, a := range aliases() {
		rest, ok := behind(words[min(at, len(words)):], strings.Fields(a.typed))
		if !ok {
			continue
		}
		now := strings.Fields(a.now)
		if help {
			now = now[:1]
		}
		return slices.Concat(words[:at], now, a.rename(rest))
	}
	return words
}

// behind returns words without names, which they begin with but for flags in between.
func behind(words, names []string) (rest []string, ok bool) {
	for _, word := range words {
		switch {
		case len(names) > 0 && word == names[0]:
			names = names[1:]
		case len(names) > 0 && !strings.HasPrefix(word, "-"):
			return nil, false
		default:
			rest = append(rest, word)
		}
	}
	return rest, len(names) == 0
}

func (a alias) rename(words []string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		if word == "--" {
			break
		}
		name, value, inline := strings.Cut(word, "=")
		if now := a.flags[name]; now != "" && inline {
			words[i] = now + "=" + value
		} else if now != "" {
			words[i] = now
		}
	}
	return words
}

// unlike names what is nearest to commands of roborev that have no counterpart of one line.
func unlike(name string) *exit.Problem {
	if name != "refine" {
		return nil
	}
	return exit.Problemf(exit.Usage, "%q is a command of roborev; here a run goes on until its review passes", name).
		WithHint("git runr run --review latest", "git runr run -h")
}
