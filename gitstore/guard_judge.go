package gitstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/lazyre"
)

// executingKeys matches the settings that make git, or this tool, run a program, read other configuration, objects
// or files, or contact another place, in commands that this tool runs. The names are those of git-config(1), in lower
// case except for a subsection.
var executingKeys = lazyre.Compile(`^(?s:` +
	`core\.(sshcommand|askpass|gitproxy|fsmonitor|worktree|bare|attributesfile|alternaterefscommand)` +
	`|pager\.runr|alias\..*|include\.path|includeif\..*|url\..*|hook\..*|protocol\..*|credential\.(?:.*\.)?helper|extensions\.partialclone` +
	`|filter\..*|diff\.external|diff\..*\.(command|textconv)|merge\..*\.driver|trailer\..*\.(cmd|command)` +
	`|gpg\.(.*\.)?(program|defaultkeycommand|allowedsignersfile)|init\.templatedir|uploadpack\.packobjectshook` +
	`|remote\..*\.(uploadpack|receivepack|proxy|vcs|promisor)|http\..*(proxy|sslverify|sslcainfo|extraheader)|ssh\.variant` +
	`|submodule\..*\.update|lfs\.(customtransfer|extension)\..*|runr\.(agents|checks|program|worktree|hooks\.notify|loop\.commithooks)\b.*` +
	`)$`)

// executes reports whether a setting makes git run or follow something. For some keys that depends on the value.
func (r *Repo) executes(ctx context.Context, key, value string) bool {
	switch {
	case key == "core.hookspath":
		return !filepath.IsLocal(value) || r.hasOtherHooks(ctx, filepath.Join(r.WorkTree, value))
	case key == "core.bare":
		return value != "false"
	case strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, "url")):
		return strings.Contains(value, "::") || strings.HasPrefix(value, "-")
	case !executingKeys().MatchString(key):
		return false
	case key == "pager.runr":
		return !slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "1", "0"}, value)
	case strings.HasPrefix(key, "alias."):
		return strings.HasPrefix(value, "!") || key == "alias.runr"
	case strings.HasPrefix(key, "filter.lfs."):
		return !slices.Contains([]string{"git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process", "true"},
			value)
	case strings.HasPrefix(key, "submodule."):
		return strings.HasPrefix(value, "!")
	case key == "runr.program":
		return value != r.Program
	case key == "core.fsmonitor": // true means git's own daemon
		return value != "true" && value != "false"
	}
	return true
}

// judge finds out what a change makes git or this tool run or follow. It reports whether the change is worth
// reporting: changes that this program makes itself are not.
func (r *Repo) judge(ctx context.Context, c *FileChange) (news bool) {
	if c.Is == nil && (gitdir.Below(c.Path, filepath.Join(r.CommonDir, "worktrees")) || filepath.Base(c.Path) == ".git") {
		return false // a worktree was removed, perhaps that of a review
	}
	if r.madeByGit(c) {
		return false
	}
	switch c.Kind {
	case KindConfig:
		return r.judgeConfig(ctx, c)
	case KindHook:
		return r.judgeHook(ctx, c)
	case KindOwn:
		c.Executes = "this tool's own settings"
	default:
		c.Executes = otherExecutes(*c)
	}
	return true
}

// madeByGit reports whether git was making a worktree, perhaps that of a review: the file was missing or empty, and is
// still so or says what git writes there.
func (r *Repo) madeByGit(c *FileChange) bool {
	if len(c.Was) > 0 || c.WasLink != "" || c.IsLink != "" {
		return false
	}
	dir := filepath.Dir(c.Path)
	switch filepath.Base(c.Path) {
	case ".git":
		return len(c.Is) == 0 || r.isRegistered(dir, linkedTo(dir))
	case "commondir":
		below := filepath.Dir(dir) == filepath.Join(r.CommonDir, "worktrees")
		return below && (len(c.Is) == 0 || strings.TrimSpace(string(c.Is)) == "../..")
	}
	return false
}

// isRegistered reports whether gitDir is the git directory of the worktree at dir, by this repository's own record.
func (r *Repo) isRegistered(dir, gitDir string) bool {
	return gitDir != "" && gitdir.Below(gitDir, filepath.Join(r.CommonDir, "worktrees")) &&
		gitdir.RegisteredDir(gitDir) == gitdir.RealDir(dir)
}

func (r *Repo) judgeConfig(ctx context.Context, c *FileChange) bool {
	was, _ := settingsOf(ctx, c.Was) // an unreadable file set nothing
	is, err := settingsOf(ctx, c.Is)
	if c.Is == nil && c.Path == filepath.Join(r.CommonDir, "config") {
		c.Executes = "it was removed"
		return true
	}
	if err != nil || c.IsLink != c.WasLink {
		c.Executes = "a configuration that cannot be read, or is a link"
		return true
	}
	for _, key := range each.Keys(was, is) {
		if !slices.Equal(was[key], is[key]) && !IsWriterKey(key) {
			c.Settings = append(c.Settings, key)
		}
	}
	c.Executes = strings.Join(r.executing(ctx, c.Settings, was, is), ", ")
	return len(c.Settings) > 0
}

// executing returns those of the keys whose new values make git run or follow something.
func (r *Repo) executing(ctx context.Context, keys []string, was, is Config) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return !slices.ContainsFunc(is[key], func(value string) bool {
			return !slices.Contains(was[key], value) && r.executes(ctx, key, value)
		})
	})
}

// IsWriterKey reports whether a key is one that this program sets at its first write for an audience.
func IsWriterKey(key string) bool {
	named := strings.HasPrefix(key, "remote.") && strings.HasSuffix(strings.ToLower(key), ".runrwriter")
	return named || strings.EqualFold(key, "runr.writer") || strings.EqualFold(key, "runr.privateWriter")
}

// judgeHook marks a new or changed hook as executed, unless it is this program's, git-lfs's, or the same as in the
// commit that is checked out.
func (r *Repo) judgeHook(ctx context.Context, c *FileChange) bool {
	switch {
	case c.Is == nil || c.IsLink == "" && c.IsMode.Perm()&0o111 == 0: // git does not run it
	case c.IsLink == "" && r.OurHook != nil && r.OurHook(filepath.Base(c.Path), c.Was, c.Is):
		return false
	case c.IsLink == "" && (lfsHook().Match(c.Is) || r.isCheckedOut(ctx, c.Path, c.Is)):
	default:
		c.Executes = "a hook"
	}
	return true
}

// lfsHook matches the hooks that git lfs install writes.
var lfsHook = lazyre.Compile(`^#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 \|\| \{ (echo|printf) >&2( "[^"$` + "`" +
	`]*")+; exit 2; \}\n` +
	`git lfs (pre-push|post-checkout|post-commit|post-merge) "\$@"\n$`)

// hasOtherHooks reports whether a directory of the checkout has an executable file that differs from the checked out
// commit. Hooks among the project's own files are reviewed like other files.
func (r *Repo) hasOtherHooks(ctx context.Context, dir string) bool {
	return slices.ContainsFunc(filesIn(dir), func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode()&0o111 != 0 && !r.isCheckedOut(ctx, path, lookAt(path).Data)
	})
}

// isCheckedOut reports whether a file has the content that HEAD has at its path.
func (r *Repo) isCheckedOut(ctx context.Context, path string, text []byte) bool {
	rel, err := filepath.Rel(gitdir.RealDir(r.WorkTree), path)
	if r.WorkTree == "" || err != nil || !filepath.IsLocal(rel) {
		return false
	}
	head, err := r.Head(ctx)
	if err != nil {
		return false
	}
	blob, err := r.refs.Blob(ctx, head, filepath.ToSlash(rel))
	return err == nil && bytes.Equal(blob, text)
}

// otherExecutes describes what a file that is neither a configuration nor a hook redirects, or returns "".
func otherExecutes(c FileChange) string {
	switch filepath.Base(c.Path) {
	case "exclude":
		return ""
	case "shallow": // git fetch --unshallow removes lines
		if len(c.Is) == 0 || bytes.Contains(c.Was, c.Is) {
			return ""
		}
		return "another history"
	case "attributes":
		for line := range strings.Lines(string(c.Is)) {
			if !bytes.Contains(c.Was, []byte(line)) && namesDriver().MatchString(line) {
				return "attributes that name a driver"
			}
		}
		return ""
	case "grafts":
		return "another history"
	case "alternates":
		return "objects of another repository"
	case "commondir": // git worktree add writes it
		if string(c.Is) == "../..\n" {
			return ""
		}
	}
	return "where the repository lies"
}

var namesDriver = lazyre.Compile(`\b(filter|diff|merge)=|\[attr\]`)

// isWas reports whether a guarded file is as it was before the change.
func (c FileChange) isWas() bool {
	now := lookAt(c.Path)
	if c.Was == nil {
		return now.Mode == 0
	}
	return now.Mode == c.Mode && now.Link == c.WasLink && bytes.Equal(now.Data, c.Was)
}

// isAs reports whether a guarded file is as the change left it.
func (c FileChange) isAs() bool {
	now := lookAt(c.Path)
	if c.Is == nil {
		return now.Mode == 0
	}
	return now.Mode != 0 && now.Link == c.IsLink && bytes.Equal(now.Data, c.Is)
}
