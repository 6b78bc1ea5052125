package gitdir

import (
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
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(c.Get(key)))
}

// ParseConfig reads `git config --list -z`: key, newline, value, NUL. A key
// without a newline is a bare one, which is true.
func ParseConfig(listing string) Config {
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
