package gitdir

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Config is git's configuration as one listing: all scopes, includes resolved.
// Keys are as git prints them: section and name in lower case, subsection as written.
type Config map[string][]string

// Get is the value that counts, the last one; "" when there is none.
func (c Config) Get(key string) string {
	values := c[strings.ToLower(key)]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Bool reads a boolean as git does: true, yes, on, 1 and a bare key are true.
func (c Config) Bool(key string) bool {
	switch strings.ToLower(c.Get(key)) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

type configAnswer struct {
	config Config
	err    error
}

func readConfig(ctx context.Context, c Call) configAnswer {
	c.Args = []string{"config", "--list", "-z"}
	out, err := c.Run(ctx)
	if err != nil {
		return configAnswer{err: err}
	}
	return configAnswer{config: parseConfig(string(out))}
}

// parseConfig reads `git config --list -z`: key, newline, value, NUL. A key
// without a newline is a bare one, which is true.
func parseConfig(listing string) Config {
	config := Config{}
	for _, item := range strings.Split(listing, "\x00") {
		key, value, valued := strings.Cut(item, "\n")
		if key == "" {
			continue
		}
		if !valued {
			value = "true"
		}
		config[key] = append(config[key], value)
	}
	return config
}

// SetConfig writes one value to the repository's own configuration file.
func (d *Dir) SetConfig(ctx context.Context, key, value string) error {
	if _, err := d.Git(ctx, "config", "--local", key, value); err != nil {
		return fmt.Errorf("set %s: %w", key, err)
	}
	d.Config[strings.ToLower(key)] = []string{value}
	return nil
}

// Remotes lists the names of the remotes that are configured with a URL, sorted.
func (p *Place) Remotes() []string {
	var names []string
	for key := range p.Config {
		name, isRemote := strings.CutPrefix(key, "remote.")
		name, isURL := strings.CutSuffix(name, ".url")
		if isRemote && isURL && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
