package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

const helpTimeout = 20 * time.Second

// probe is what a program said of itself: it is asked once per version of it.
type probe struct {
	Path  string    `json:"path"`
	Size  int64     `json:"size"`
	Time  time.Time `json:"time"`
	Flags []string  `json:"flags"` // that its help names
}

// known refuses a call whose arguments that keep a reviewer from writing, or the checkout
// from being obeyed, are not in the program's own help any more. Where it has no help that
// can be read, or is no program by itself (npx and a package), nothing is known.
func (inv Invocation) known(ctx context.Context, c Command, cache string) error {
	if cache == "" || len(inv.preset.hardens) == 0 || len(inv.Args) == 0 || inv.wrapped {
		return nil
	}
	flags, err := inv.flags(ctx, c, cache)
	if err != nil || len(flags) == 0 {
		return err
	}
	used := func(flag string) bool { return slices.Contains(inv.Args, flag) }
	named := func(flag string) bool { return slices.Contains(flags, flag) }
	if !inv.own && !slices.ContainsFunc(inv.preset.hardens, named) {
		return nil // not the help that was looked for
	}
	for _, flag := range inv.preset.hardens {
		if used(flag) && !named(flag) {
			return fmt.Errorf("unknown option %s: this version of %q does not name it in its help, and without it the checkout is not safe from it, or it not from the checkout", flag, inv.Args[0])
		}
	}
	return nil
}

// flags are what the program's help names, from cache where it is the same program.
func (inv Invocation) flags(ctx context.Context, c Command, cache string) ([]string, error) {
	p, err := identify(c)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(p.Path))
	file := filepath.Join(cache, fmt.Sprintf("help-%x.json", sum[:12]))
	var kept probe
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &kept) == nil && kept.same(p) {
		return kept.Flags, nil
	}
	c.Args = append(slices.Clone(c.Args[:1]), append(slices.Clone(inv.preset.help), "--help")...)
	c.Dir, c.Timeout, c.Idle, c.Merge, c.event, c.stuck, c.talk, c.Transcript, c.OnLine = os.TempDir(), helpTimeout, 0, true, nil, nil, nil, nil, nil
	res, err := Run(ctx, c)
	if err != nil || res.ExitCode != 0 {
		return nil, nil // the call itself says why, if there is a reason
	}
	p.Flags = flagsIn(plain(string(res.Stdout)))
	if data, err := json.Marshal(p); err == nil && os.MkdirAll(cache, 0o700) == nil {
		_ = os.WriteFile(file, data, 0o600) // without it, it is asked again
	}
	return p.Flags, nil
}

func (p probe) same(q probe) bool {
	return p.Path == q.Path && p.Size == q.Size && p.Time.Equal(q.Time)
}

// identify is the program of c, as far as its file tells one version from another.
func identify(c Command) (probe, error) {
	path, err := lookup(c.Args, c.Env)
	if err != nil {
		return probe{}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return probe{}, err
	}
	return probe{Path: path, Size: info.Size(), Time: info.ModTime().UTC()}, nil
}

var flagWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s,\[(|"'` + "`" + `])(--?[A-Za-z][A-Za-z0-9-]*)`)
})

// flagsIn are the options that a help text names, sorted.
func flagsIn(help string) []string {
	var flags []string
	for _, m := range flagWords().FindAllStringSubmatch(help, -1) {
		flags = append(flags, m[1])
	}
	slices.Sort(flags)
	return slices.Compact(flags)
}
