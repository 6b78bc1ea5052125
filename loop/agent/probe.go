package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
)

const helpTimeout = 20 * time.Second

// probe is the cached list of a program's options, read from its help once per version.
type probe struct {
	Path  string    `json:"path"`
	Size  int64     `json:"size"`
	Time  time.Time `json:"time"`
	Flags []string  `json:"flags"` // options that its help lists
}

// known refuses a call if an argument that keeps a reviewer from writing, or the tool from
// obeying the checkout, is no longer in the program's help. It accepts the call if the help
// cannot be read or belongs to another program (npx and a package).
func (inv Invocation) known(ctx context.Context, c Command, cache string) error {
	if cache == "" || len(inv.preset.Hardens) == 0 || len(inv.Args) == 0 || inv.wrapped {
		return nil
	}
	flags, err := inv.flags(ctx, c, cache)
	if err != nil || len(flags) == 0 {
		return err
	}
	used := func(flag string) bool { return slices.Contains(inv.Args, flag) }
	named := func(flag string) bool { return slices.Contains(flags, flag) }
	if !inv.own && !slices.ContainsFunc(inv.preset.Hardens, named) {
		return nil // this is not the help of the right command
	}
	for _, flag := range inv.preset.Hardens {
		if used(flag) && !named(flag) {
			return fmt.Errorf(
				"unknown option %s: this version of %q does not list it in its help, and without it the agent and the checkout "+
					"are not safe from each other", flag, inv.Args[0])
		}
	}
	return nil
}

// flags returns the options in the program's help, from cache if the program is unchanged.
func (inv Invocation) flags(ctx context.Context, c Command, cache string) ([]string, error) {
	p, err := identify(c)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(p.Path))
	file := filepath.Join(cache, fmt.Sprintf("help-%x.json", sum[:12]))
	var kept probe
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &kept) == nil && kept.Path == p.Path &&
		kept.Size == p.Size && kept.Time.Equal(p.Time) {
		return kept.Flags, nil
	}
	args := slices.Concat(c.Args[:1], inv.preset.Help, []string{"--help"})
	asks := Command{Args: args, Dir: os.TempDir(), Env: c.Env, Timeout: helpTimeout, Merge: true, Alone: true}
	res, err := Run(ctx, asks)
	if err != nil || res.ExitCode != 0 {
		return nil, nil // the call itself will report the reason, if any
	}
	p.Flags = flagsIn(plain(string(res.Stdout)))
	if data, err := json.Marshal(p); err == nil && os.MkdirAll(cache, 0o700) == nil {
		_ = os.WriteFile(file, data, 0o600) // if this fails, the next call asks again
	}
	return p.Flags, nil
}

// identify returns the program of c with the file attributes that tell versions apart.
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

var flagWords = lazyre.Compile(`(?:^|[\s,\[(|"'` + "`" + `])(--?[A-Za-z][A-Za-z0-9-]*)`)

// flagsIn returns the options in a help text, sorted.
func flagsIn(help string) []string {
	flags := each.Of(flagWords().FindAllStringSubmatch(help, -1), func(m []string) string { return m[1] })
	slices.Sort(flags)
	return slices.Compact(flags)
}
