package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/hooks"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// Limits of the gate before a push.
const (
	maxPushed  = 10_000 // commits that are examined, newest first; a push of more is refused
	hintsShown = 3      // commands to type
)

// prePush is the gate before a push. It returns exit.NotPassed without a message if it refuses the push, and prints
// the reason on standard output, which the hook redirects to standard error. If the gate itself fails it refuses as
// well, unless hooks.pre_push is warn: the pushed commits may have caused the failure. It refuses private refs under
// warn too, and where hooks otherwise do nothing: an agent can push as well.
func (s *session) prePush(store *store.Store) error {
	conf, err := s.configuration(store)
	if err != nil {
		return s.closed(err)
	}
	if conf.Hooks.PrePush == "off" {
		return nil
	}
	refs, err := hooks.Pushed(s.in)
	private := slices.ContainsFunc(refs, isPrivate)
	if should, _ := hooks.ShouldRun(s.ctx, store.Repo, hooks.PrePush, s.getenv); !should {
		refs = slices.DeleteFunc(refs, func(ref hooks.Push) bool { return !isPrivate(ref) })
	}
	if err == nil && len(refs) > 0 {
		err = s.gate(store, conf, refs)
	}
	if err != nil && !refuses(err) && (private || conf.Hooks.PrePush == "refuse") {
		return s.closed(err)
	}
	return err
}

// refuses reports whether err is the refusal of a gate, which has already printed the reason.
func refuses(err error) bool {
	refused := new(exit.Problem)
	return errors.As(err, &refused) && refused.Status == exit.NotPassed && refused.Msg == ""
}

// examined is a push as the gate sees it.
type examined struct {
	remote  string        // the configured one, if the push goes to it
	code    []hooks.Push  // refs that lead to commits
	opaque  []hooks.Push  // refs that do not, so that no review covers them
	private []string      // refs that must not leave this clone; also commits of private logs
	old     []gitstore.ID // the remote's commits under the pushed names
	commits int           // examined
	older   gitstore.ID   // the oldest examined commit, if there are older ones; else ""
	trunks  gitstore.Trunks
	bar     lineage.Bar
	held    []intake.Gated // refused, or below bar
	toSee   []intake.Gated // the same, but a person was asked and has to fetch them
	unknown bool           // the remote's default branch may be where toSee would go
	tags    []string       // a line for each tag with a secret in its message or header, with the command to type
}

// gate examines the refs of a push when the gate is on. It prints what does not pass, and returns the refusal.
func (s *session) gate(store *store.Store, conf *config.Config, refs []hooks.Push) error {
	store.Repo.PutBackLogs(s.ctx)
	push, err := s.examine(store, conf, refs)
	if err != nil {
		return err
	}
	if len(push.held)+len(push.tags)+len(push.private)+len(push.opaque) == 0 && push.older == "" {
		s.writeToSee(push.bar, push.toSee)
		return nil
	}
	if len(push.held) > 0 {
		s.writeHeldUp(s.out, push.bar, conf.Review.Reviewer == role.Builtin, push.commits, push.held)
		s.writeWhereAsked(push)
		screen.When(s.out, push.trunks.Unseen,
			"No branch of %[1]s is known here, so that all commits count as new there: git fetch %[1]s\n", push.remote)
	}
	screen.Each(s.out, "git runr: %s\n", push.tags)
	for _, ref := range push.opaque[:min(len(push.opaque), intake.Named)] {
		safetext.Fprintf(s.out, "git runr: %s is not a commit, so no review covers it; to see it: git show %s\n",
			ref.Remote, ref.New.Short())
	}
	render.More(s.out, "  ", len(push.opaque)-intake.Named)
	screen.When(s.out, push.older != "",
		"git runr: commits older than %s were not looked at; to push them first: git push %s COMMIT:BRANCH\n",
		push.older.Short(), cmp.Or(push.remote, "REMOTE"))
	warns := conf.Hooks.PrePush == "warn"
	if warns && len(push.private) == 0 {
		fmt.Fprintln(s.out, "Not stopped: hooks.pre_push is warn.")
		return nil
	}
	if len(push.private) > 0 {
		writePrivate(s.out, push.remote, slices.Contains(store.Repo.Remotes(), push.remote), push.private, refs)
	}
	why := ""
	if warns {
		why = ": hooks.pre_push warn lets commits through, but nothing private"
	}
	unsynced, err := share.Unfetched(s.ctx, store, conf.Sync.Remote)
	if err != nil {
		return err
	}
	screen.When(s.out, unsynced != "" && len(push.held) > 0,
		"%s\n  git runr sync\n", share.NotHere(unsynced))
	safetext.Fprintf(s.out, "Refused%s; to push anyway: git push --no-verify\n", why)
	return exit.With(exit.NotPassed)
}

// examine finds what of a push does not pass.
func (s *session) examine(store *store.Store, conf *config.Config, refs []hooks.Push) (push examined, err error) {
	push.remote = store.Repo.RemoteAt(s.Args().Get(1))
	if err = s.sortPushed(store.Repo, refs, &push); err != nil {
		return push, err
	}
	if push.trunks, err = store.Repo.Trunks(s.ctx, push.remote); err != nil {
		return push, err
	}
	s.takeForTrunks(&push.trunks, push)
	commits, err := s.gated(store.Repo, push)
	if err != nil {
		return push, err
	}
	recorded, err := store.Repo.PrivateEntries(s.ctx)
	if err != nil {
		return push, err
	}
	commits = slices.DeleteFunc(commits, func(c gitstore.LoggedCommit) bool {
		private := slices.Contains(recorded, c.ID)
		if private {
			push.private = append(push.private, "commit "+c.ID.Short()+" of a private log")
		}
		return private
	})
	for _, ref := range push.code {
		secret, err := s.secrets.OfTag(s.ctx, store.Repo, ref.New)
		if err != nil {
			return push, err
		}
		if secret != "" {
			push.tags = append(push.tags, fmt.Sprintf("%s: %s; make it anew: git tag -f -a", ref.Remote, secret))
		}
	}
	if len(commits) > maxPushed {
		commits = commits[:maxPushed]
		push.older = commits[maxPushed-1].ID
	}
	if push.commits = len(commits); push.commits == 0 {
		return push, nil
	}
	s.followFirst(store, conf)
	base, err := s.pushedOnto(store, push)
	if err != nil {
		return push, err
	}
	bar, held, passing, err := s.held(store, conf, base, commits)
	for _, c := range passing.Partial {
		safetext.Fprintf(s.out, "git runr: %s passes, and of it was not looked at: %s\n", c.Commit.Short(), c.Unread)
	}
	screen.When(s.out, len(passing.NotText) > 0,
		"git runr: no agent reads files that are not text, and rules only search them for secrets: %s\n",
		prose.Names(passing.NotText))
	push.bar = bar
	push.held, push.toSee = sortToSee(held, push.code, push.trunks.Refs)
	if len(push.toSee) > 0 && !push.trunks.Known && push.code[0].Old != "" {
		safetext.Fprintf(s.out, "git runr: the default branch of %[1]s is not known here, and %[2]s may be it: "+
			"git remote set-head %[1]s -a\n", push.remote, strings.TrimPrefix(push.code[0].Remote, "refs/heads/"))
		push.held, push.toSee, push.unknown = held, nil, true
	}
	return push, err
}

// followFirst follows rewritten commits, so that an answer does not depend on whether a worker has done that.
func (s *session) followFirst(store *store.Store, conf *config.Config) {
	if err := conf.Follow(s.ctx, store); err != nil {
		s.say("rewritten commits were not followed, so a review may be missing here: %v", err)
	}
}

// takeForTrunks adds to trunks the existing branches that a push goes to, if the remote's default branch is not known
// here: one of them may be that. It says so.
func (s *session) takeForTrunks(trunks *gitstore.Trunks, push examined) {
	if !trunks.Guessed {
		return
	}
	for _, ref := range push.code {
		if ref.Old != "" && !slices.Contains(trunks.Refs, ref.Remote) {
			trunks.Refs = append(trunks.Refs, ref.Remote)
			if trunks.Unseen { // gate says to fetch first
				continue
			}
			safetext.Fprintf(s.out, "git runr: the default branch of %[1]s is not known here, so the gate looks at %[2]s as "+
				"at that: git remote set-head %[1]s -a\n", push.remote, strings.TrimPrefix(ref.Remote, "refs/heads/"))
		}
	}
}

// sortToSee takes out of held the commits that lack only a person's answer, if the push is to a branch on which that
// person may fetch them: whoever is to answer needs to.
func sortToSee(held []intake.Gated, code []hooks.Push, trunks []string) (rest, toSee []intake.Gated) {
	for _, c := range held {
		if branch, lacks := lacksAnswer(c, trunks); lacks && len(code) == 1 && fetchedFrom(code[0].Remote, branch, trunks) {
			toSee = append(toSee, c)
		} else {
			rest = append(rest, c)
		}
	}
	return rest, toSee
}

// lacksAnswer reports whether a commit lacks only the answer of a person, and returns the branch on which the person
// was asked: "" for a detached HEAD or a trunk. Rules, or somebody, must have looked at the commit: a secret would
// leave this machine.
func lacksAnswer(c intake.Gated, trunks []string) (branch string, lacks bool) {
	review, branch := c.Asked()
	if slices.Contains(trunks, "refs/heads/"+branch) {
		branch = ""
	}
	return branch, review != "" && c.RulesLooked() && (c.Before || !c.Refused)
}

// fetchedFrom reports whether a person who was asked on branch may get commits from ref: that branch and no trunk, or
// any branch but a trunk if branch is "".
func fetchedFrom(ref, branch string, trunks []string) bool {
	name, isBranch := strings.CutPrefix(ref, "refs/heads/")
	return isBranch && !slices.Contains(trunks, ref) && (branch == "" || branch == name)
}

// writeWhereAsked prints the push that the gate would let through because people were asked about all held commits.
func (s *session) writeWhereAsked(push examined) {
	on := ""
	for i, c := range push.held {
		branch, lacks := lacksAnswer(c, push.trunks.Refs)
		if !lacks || i > 0 && branch != on {
			return
		}
		on = branch
	}
	if len(push.code) != 1 || push.unknown {
		return
	}
	line, ok := safetext.CommandLine("git", "push", cmp.Or(push.remote, "REMOTE"),
		push.code[0].New.Short()+":refs/heads/"+cmp.Or(on, "BRANCH"))
	screen.When(s.out, ok, "To let the person who was asked fetch it: %s\n", line)
}

// writeToSee says which commits pass only because a person has to fetch them.
func (s *session) writeToSee(bar lineage.Bar, commits []intake.Gated) {
	if len(commits) == 0 {
		return
	}
	lacks := "not " + bar.String() + " yet"
	if !slices.ContainsFunc(commits, func(c intake.Gated) bool { return !c.Before }) {
		lacks = "still refused"
	}
	them := "them"
	if len(commits) == 1 {
		them = "it"
	}
	safetext.Fprintf(s.out, "git runr: %s %s; let through, because a person was asked and has to fetch %s\n",
		prose.Count(len(commits), "commit"), lacks, them)
}

// gated returns the pushed commits that the gate examines: all that are new on a trunk of the remote, and those for
// other refs that no branch of the remote has. A commit that is refused on a topic branch of the remote is new on
// the trunk. More than maxPushed commits mean that there may be others, too.
func (s *session) gated(repo *gitstore.Repo, push examined) (commits []gitstore.LoggedCommit, err error) {
	var others []gitstore.ID
	there := map[gitstore.ID]bool{}
	add := func(found []gitstore.LoggedCommit) { // a push to several branches has the same commits
		for _, c := range found {
			if !there[c.ID] {
				commits, there[c.ID] = append(commits, c), true
			}
		}
	}
	for _, ref := range push.code {
		known := false
		if slices.Contains(push.trunks.Refs, ref.Remote) {
			var added []gitstore.LoggedCommit
			if added, known, err = repo.Added(s.ctx, ref.New, ref.Old, maxPushed+1); err == nil && !known {
				added, known, err = repo.AddedBeside(s.ctx, push.trunks, ref.New, maxPushed+1)
			}
			if err != nil {
				return nil, err
			}
			add(added)
		}
		if !known {
			others = append(others, ref.New)
		}
	}
	fresh, err := repo.Unpushed(s.ctx, push.remote, others, push.old, maxPushed+1)
	add(fresh)
	return commits, err
}

// held returns the commits that do not pass, what was not looked at of those that pass, and the bar that they were
// compared with. base is as in bar.
func (s *session) held(store *store.Store, conf *config.Config, base gitstore.ID,
	commits []gitstore.LoggedCommit) (bar lineage.Bar, held []intake.Gated, passing intake.Passing, err error) {
	branch, err := store.Branch(s.ctx)
	if err != nil {
		return bar, nil, passing, err
	}
	if bar, err = s.bar(store, conf, conf.Hooks.PrePushRequire, base, commits); err != nil {
		return bar, nil, passing, err
	}
	held, passing, err = intake.Gate(s.ctx, store, commits, bar, conf.Hooks.Skip, branch, s.secrets.OfMessage)
	return bar, held, passing, err
}

// bar returns what level requires of commits. Without a base it uses that of lineage.BaseOf.
func (s *session) bar(store *store.Store, conf *config.Config, level string, base gitstore.ID,
	commits []gitstore.LoggedCommit) (lineage.Bar, error) {
	base, err := lineage.BaseOf(s.ctx, store, commits, base)
	if err != nil {
		return lineage.Bar{}, err
	}
	return conf.Bar(s.ctx, level, base)
}

// pushedOnto returns the commit that the remote has of the first pushed branch. Its files define people and whose
// approvals count. For a new branch it is that of gitstore.Repo.PushBase.
func (s *session) pushedOnto(store *store.Store, push examined) (gitstore.ID, error) {
	if len(push.code) == 0 {
		return "", nil
	}
	first := push.code[0]
	if first.Old != "" {
		return first.Old, nil
	}
	return store.Repo.PushBase(s.ctx, []string{push.remote}, first.Local, first.New)
}

// closed refuses a push because the gate itself failed.
func (s *session) closed(err error) error {
	safetext.Fprintf(s.out, "git runr: the gate before a push failed: %v\nRefused; to push anyway: git push --no-verify\n",
		err)
	return exit.With(exit.NotPassed)
}

// sortPushed groups the refs of a push by what the gate does with them; refs in no group pass. A ref of this program
// passes if it is pushed under its own name with its own value. Anything else is code, even under such a name.
func (s *session) sortPushed(repo *gitstore.Repo, refs []hooks.Push, push *examined) error {
	for _, ref := range refs {
		if ref.Old != "" {
			push.old = append(push.old, ref.Old)
		}
		if isPrivate(ref) {
			push.private = append(push.private, ref.Local)
			continue
		}
		if strings.HasPrefix(ref.Remote, "refs/runr/") || ref.Remote == store.NotesRef {
			here, err := repo.Ref(s.ctx, ref.Remote)
			if err != nil {
				return err
			}
			if here == ref.New {
				continue
			}
		}
		if ref.New == "" {
			continue
		}
		leads, err := repo.HasCommit(s.ctx, ref.New)
		if err != nil {
			return err
		}
		if leads {
			push.code = append(push.code, ref)
		} else {
			push.opaque = append(push.opaque, ref)
		}
	}
	return nil
}

// isPrivate reports whether a push would send a ref that must not leave this clone.
func isPrivate(ref hooks.Push) bool { return gitstore.IsPrivateRef(ref.Local) }

// writePrivate names what is private in a push. If the push looks like push --mirror, it prints the command that pushes
// all other refs, else how to share a review.
func writePrivate(w io.Writer, remote string, named bool, private []string, refs []hooks.Push) {
	what := private[0] + " is"
	if len(private) > 1 {
		what = fmt.Sprintf("%s and %d more are", private[0], len(private)-1)
	}
	all := slices.ContainsFunc(refs, isPrivate) && !slices.ContainsFunc(refs, func(ref hooks.Push) bool {
		return ref.Local != ref.Remote && ref.New != ""
	})
	if !all || !slices.ContainsFunc(refs, func(ref hooks.Push) bool { return !isPrivate(ref) }) {
		safetext.Fprintf(w, "git runr: %s private to this clone; to show one review to others: git runr inbox share ID\n",
			what)
		return
	}
	argv := []string{"git"}
	if named { // with mirror set, git accepts no refspecs
		argv = append(argv, "-c", "remote."+remote+".mirror=false")
	}
	argv = append(argv, gitstore.PushOthers(remote)...)
	safetext.Fprintf(w, "git runr: %s private to this clone; to push all other refs:\n", what)
	if line, ok := safetext.CommandLine(argv...); ok {
		screen.Each(w, "  %s\n", []string{line})
	}
}

// writeHeldUp lists the commits that do not pass, why, and what to type. rules is as in intake.ToType.
func (p *program) writeHeldUp(w io.Writer, bar lineage.Bar, rules bool, all int, held []intake.Gated) {
	refused := 0
	for _, c := range held {
		if c.Refused {
			refused++
		}
	}
	what := "not " + bar.String()
	switch refused {
	case len(held):
		what = "refused"
	case 0:
	default:
		what = fmt.Sprintf("%d refused, %d %s", refused, len(held)-refused, what)
	}
	of := fmt.Sprint(all)
	if all == maxPushed {
		of += " or more"
	}
	safetext.Fprintf(w, "git runr: %d of %s commits to push: %s\n", len(held), of, what)
	for _, c := range held[:min(len(held), intake.Named)] {
		why := ""
		switch {
		case c.Skipped != "":
			why = " (skipped: " + c.Skipped + ")"
		case bar.Level == lineage.LevelApproved && c.ApprovalWords() != "":
			why = " (" + c.ApprovalWords() + ")"
		}
		safetext.Fprintf(w, "  %s  %-13s  %s%s\n", c.Commit.Short(), c.Words(), prose.CutColumns(p.redact(c.Title), 60), why)
		screen.When(w, c.Finding != "", "    %s\n", prose.CutColumns(c.Finding, 110))
	}
	render.More(w, "  ", len(held)-intake.Named)
	screen.Each(w, "  %s\n", intake.ToType(held, bar.Level, rules, hintsShown))
}
