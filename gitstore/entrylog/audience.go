package entrylog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Audience says who may see what a log records. A log cannot be sent in parts, so this clone keeps one for each audience, each
// under a writer's id of its own. The zero Audience is everybody who shares the elected remote.
type Audience struct {
	Remote  string // another remote than the elected one
	Private bool   // nobody: the log never leaves this clone
}

// privatePrefix is where the log is that never leaves the clone.
const privatePrefix = "refs/runr-local/private/"

// String names the audience: "" for the elected remote, "private", or the name of a remote.
func (a Audience) String() string {
	if a.Private {
		return "private"
	}
	return a.Remote
}

// key is the configuration key of this clone's writer for the audience.
func (a Audience) key() string {
	switch {
	case a.Private:
		return "runr.privateWriter"
	case a.Remote != "":
		return "remote." + a.Remote + ".runrWriter"
	}
	return writerKey
}

// AudienceOf returns the audience that a remote is.
func (s *Store) AudienceOf(remote string) Audience {
	if elected, err := s.ElectRemote(""); err == nil && remote != elected {
		return Audience{Remote: remote}
	}
	return Audience{}
}

// others are the audiences beside the elected remote for which this clone has an id, by what was configured when it was opened
// and what this process has made since. They are asked for each event of long lists.
func (s *Store) others() []Audience {
	configured := s.configured.Load()
	if configured == nil {
		configured = &[]Audience{}
		all := []Audience{{Private: true}}
		for _, remote := range s.dir.Remotes() {
			all = append(all, Audience{Remote: remote})
		}
		for _, a := range all {
			if s.WriterFor(a) != "" {
				*configured = append(*configured, a)
			}
		}
		s.configured.Store(configured)
	}
	all := slices.Clip(*configured)
	s.writers.Range(func(a, _ any) bool {
		if a := a.(Audience); a != (Audience{}) && !slices.Contains(all, a) {
			all = append(all, a)
		}
		return true
	})
	return all
}

// OneAudience reports whether all logs here are those of the elected remote.
func (s *Store) OneAudience() bool {
	own := s.Own()
	return (len(own) == 0 || len(own) == 1 && own[0] == s.Writer()) && len(s.origins()) == 0
}

// Owns reports whether a log is one of this clone's own.
func (s *Store) Owns(writer string) bool {
	if writer == "" || writer == s.Writer() {
		return writer != ""
	}
	return slices.ContainsFunc(s.others(), func(a Audience) bool { return s.WriterFor(a) == writer })
}

// Own returns the ids under which this clone has written, that for the elected remote first.
func (s *Store) Own() []string {
	var own []string
	for _, a := range append([]Audience{{}}, s.others()...) {
		if id := s.WriterFor(a); id != "" && !slices.Contains(own, id) {
			own = append(own, id)
		}
	}
	return own
}

// Audience returns the audience of a log. One of somebody else's that came from several remotes is that of the elected one, if
// that is among them.
func (s *Store) Audience(writer string) Audience {
	for _, a := range s.others() {
		if writer != "" && s.WriterFor(a) == writer {
			return a
		}
	}
	if writer == s.Writer() {
		return Audience{}
	}
	from := s.origins()[writer]
	if len(from) == 0 || slices.Contains(from, Audience{}) {
		return Audience{}
	}
	return from[0]
}

// goesTo reports whether a log may be pushed to a remote: one of our own to that of its audience, and somebody else's to where
// it came from.
func (s *Store) goesTo(writer, remote string) bool {
	to := s.AudienceOf(remote)
	if s.Owns(writer) {
		return s.Audience(writer) == to
	}
	from := s.origins()[writer]
	return len(from) == 0 && to == Audience{} || slices.Contains(from, to)
}

// logRef is where a log is.
func (s *Store) logRef(writer string) string {
	if writer != "" && s.WriterFor(Audience{Private: true}) == writer {
		return privatePrefix + writer
	}
	return logPrefix + writer
}

// addPrivate adds the log that never leaves this clone.
func (s *Store) addPrivate(ctx context.Context, tips Tips) error {
	writer := s.WriterFor(Audience{Private: true})
	if writer == "" {
		return nil
	}
	tip, err := s.refs.Ref(ctx, privatePrefix+writer)
	if tip != "" {
		tips[writer] = tip
	}
	return err
}

// Where logs of others came from stands in a file, a line "WRITER REMOTE" each, for those that did not come from the elected
// remote alone. Logs that it does not name belong to the elected remote, as all did before this file existed.
func (s *Store) originsPath() string { return filepath.Join(s.dir.StateDir(), "log-origins") }

func (s *Store) origins() map[string][]Audience {
	from := map[string][]Audience{}
	data, err := safefile.ReadFile(s.originsPath())
	if err != nil {
		return from
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		writer, remote, ok := strings.Cut(lines.Text(), " ")
		if a := s.AudienceOf(remote); ok && !slices.Contains(from[writer], a) {
			from[writer] = append(from[writer], a)
		}
	}
	return from
}

// noteOrigin records, before a log is taken over, that it came from a remote. Of a log that has been here longer it also
// records the elected remote, to which it belonged until now.
func (s *Store) noteOrigin(writer, remote string, known bool) error {
	from := s.origins()[writer]
	to := s.AudienceOf(remote)
	if len(from) == 0 && to == (Audience{}) || slices.Contains(from, to) {
		return nil
	}
	var lines string
	if elected, err := s.ElectRemote(""); err == nil && known && len(from) == 0 {
		lines = writer + " " + elected + "\n"
	}
	data, err := safefile.ReadFile(s.originsPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note where log %s came from: %w", writer, err)
	}
	lines = string(data) + lines + writer + " " + remote + "\n"
	if err := safefile.WriteFile(s.originsPath(), []byte(lines), os.FileMode(0o666)); err != nil {
		return fmt.Errorf("note where log %s came from: %w", writer, err)
	}
	return nil
}
