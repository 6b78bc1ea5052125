package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Version returns the version of git, such as 2 and 39.
func (r *Repo) Version(ctx context.Context) (major, minor int, err error) {
	line, err := r.dir.GitLine(ctx, "version")
	if err != nil {
		return 0, 0, fmt.Errorf("read git's version: %w", err)
	}
	if _, err := fmt.Sscanf(line, "git version %d.%d", &major, &minor); err != nil {
		return 0, 0, fmt.Errorf("read git's version %q: %w", line, err)
	}
	return major, minor, nil
}

// UnsetConfig removes a section from the repository's own configuration. A missing section is not
// an error.
func (r *Repo) UnsetConfig(ctx context.Context, section string) error {
	inSection := func(key string, _ []string) bool { return strings.HasPrefix(key, section+".") }
	known := len(r.Config)
	maps.DeleteFunc(r.Config, inSection)
	if len(r.Config) == known {
		return nil
	}
	if _, err := r.dir.Git(ctx, "config", "--local", "--remove-section", section); err != nil &&
		gitdir.ExitStatus(err) != 128 {
		return fmt.Errorf("unset %s: %w", section, err)
	}
	return nil
}

// UnsetKey removes a key from the repository's own configuration. A missing key is not an error.
func (r *Repo) UnsetKey(ctx context.Context, key string) error {
	if r.Config.Get(key) == "" {
		return nil
	}
	delete(r.Config, strings.ToLower(key))
	if _, err := r.dir.Git(ctx, "config", "--local", "--unset-all", key); err != nil && gitdir.ExitStatus(err) != 5 {
		return fmt.Errorf("unset %s: %w", key, err)
	}
	return nil
}

// UnsetValue removes one value of a key from the repository's own configuration.
func (r *Repo) UnsetValue(ctx context.Context, key, value string) error {
	if !slices.Contains(r.Config[strings.ToLower(key)], value) {
		return nil
	}
	if _, err := r.dir.Git(ctx, "config", "--local", "--fixed-value", "--unset-all", key, value); err != nil &&
		gitdir.ExitStatus(err) != 5 {
		return fmt.Errorf("unset %s: %w", key, err)
	}
	return nil
}
