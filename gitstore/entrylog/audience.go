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

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// Audience says who may see what a log records. A log can only be sent as a whole, so this clone keeps one log for each
// audience, each under its own writer id. The zero Audience is everybody who shares the elected remote.
type Audience struct {
	Remote  string // a remote other than the elected one
	Private bool   // nobody: the log never leaves this clone
}

// privatePrefix is the prefix of the refs of private logs.
const privatePrefix = "refs/runr-local/private/"

// String returns the audience's name: "" for the elected remote, "private", or the name of a remote.
func (a Audience) String() string {
	if a.Private {
		return "private"
	}
	return a.Remote
}

// key returns the configuration key of this clone's writer for the audience.
func (a Audience) key() string {
	switch {
	case a.Private:
		return "runr.privateWriter"
	case a.Remote != "":
		return "remote." + a.Remote + ".runrWriter"
	}
	return writerKey
}

// AudienceOf returns the audience of logs that are pushed to remote.
func (s *Store) AudienceOf(remote string) Audience {
	if home := s.origins().home; home == "" || remote != home {
		return Audience{Remote: remote}
	}
	return Audience{}
}

// Elects sets the elected remote for calls that name none, as configuration files do.
func (s *Store) Elects(remote string) { s.elects.Store(&remote) }

// Elected returns the audience of the elected remote, the default audience of requests.
func (s *Store) Elected() Audience {
	remote, err := s.ElectRemote("")
	if err != nil {
		return Audience{}
	}
	return s.AudienceOf(remote)
}

// RemoteOf returns the remote of an audience. It is "" for the private one, and if the home remote is gone.
func (s *Store) RemoteOf(a Audience) string {
	switch {
	case a.Private:
		return ""
	case a.Remote != "":
		return a.Remote
	}
	return s.origins().home
}

// others returns the audiences besides the elected remote for which this clone has a writer id: those configured when
// the store was opened, and those added by this process. They are cached because long lists need them for each event.
func (s *Store) others() []Audience {
	configured := s.configured.Load()
	if configured == nil {
		all := each.Of(s.dir.Remotes(), func(remote string) Audience { return Audience{Remote: remote} })
		all = slices.Insert(all, 0, Audience{Private: true})
		all = slices.DeleteFunc(all, func(a Audience) bool { return s.WriterFor(a) == "" })
		configured = &all
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

// OneAudience reports whether all logs here belong to the elected remote.
func (s *Store) OneAudience() bool {
	own := s.Own()
	return (len(own) == 0 || len(own) == 1 && own[0] == s.Writer()) && len(s.origins().of) == 0 &&
		s.Elected() == Audience{}
}

// Owns reports whether writer's log is this clone's own.
func (s *Store) Owns(writer string) bool {
	if writer == "" || writer == s.Writer() {
		return writer != ""
	}
	return slices.ContainsFunc(s.others(), func(a Audience) bool { return s.WriterFor(a) == writer })
}

// Own returns this clone's writer ids, the one for the elected remote first.
func (s *Store) Own() []string {
	var own []string
	for _, a := range append([]Audience{{}}, s.others()...) {
		if id := s.WriterFor(a); id != "" && !slices.Contains(own, id) {
			own = append(own, id)
		}
	}
	return own
}

// Audience returns the audience of a log. Another clone's log that came from several remotes belongs to the elected one
// if that is among them. If the remote that it came from was removed, events about it stay here.
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

// PrivateEntries returns the ids of the entries of private logs. Without such a log it starts no process.
func (s *Store) PrivateEntries(ctx context.Context) ([]odb.ID, error) {
	logs, err := s.refs.Refs(ctx, privatePrefix)
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	out, err := s.dir.Git(ctx, "rev-list", "--glob="+privatePrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("list private events: %w", err)
	}
	return odb.Fields(out), nil
}

// goers returns a function that reports whether a log may be pushed to remote. Our own log goes to the remote of its
// audience, unless another remote has the URL now that this one had. Another clone's log goes only to where it came
// from.
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
		came, noted := from.of[writer]
		if a, ours := own[writer]; ours {
			return a == to && (!noted || slices.Contains(came, to))
		}
		return !noted && to == Audience{} || slices.Contains(came, to)
	}, err
}

// logRef returns the ref of a log.
func (s *Store) logRef(writer string) string {
	if writer != "" && s.WriterFor(Audience{Private: true}) == writer {
		return privatePrefix + writer
	}
	return logPrefix + writer
}

// origins records where logs came from. It is stored in a file of the clone: a line "WRITER REMOTE" for each log that
// does not belong to the home remote alone, and "* REMOTE" for the home remote. The home remote is the one that was
// elected when the clone first exchanged logs; if another is elected later, it does not receive what was said among
// others. REMOTE is a hash of the remote's URL, and its name: a renamed remote is recognized, and a new remote of the
// same name is not.
type origins struct {
	home string                // the remote of the zero Audience; "": none
	set  bool                  // home is known for good, not only elected now
	of   map[string][]Audience // empty slice: the remote is gone
	size int64                 // size of the file, with at, its modification time, to notice changes
	at   time.Time
}

func (s *Store) originsPath() string { return filepath.Join(s.dir.StateDir(), "log-origins") }

// origins reads the file. Logs that it does not list belong to the home remote.
func (s *Store) origins() *origins {
	from := &origins{of: map[string][]Audience{}}
	info, err := os.Stat(s.originsPath())
	if err == nil {
		from.size, from.at = info.Size(), info.ModTime()
	}
	if kept := s.cameFrom.Load(); kept != nil && kept.size == from.size && kept.at.Equal(from.at) {
		return kept
	}
	var data []byte
	if err == nil {
		data, _ = safefile.ReadFile(s.originsPath())
	}
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
	if from.set { // otherwise another remote may still be elected
		s.cameFrom.Store(from)
	}
	return from
}

// origin is one line of the file.
type origin struct{ writer, url, name string }

func parseOrigins(text string) (lines []origin) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) == 3 {
			lines = append(lines, origin{words[0], words[1], words[2]})
		}
	}
	return lines
}

// remoteOf returns the remote that a line means: the one with its URL, or, if its URL was changed, the one with its
// name, unless the file knows that as another remote. It returns "" if the remote is gone.
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

// urlOf returns a hash of a remote's URL; the URL itself may contain a password.
func (s *Store) urlOf(remote string) string {
	sum := sha256.Sum256([]byte(s.dir.Config.Get("remote." + remote + ".url")))
	return hex.EncodeToString(sum[:8])
}

// noteHome records the home remote before the first exchange of logs.
func (s *Store) noteHome(remote string) error {
	from := s.origins()
	if from.set {
		return nil
	}
	return s.addOrigin("*", cmp.Or(from.home, remote))
}

// noteOrigin records, before a log is adopted, that it came from remote. If the log was known before, it also records
// the home remote, to which the log belonged until now.
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
