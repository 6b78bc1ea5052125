package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/safetext"
)

// approvals stores which commands of which repository the user has approved, one file per repository outside of all
// repositories. Nothing else can grant trust: no variable, key or ref.
type approvals struct {
	Dir string // "" without a home directory: then nothing is trusted
	// Altered reports whether an agent, a check or a hook of this repository changed a file below a directory, and
	// nobody has accepted that. Then nothing is trusted.
	Altered func(dir string) bool
}

// TrustState is the user's decision on a repository's commands.
type TrustState string

const (
	Trusted   TrustState = "trusted"
	Untrusted TrustState = "untrusted" // never approved
	changed   TrustState = "changed"   // other commands were approved
)

// trustRecord is the content of one approvals file. It has the approved commands as text, so that a change of them can
// be shown, and a hash that binds them to the repository.
type trustRecord struct {
	V          int             `json:"v"`
	Repository string          `json:"repository"`
	Approved   json.RawMessage `json:"approved"`
	SHA256     string          `json:"sha256"`
	At         time.Time       `json:"at"`
	Consent
}

// newApprovals returns the approvals under XDG_STATE_HOME, else ~/.local/state.
func newApprovals(getenv func(string) string) approvals {
	return approvals{Dir: UnderHome(getenv, "XDG_STATE_HOME", filepath.FromSlash(".local/state"), "git-runr/trust")}
}

// status reports whether canonical, the result of Config.executables, is approved for a repository. identity is its
// common git directory, which its worktrees share and other clones do not. approved is what was last approved, or
// nil. An unreadable record counts as no approval.
func (t approvals) status(identity string, canonical []byte) (state TrustState, approved []byte) {
	record, err := t.read(identity)
	if err != nil {
		return Untrusted, nil
	}
	if record.SHA256 == trustHash(identity, canonical) {
		return Trusted, record.Approved
	}
	return changed, record.Approved
}

// altered reports whether Altered says so of a file or directory.
func (t approvals) altered(path string) bool { return t.Altered != nil && t.Altered(path) }

// approve replaces the record of a repository: canonical is approved, and consent says whose code may run.
func (t approvals) approve(identity string, canonical []byte, consent Consent, now time.Time) error {
	if t.Dir == "" {
		return exit.Problemf(exit.Untrusted, "cannot store trust: neither XDG_STATE_HOME nor HOME is an absolute path").
			WithHint("HOME=/home/you git runr trust")
	}
	if !filepath.IsAbs(identity) || !json.Valid(canonical) {
		return fmt.Errorf("approve %q: not an absolute path with canonical JSON", identity)
	}
	var record bytes.Buffer
	enc := json.NewEncoder(&record)
	enc.SetEscapeHTML(false) // the record must have the bytes that were hashed
	err := enc.Encode(trustRecord{
		V: 1, Repository: realPath(identity), Approved: canonical,
		SHA256: trustHash(identity, canonical), At: now.UTC().Truncate(time.Second),
		Consent: consent,
	})
	if err != nil {
		return fmt.Errorf("encode trust: %w", err)
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	if err := safefile.WriteDurable(t.file(identity), record.Bytes(), 0o600); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	return nil
}

// revoke deletes the record of a repository.
func (t approvals) revoke(identity string) error {
	if t.Dir == "" {
		return nil
	}
	t.forgetCleared(identity)
	if err := os.Remove(t.file(identity)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("revoke trust: %w", err)
	}
	return nil
}

func (t approvals) read(identity string) (trustRecord, error) {
	var record trustRecord
	if t.Dir == "" || !filepath.IsAbs(identity) {
		return record, fs.ErrNotExist
	}
	info, err := os.Lstat(t.file(identity))
	if err != nil {
		return record, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTrustFile {
		return record, fmt.Errorf("read trust: not a record of git-runr")
	}
	data, err := os.ReadFile(t.file(identity))
	if err != nil {
		return record, err
	}
	if t.altered(t.Dir) {
		return record, fmt.Errorf("read trust: it was changed while an agent, a check or a hook worked")
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("read trust: %w", err)
	}
	if record.V != 1 || record.SHA256 != trustHash(identity, record.Approved) {
		return record, fmt.Errorf("read trust: the record is inconsistent")
	}
	return record, nil
}

// Outside returns the files outside of the repository that determine what runs: the user's configuration and the
// approvals. They are watched while an agent works.
func Outside(getenv func(string) string, commonDir string) []string {
	files := []string{userPath(getenv), newApprovals(getenv).file(commonDir)}
	return slices.DeleteFunc(files, func(path string) bool { return !filepath.IsAbs(path) })
}

// file returns the path of the record of a repository. A new approval replaces the old one.
func (t approvals) file(identity string) string {
	return filepath.Join(t.Dir, safefile.Hash([]byte(realPath(identity)))+".json")
}

// trustHash returns the hash of the commands and the repository. The NUL separates them, because a path contains
// none.
func trustHash(identity string, canonical []byte) string {
	h := sha256.New()
	h.Write([]byte(realPath(identity) + "\x00"))
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// realPath resolves symbolic links, so that two paths to one directory compare equal.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// trustDiff returns the difference between two approvals, in the order of keys: "- KEY = VALUE" for a removed value,
// "+ KEY = VALUE" for a new one. Without an old approval it lists everything.
func trustDiff(old, new []byte) []string {
	before, after := trustLines(old), trustLines(new)
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	lines := []string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, is := before[key], after[key] // JSON is never ""
		if was != is && was != "" {
			lines = append(lines, safetext.Line("- "+key+" = "+was))
		}
		if was != is && is != "" {
			lines = append(lines, safetext.Line("+ "+key+" = "+is))
		}
	}
	return lines
}

// trustLines converts canonical JSON to a map from key to value. The map is empty for invalid JSON.
func trustLines(canonical []byte) map[string]string {
	var tables map[string]map[string]json.RawMessage
	lines := map[string]string{}
	if json.Unmarshal(canonical, &tables) != nil {
		return lines
	}
	for table, keys := range tables {
		for key, value := range keys {
			lines[table+"."+key] = string(bytes.TrimSpace(value))
		}
	}
	return lines
}

// maxTrustFile is the maximum size of a record in bytes.
const maxTrustFile = 2 << 20

// UnderHome returns rest below the directory in the variable xdg, or else below other in the home directory. It
// ignores relative paths, and returns "" if it has neither.
func UnderHome(getenv func(string) string, xdg, other, rest string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, other, filepath.FromSlash(rest))
	}
	return ""
}
