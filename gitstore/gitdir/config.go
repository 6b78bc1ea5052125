package gitdir

import (
	"slices"
	"strings"
)

// Config is git's configuration from all scopes, with includes resolved.
// Keys are as git prints them: section and name in lower case, subsection as written.
type Config map[string][]string

// Get returns the last value of a key, which is the one in force, or "". Only a key's subsection is case-sensitive.
func (c Config) Get(key string) string {
	section, name := strings.Index(key, "."), strings.LastIndex(key, ".")
	if section >= 0 {
		key = strings.ToLower(key[:section]) + key[section:name] + strings.ToLower(key[name:])
	}
	values := c[key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Bool parses a boolean as git does: true, yes, on, 1 and a bare key are true.
func (c Config) Bool(key string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(c.Get(key)))
}

// ParseConfig parses the output of `git config --list -z`: key, newline, value, NUL. A key
// without a newline is a bare one, which is true.
func ParseConfig(listing string) Config {
	config := Config{}
	for _, item := range strings.Split(listing, "\x00") {
		config.add(item)
	}
	return config
}

func (c Config) add(item string) {
	key, value, valued := strings.Cut(item, "\n")
	if key == "" {
		return
	}
	if !valued {
		value = "true"
	}
	c[key] = append(c[key], value)
}

// listing is git's configuration, as a whole and the repository's part.
type listing struct {
	all   Config
	local Config // from the repository's own files
}

// parseListing parses the output of `git config --list -z --show-scope`: before each item comes its
// scope, ended by NUL.
func parseListing(out string) listing {
	l := listing{Config{}, Config{}}
	items := strings.Split(out, "\x00")
	for i := 0; i+1 < len(items); i += 2 {
		l.all.add(items[i+1])
		if items[i] == "local" {
			l.local.add(items[i+1])
		}
	}
	return l
}
