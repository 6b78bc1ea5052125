package app

import (
	"cmp"
	"io"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) syncCommand() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "exchange runs and reviews with a remote", ArgsUsage: "[REMOTE]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "retire",
				Usage: "put the logs of writers that are long gone into the archive now, however few they are (sync.retire says " +
					"how long)"},
			&cli.BoolFlag{Name: "copied",
				Usage: "this clone was copied, or restored from a backup: also accept what was pushed to its own log"},
			&cli.StringSliceFlag{Name: "replaced",
				Usage: "accept that the log of `WRITER` was replaced by one in which more texts read [redacted], though git " +
					"finds no good signature of its owner on it"}},
		Description: `Records where rewritten commits went, fetches the logs of others, takes over what only moved
forward, and pushes this clone's log and the notes. Nothing else is fetched or pushed. What git or this program refuses
of a log is named, the rest is taken; what a log has lost in this clone is brought again. Ends with 11 when the remote
does not let this clone push its log, and with 75 when it cannot be reached. Without REMOTE: the elected one
(sync.remote, else origin) and each other one that this clone has asked or answered something by name. What was asked of
one remote goes to no other, and what is private to none.`,
		Action: p.withConfig(syncWith),
	}
}

func syncWith(s *session, store *store.Store, conf *config.Config) error {
	collect(longGC) // as in fsck
	remote, err := store.Repo.ElectRemote(cmp.Or(s.arg(""), conf.Sync.Remote))
	if err != nil {
		return err
	}
	if err := s.acceptLogs(store); err != nil {
		return err
	}
	s.followFirst(store, conf)
	remotes := []string{remote}
	if s.arg("") == "" {
		if remotes, err = share.Remotes(s.ctx, store, remote); err != nil {
			return err
		}
	}
	var all []share.Synced
	for _, remote := range remotes {
		one, err := s.syncOne(store, conf, remote)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	done := syncedJSON{Synced: all[0], Also: all[1:]}
	if done.Kept, err = share.Kept(s.ctx, store); err != nil {
		return err
	}
	err = s.print(done, func(w io.Writer) {
		for _, one := range all {
			writeSynced(w, one)
		}
		screen.When(w, done.Kept > 0, "Private, and still only here: %s.\n", prose.Count(done.Kept, "event"))
	})
	refused, is := each.First(all, func(one share.Synced) bool { return one.Refused != nil })
	switch {
	case err != nil || !is:
		return err
	case s.json:
		return exit.With(exit.State)
	}
	return exit.Refused(refused.Refused)
}

// acceptLogs accepts what --copied and --replaced name.
func (s *session) acceptLogs(store *store.Store) error {
	if s.Bool("copied") {
		if err := store.Repo.AcceptCopy(s.ctx); err != nil {
			return err
		}
	}
	if store.Trusted = s.StringSlice("replaced"); len(store.Trusted) == 0 {
		return nil
	}
	tips, err := store.Repo.Tips(s.ctx)
	if err != nil {
		return err
	}
	for _, writer := range store.Trusted {
		if tips[writer] == "" {
			return exit.Problemf(exit.NotFound, "no log of a writer %q is here", writer).WithHint("git runr doctor")
		}
	}
	return nil
}

type syncedJSON struct {
	share.Synced
	Also []share.Synced `json:"also,omitempty"` // the other remotes
	Kept int            `json:"kept,omitempty"` // private events, which only this clone has
}

// syncOne syncs with a remote, and then moves logs into its archive. A refusal of that by the remote is an error only
// with --retire.
func (s *session) syncOne(store *store.Store, conf *config.Config, remote string) (share.Synced, error) {
	done, err := share.Sync(s.ctx, store, remote, conf.Sync.Notes)
	if err != nil || done.Refused != nil {
		return done, err
	}
	r := share.Retirement{After: time.Duration(conf.Sync.Retire), Asked: s.Bool("retire")}
	if r.Asked && r.After == 0 {
		return done, exit.Problemf(exit.Usage, "sync.retire is 0s: no log is ever archived").
			WithHint("git config runr.sync.retire 30d")
	}
	retired, err := share.Retire(s.ctx, store, done.Remote, r)
	done.Retired = retired.Logs
	if retired.Refused != nil {
		done.RetireWhy = retired.Refused.Error()
	}
	if r.Asked {
		done.Refused = retired.Refused
	}
	return done, err
}

func writeNotTaken(w io.Writer, logs []gitstore.Rejection) {
	for _, r := range logs {
		safetext.Fprintf(w, "not accepted from %s: %s\n", r.Writer, r.Reason)
	}
}

// unreadableShown is the maximum number of unreadable records that sync names.
const unreadableShown = 5

func writeSynced(w io.Writer, done share.Synced) {
	screen.Each(w, "recovered: %s\n", done.Recovered)
	did := "Synced with"
	if done.Refused != nil {
		did = "Fetched from"
	}
	safetext.Fprintf(w, "%s %s: %s from %s; %s of ours pushed.\n", did, done.Remote,
		prose.Count(done.Taken, "new event"), prose.Count(len(done.Writers), "writer"), prose.Count(done.Pushed, "event"))
	screen.When(w, done.Others > 0, "%s of other clones, or of a former id of this one, pushed.\n",
		prose.Count(done.Others, "log"))
	screen.When(w, done.Retired > 0, "%s of inactive writers moved to the archive, with all their events.\n",
		prose.Count(done.Retired, "log"))
	screen.When(w, done.RetireWhy != "" && done.Refused == nil, "refs of inactive writers stay: %s\n", done.RetireWhy)
	for _, writer := range done.Replaced {
		safetext.Fprintf(w, "The log of %s was replaced by one in which more texts read [redacted].\n", writer)
	}
	writeNotTaken(w, done.Rejected)
	for i, r := range done.Unreadable {
		if i == unreadableShown {
			safetext.Fprintf(w, "and %s more cannot be read: git runr fsck names them\n",
				prose.Count(len(done.Unreadable)-i, "event"))
			break
		}
		safetext.Fprintf(w, "left out, from %s: %s\n", r.Writer, r.Reason)
	}
	for _, r := range done.Missing {
		safetext.Fprintf(w, "damaged here, and the remote does not have it: the log of %s: %s\n", r.Writer, r.Reason)
	}
	screen.Each(w, "not counted: %s\n", done.Lost)
	screen.When(w, done.NotesWhy != "", "notes not pushed: %s\n", done.NotesWhy)
	if done.NotesReplaced != "" {
		safetext.Fprintf(w,
			"notes that git-runr did not write were at %s; they are in the history of %s there: git show %s\n", done.Remote,
			store.NotesRef, done.NotesReplaced.Short())
	}
	screen.When(w, done.Renewed,
		"Another writer pushed to this clone's log: this clone writes under a new id from now on.\n")
}
