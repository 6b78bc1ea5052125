package entrylog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
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
	if home := s.origins().home; home == "" || remote != home {
		return Audience{Remote: remote}
	}
	return Audience{}
}

// Elects makes a remote the one that is elected where the command line names none: that of the configuration's files.
func (s *Store) Elects(remote string) { s.elects.Store(&remote) }

// Elected returns the audience of the elected remote: whom a request is for that names nobody.
func (s *Store) Elected() Audience {
	remote, err := s.ElectRemote("")
	if err != nil {
		return Audience{}
	}
	return s.AudienceOf(remote)
}

// RemoteOf returns the remote at which an audience is; "" for nobody, and where the home remote is gone.
func (s *Store) RemoteOf(a Audience) string {
	switch {
	case a.Private:
		return ""
	case a.Remote != "":
		return a.Remote
	}
	return s.origins().home
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
	return (len(own) == 0 || len(own) == 1 && own[0] == s.Writer()) && len(s.origins().of) == 0 && s.Elected() == Audience{}
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
// that is among them. Where the remote that it came from was removed, what is said of it stays here.
func (s *Store) Audience(writer string) Audience {
	for _, a := range s.others() {
		if writer != "" && s.WriterFor(a) == writer {
			return a
		}
	}
	if writer == "" || writer == s.Writer() {
		return Audience{}
	}
	from, noted := s.origins().of[writer]
	switch {
	case noted && len(from) == 0:
		return Audience{Private: true}
	case noted && !slices.Contains(from, Audience{}):
		return from[0]
	}
	if tip, err := s.refs.Ref(context.Background(), privatePrefix+writer); err != nil || tip != "" {
		return Audience{Private: true}
	}
	return Audience{}
}

// goers returns what reports whether a log may be pushed to a remote: one of our own to that of its audience, and somebody
// else's to where it came from.
func (s *Store) goers(ctx context.Context, remote string) (func(writer string) bool, error) {
	to, from := s.AudienceOf(remote), s.origins()
	private, err := s.refs.Refs(ctx, privatePrefix)
	own := map[string]Audience{}
	for _, a := range append(s.others(), Audience{}) {
		own[s.WriterFor(a)] = a
	}
	return func(writer string) bool {
		if private[privatePrefix+writer] != "" {
			return false
		}
		if a, ours := own[writer]; ours {
			return a == to
		}
		came, noted := from.of[writer]
		return !noted && to == Audience{} || slices.Contains(came, to)
	}, err
}

// logRef is where a log is.
func (s *Store) logRef(writer string) string {
	if writer != "" && s.WriterFor(Audience{Private: true}) == writer {
		return privatePrefix + writer
	}
	return logPrefix + writer
}

// addPrivate adds the logs that never leave this clone.
func (s *Store) addPrivate(ctx context.Context, tips Tips) error {
	private, err := s.refs.Refs(ctx, privatePrefix)
	for ref, tip := range private {
		tips[strings.TrimPrefix(ref, privatePrefix)] = tip
	}
	return err
}

// origins is where logs came from, as a file in the clone records it: a line "WRITER REMOTE" for each log that does not
// belong to the home remote alone, and "* REMOTE" for the home remote. That is the one that was elected when the clone
// exchanged logs first: another one that is elected later does not get what was said among others. REMOTE is a hash of
// its URL and its name, so that a renamed remote is known, and another one of the same name is not taken for it.
type origins struct {
	home string                // the remote to which the zero Audience goes; "": none
	set  bool                  // whether the file names home
	of   map[string][]Audience // none: the remote is gone
	size int64                 // of the file, and when it was written
	at   time.Time
}

func (s *Store) originsPath() string { return filepath.Join(s.dir.StateDir(), "log-origins") }

// origins reads the file. What it does not name, and all where it is missing, belongs to the home remote.
func (s *Store) origins() *origins {
	from := &origins{of: map[string][]Audience{}}
	if info, err := os.Stat(s.originsPath()); err == nil {
		from.size, from.at = info.Size(), info.ModTime()
	}
	if kept := s.cameFrom.Load(); kept != nil && kept.size == from.size && kept.at.Equal(from.at) {
		return kept
	}
	data, _ := safefile.ReadFile(s.originsPath())
	lines := parseOrigins(string(data))
	for _, l := range lines {
		if l.writer == "*" {
			from.home, from.set = s.remoteOf(l, lines), true
		}
	}
	if set := s.dir.Config.Get("runr.home"); set != "" && s.checkRemote(set) == nil {
		from.home, from.set = set, true
	}
	if !from.set {
		from.home, _ = s.ElectRemote("")
	}
	for _, l := range lines {
		if l.writer == "*" {
			continue
		}
		of := from.of[l.writer]
		switch remote := s.remoteOf(l, lines); remote {
		case "":
		case from.home:
			of = append(of, Audience{})
		default:
			of = append(of, Audience{Remote: remote})
		}
		from.of[l.writer] = of
	}
	if from.set { // else another one may be elected yet
		s.cameFrom.Store(from)
	}
	return from
}

// origin is a line of the file.
type origin struct{ writer, url, name string }

func parseOrigins(text string) (lines []origin) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 3 {
			lines = append(lines, origin{words[0], words[1], words[2]})
		}
	}
	return lines
}

// remoteOf returns the remote that a line means: the one with its URL, or, where its URL was changed, the one of its name,
// unless that is another remote that the file knows. It is "" for one that is gone.
func (s *Store) remoteOf(l origin, all []origin) string {
	for _, remote := range s.dir.Remotes() {
		if s.urlOf(remote) == l.url {
			return remote
		}
	}
	at := s.urlOf(l.name)
	known := slices.ContainsFunc(all, func(o origin) bool { return o.url == at })
	if known || s.checkRemote(l.name) != nil {
		return ""
	}
	return l.name
}

// urlOf returns a hash of a remote's URL, which may have a password in it.
func (s *Store) urlOf(remote string) string {
	sum := sha256.Sum256([]byte(s.dir.Config.Get("remote." + remote + ".url")))
	return hex.EncodeToString(sum[:8])
}

// noteHome records which remote is elected now, before logs are exchanged with one.
func (s *Store) noteHome(remote string) error {
	from := s.origins()
	if from.set {
		return nil
	}
	return s.addOrigin("*", cmp.Or(from.home, remote))
}

// noteOrigin records, before a log is taken over, that it came from a remote. Of a log that has been here longer it also
// records the home remote, to which it belonged until now.
func (s *Store) noteOrigin(writer, remote string, known bool) error {
	from, noted := s.origins().of[writer]
	to := s.AudienceOf(remote)
	if !noted && to == (Audience{}) || slices.Contains(from, to) {
		return nil
	}
	if home := s.origins().home; home != "" && known && !noted {
		if err := s.addOrigin(writer, home); err != nil {
			return err
		}
	}
	return s.addOrigin(writer, remote)
}

func (s *Store) addOrigin(writer, remote string) error {
	line := fmt.Sprintf("%s %s %s\n", writer, s.urlOf(remote), remote)
	if err := s.dir.MkdirShared(s.dir.StateDir()); err != nil {
		return err
	}
	f, err := safefile.OpenFile(s.originsPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note where log %s belongs: %w", writer, gitdir.ReadOnly(err))
	}
	_ = s.dir.Share(s.originsPath())
	s.cameFrom.Store(nil)
	return nil
}
