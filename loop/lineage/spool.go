package lineage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/store"
)

// rewrite is a report by git, or by landing, of commits that were made from others.
type rewrite struct {
	how   string      // amend, rebase, land …
	head  gitstore.ID // HEAD after it
	onto  gitstore.ID // for a rebase: the new base
	was   gitstore.ID // for a rebase: the old tip of the branch
	pairs []gitstore.Moved
}

func rewritesDir(s *store.Store) string { return filepath.Join(s.Repo.StateDir(), "rewrites") }

// NoteRewrite stores which commits a rewrite made from which, for the next Follow. It only writes one small file,
// because git waits for it.
func NoteRewrite(s *store.Store, how string, pairs []gitstore.Moved) error {
	if len(pairs) == 0 {
		return nil
	}
	var b bytes.Buffer
	if head, err := s.Repo.Head(context.Background()); err == nil {
		fmt.Fprintf(&b, "%s HEAD %s\n", how, head)
	}
	if onto, was := s.Repo.Rebase(); onto != "" && how == "rebase" {
		fmt.Fprintf(&b, "%s ONTO %s\n%s WAS %s\n", how, onto, how, was)
	}
	for _, p := range pairs {
		fmt.Fprintf(&b, "%s %s %s\n", how, p.From, p.To)
	}
	name := fmt.Sprintf("%019d-%d", s.Now().UnixNano(), os.Getpid())
	if err := safefile.WriteFile(filepath.Join(rewritesDir(s), name), b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("keep what was rewritten: %w", err)
	}
	return nil
}

// notedRewrites returns the stored rewrites, oldest first, and their files.
func notedRewrites(s *store.Store) ([]rewrite, []string, error) {
	entries, err := os.ReadDir(rewritesDir(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	var noted []rewrite
	var files []string
	for _, e := range entries { // in the order of their names, which are times
		path := filepath.Join(rewritesDir(s), e.Name())
		data, readErr := safefile.ReadFile(path)
		if readErr != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		noted, files = append(noted, parseRewrite(string(data))), append(files, path)
	}
	return noted, files, err
}

func parseRewrite(text string) rewrite {
	var r rewrite
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 3 {
			r.how = f[0]
			switch id := gitstore.ID(f[2]); f[1] {
			case "HEAD":
				r.head = id
			case "ONTO":
				r.onto = id
			case "WAS":
				r.was = id
			default:
				r.pairs = append(r.pairs, gitstore.Moved{From: gitstore.ID(f[1]), To: id})
			}
		}
	}
	return r
}

// finally maps each rewritten commit to its last replacement, and to the kind of the last rewrite.
func finally(noted []rewrite) (to map[gitstore.ID]gitstore.ID, how map[gitstore.ID]string) {
	to, how = map[gitstore.ID]gitstore.ID{}, map[gitstore.ID]string{}
	for _, r := range noted {
		for _, p := range r.pairs {
			if p.From == p.To {
				continue
			}
			for from, now := range to {
				if now == p.From {
					to[from], how[from] = p.To, r.how
				}
			}
			to[p.From], how[p.From] = p.To, r.how
			delete(to, p.To) // the commit exists again
		}
	}
	return to, how
}

// seenFile returns the path of the file with the branch tips that Follow has seen.
func seenFile(s *store.Store) string { return filepath.Join(s.Repo.StateDir(), "followed.json") }

type seenTips struct {
	Tips      []gitstore.ID `json:"tips"`
	Rewritten gitstore.ID   `json:"rewritten,omitempty"` // the last commit that an amend or rebase in a worktree made
}

// readSeen returns no tips the first time or if the file cannot be read: then every commit counts as new.
func readSeen(s *store.Store) seenTips {
	var seen seenTips
	if data, err := safefile.ReadFile(seenFile(s)); err == nil && json.Unmarshal(data, &seen) != nil {
		return seenTips{}
	}
	return seen
}

func writeSeen(s *store.Store, seen seenTips) error {
	data, err := json.Marshal(seen)
	if err == nil {
		err = safefile.WriteFile(seenFile(s), data, 0o666)
	}
	return err
}
