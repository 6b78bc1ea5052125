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

// approvals keeps which commands of which repository the user has approved. It
// lies outside every repository, one file a repository, and nothing else takes
// part in the decision: no variable, key or ref can grant trust.
type approvals struct {
	Dir string // "" when there is no home: nothing is trusted then
}

// TrustState is what the user has said about a repository's commands.
type TrustState string

const (
	Trusted   TrustState = "trusted"
	Untrusted TrustState = "untrusted" // never approved
	changed   TrustState = "changed"   // other commands were approved
)

// trustRecord is the file: what was approved, in the open so that a change of it
// can be shown, bound by the hash to the repository.
type trustRecord struct {
	V          int             `json:"v"`
	Repository string          `json:"repository"`
	Approved   json.RawMessage `json:"approved"`
	SHA256     string          `json:"sha256"`
	At         time.Time       `json:"at"`
	Consent
}

// newApprovals is the store under XDG_STATE_HOME, else ~/.local/state.
func newApprovals(getenv func(string) string) approvals {
	return approvals{Dir: UnderHome(getenv, "XDG_STATE_HOME", filepath.FromSlash(".local/state"), "git-runr/trust")}
}

// status says whether canonical (see config.executables) is approved for the
// repository whose common git directory is identity; its worktrees share that,
// another clone has its own. approved is what was approved before, nil for
// nothing. A record that cannot be read is no approval.
func (t approvals) status(identity string, canonical []byte) (state TrustState, approved []byte) {
	record, err := t.read(identity)
	switch {
	case err != nil:
		return Untrusted, nil
	case record.SHA256 == trustHash(identity, canonical):
		return Trusted, record.Approved
	}
	return changed, record.Approved
}

// approve records canonical as approved and whose code may run, in place of what was.
func (t approvals) approve(identity string, canonical []byte, consent Consent, now time.Time) error {
	if t.Dir == "" {
		return exit.Problemf(exit.Untrusted, "there is no place to keep trust: neither XDG_STATE_HOME nor HOME is an absolute path").
			WithHint("HOME=/home/you git runr trust")
	}
	if !filepath.IsAbs(identity) || !json.Valid(canonical) {
		return fmt.Errorf("approve %q: not an absolute path with canonical JSON", identity)
	}
	var record bytes.Buffer
	enc := json.NewEncoder(&record)
	enc.SetEscapeHTML(false) // what was approved must stay the bytes that were hashed
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

// revoke forgets what was approved.
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
		return record, fmt.Errorf("read trust: not a record of ours")
	}
	data, err := os.ReadFile(t.file(identity))
	if err != nil {
		return record, err
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return record, fmt.Errorf("read trust: %w", err)
	}
	if record.V != 1 || record.SHA256 != trustHash(identity, record.Approved) {
		return record, fmt.Errorf("read trust: the record does not hold together")
	}
	return record, nil
}

// Outside are the files that say what is obeyed and lie outside of the repository: the
// user's own configuration and what was approved.
func Outside(getenv func(string) string, commonDir string) (files []string) {
	for _, path := range []string{userPath(getenv), newApprovals(getenv).file(commonDir)} {
		if filepath.IsAbs(path) {
			files = append(files, path)
		}
	}
	return files
}

// file is named by the repository, so that a new approval replaces the old one.
func (t approvals) file(identity string) string {
	return filepath.Join(t.Dir, safefile.Hash([]byte(realPath(identity)))+".json")
}

// trustHash binds the commands to the repository. A path holds no NUL, so the two
// cannot be mistaken for each other.
func trustHash(identity string, canonical []byte) string {
	h := sha256.New()
	h.Write([]byte(realPath(identity) + "\x00"))
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// realPath makes one of the names that symbolic links give a directory.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// trustDiff shows what changed between two approvals, one line a key: "- KEY =
// VALUE" for what goes, "+ KEY = VALUE" for what comes, in the order of keys. With
// no old one it lists everything.
func trustDiff(old, new []byte) []string {
	before, after := trustLines(old), trustLines(new)
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	lines := []string{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, gone := before[key]
		is, comes := after[key]
		if was == is && gone == comes {
			continue
		}
		if gone {
			lines = append(lines, safetext.Line("- "+key+" = "+was))
		}
		if comes {
			lines = append(lines, safetext.Line("+ "+key+" = "+is))
		}
	}
	return lines
}

// trustLines flattens canonical JSON to key and value; what is not that is empty.
func trustLines(canonical []byte) map[string]string {
	var tables map[string]map[string]json.RawMessage
	if json.Unmarshal(canonical, &tables) != nil {
		return map[string]string{}
	}
	lines := map[string]string{}
	for table, keys := range tables {
		for key, value := range keys {
			lines[table+"."+key] = string(bytes.TrimSpace(value))
		}
	}
	return lines
}

// maxTrustFile is the most bytes of a record.
const maxTrustFile = 2 << 20

// UnderHome is rest under the directory that the XDG variable names, or else under
// other in the home directory; relative values do not count, "" without either.
func UnderHome(getenv func(string) string, xdg, other, rest string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, other, filepath.FromSlash(rest))
	}
	return ""
}
