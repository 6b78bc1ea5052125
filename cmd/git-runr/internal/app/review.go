package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/argv"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) reviewCommand() *cli.Command {
	return &cli.Command{
		Name: "review", Usage: "request a review; returns at once", ArgsUsage: "[REV|A..B|ID] [-- PATH…]",
		Description: `Requests a review of a commit (default HEAD), a range or the working tree, and starts git runr
work in the background unless the reviewer is a person. A range A..B is what B changed since it left A; of a merge
commit, only what it changed beyond merging is reviewed. As a pre-commit hook, --staged --wait reviews what is about to
be committed.

--missing requests reviews of commits that no hook saw: in the range, else of the commits that HEAD has beyond its
upstream or the default branch, else of the newest 20. It leaves out commits that are already reviewed, requested or
empty, and lists those that hooks.skip_… leaves out, with the reason.
Exit status with --wait: 0 passed or checked, 1 did not pass, 5 nothing to review.`,
		Flags: []cli.Flag{
			messageFlag("what the reviewer should know, as `TEXT`"),
			&cli.BoolFlag{Name: "worktree", Usage: "review the working tree, untracked files included"},
			&cli.BoolFlag{Name: "staged", Usage: "review the staged changes"},
			deepenFlag(),
			&cli.StringSliceFlag{Name: "reviewer",
				Usage: "`NAME` of an agent, builtin, human, or a person's name, address or team; several review side by side: " +
					"claude,bob"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the model for all of them; --reviewer NAME@MODEL sets that of one"},
			&cli.StringFlag{Name: "kind",
				Usage: "look for one `KIND` of fault only: security, tests, design, performance or one of [review.kinds.NAME]"},
			&cli.IntFlag{Name: "quorum", Usage: "how many of several, `N`, must fail it for the same reason",
				DefaultText: "review.quorum"},
			&cli.StringFlag{Name: "judge", Usage: "`NAME` of an agent that rules on each finding afterwards",
				DefaultText: "review.judge"},
			&cli.BoolFlag{Name: "wait", Usage: "review now and print the findings"},
			&cli.BoolFlag{Name: "require-checks", Usage: "with --wait: do not pass if checks did not run, or there are none"},
			noChecksFlag(),
			&cli.BoolFlag{Name: "again",
				Usage: "request the next round of review `ID`, or of the newest that HEAD builds on; also from those who " +
					"answered the same content"},
			&cli.BoolFlag{Name: "since-mine",
				Usage: "show what is new on `BRANCH`, or in a review, ID, since you last looked at it here or commented"},
			&cli.BoolFlag{Name: "edit", Usage: "review it yourself: write comments into the diff in your editor"},
			&cli.BoolFlag{Name: "missing", Usage: "request reviews of commits that no hook saw"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --missing: only print what would be requested"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, DefaultText: "none",
				Usage: "with --missing: only the newest `N`"},
			&cli.StringFlag{Name: "remote", Usage: "ask people at `REMOTE` instead of the elected remote; nobody else sees it"},
			&cli.BoolFlag{Name: "private", Usage: "keep it in this clone; git runr inbox share ID shares it later"},
			&cli.BoolFlag{Name: "no-serve", Usage: "do not start the server for the page"},
		},
		Action: p.withConfig(review),
	}
}

// requested is the result of git runr review.
type requested struct {
	ID       string   `json:"review_id"`
	URL      string   `json:"url"` // "" while no page is served
	Reviewer string   `json:"reviewer"`
	Others   []string `json:"other_reviewers,omitempty"`
	People   []string `json:"people,omitempty"`
	Round    int      `json:"round,omitempty"` // in its conversation; omitted for the first
	Follows  string   `json:"follows,omitempty"`
	Known    bool     `json:"requested_before,omitempty"` // nothing was recorded: that request waits
	Status   string   `json:"status"`
	Hint     string   `json:"hint"`
	Audience string   `json:"audience,omitempty"` // "private", or the remote that was named
}

// asksFor sets the audience of the requests that this command records, from --remote and --private.
func (s *session) asksFor(store *store.Store) error {
	remote := s.String("remote")
	if remote != "" && s.Bool("private") {
		return exit.Problemf(exit.Usage, "use either --remote or --private, not both")
	}
	if s.Bool("private") {
		store.Asks = &gitstore.Audience{Private: true}
	}
	if remote == "" {
		return nil
	}
	remote, err := store.Repo.ElectRemote(remote)
	to := store.Repo.AudienceOf(remote)
	store.Asks = &to
	return err
}

func review(s *session, store *store.Store, conf *config.Config) error {
	if s.Bool("since-mine") {
		return s.sinceMine(store)
	}
	if s.Bool("missing") {
		return s.reviewMissing(store, conf)
	}
	switch {
	case s.Bool("dry-run") || s.IsSet("limit"):
		return exit.Problemf(exit.Usage, "--dry-run and --limit need --missing").
			WithHint("git runr review --missing --dry-run")
	case s.Bool("require-checks") && !s.Bool("wait"):
		return exit.Problemf(exit.Usage, "--require-checks needs --wait")
	case s.Bool("require-checks") && s.Bool("no-checks"):
		return exit.Problemf(exit.Usage, "use either --require-checks or --no-checks, not both")
	}
	if err := s.asksFor(store); err != nil {
		return err
	}
	before, again, err := s.reviewAgain(store)
	if err != nil {
		return err
	}
	var request record.ReviewRequest
	err = s.deepened(store, s.Args().First(), func() (err error) {
		request, err = s.reviewRequest(store, conf, again)
		return err
	})
	if nothing := new(intake.NothingError); errors.As(err, &nothing) {
		doc := nothingJSON{record.OutcomeNothing, nothing.Why, append([]record.NextStep{}, nothing.Try...)}
		return s.printEnding(doc, true, exit.Nothing, func(w io.Writer) {
			safetext.Fprintf(w, "Nothing to review: %s.\n", doc.Why)
			for _, step := range doc.Next {
				safetext.Fprintf(w, "  %s:\n    %s\n", step.What, step.Command)
			}
		})
	}
	if err != nil {
		return err
	}
	if s.Bool("edit") {
		return s.editNew(store, request)
	}
	return s.askFor(store, conf, request, before, again)
}

// askFor shows the answer if request has one, else records it, as a round after before if again is set. With --wait it
// has it reviewed.
func (s *session) askFor(store *store.Store, conf *config.Config, request record.ReviewRequest,
	before record.Review, again bool) error {
	if !s.Bool("again") {
		run, not := conf.Checks()
		if s.Bool("no-checks") {
			run, not = nil, nil
		}
		known, answered, err := intake.Answered(s.ctx, store, request, run, not)
		if err != nil {
			return err
		}
		if answered {
			s.say("already answered for exactly this change; --again asks once more")
			return s.showReview(store, known)
		}
	}
	asked, err := s.askRound(store, request, before, again)
	if err != nil {
		return err
	}
	made := asked.review
	if err := steps.Pin(s.ctx, store, made); err != nil {
		return err
	}
	if made.Clock == 1 && made.Request.Reviewer == record.Builtin {
		s.say("%s", render.BuiltinIs)
	}
	if s.Bool("wait") {
		if err := s.askStandard(store, conf); err != nil {
			return err
		}
		return s.reviewNow(store, conf, made)
	}
	s.warnNotReady(conf, made.Request)
	if hasAgent(made.Request.Reviewers()) {
		s.startWorker(store.Repo)
	}
	hint, url := "git runr show "+made.ID, s.reviewURL(store, made.ID)
	doc := requested{
		ID: made.ID, URL: url, Reviewer: made.Request.Reviewer, Others: made.Request.Others, People: made.Request.People,
		Round: asked.number, Follows: made.Request.Follows, Known: asked.known, Status: string(made.Status), Hint: hint,
		Audience: made.Audience,
	}
	return s.print(doc, func(w io.Writer) { screen.Each(w, "%s\n", requestedLines(asked, url, hint)) })
}

// askStandard asks at a terminal, once per repository, whether the standard checks of the project may run.
func (s *session) askStandard(store *store.Store, conf *config.Config) error {
	tty, consent := s.terminal(), conf.Consent(s.ctx)
	if tty == nil || s.Bool("no-checks") || consent.Standard || consent.Declined {
		return nil
	}
	defer tty.Close()
	doc, _, err := s.trusted(store, conf)
	if err != nil || len(doc.Standard) == 0 {
		return err
	}
	switch {
	case s.confirmTrust(doc) == nil:
		return conf.Approve(s.ctx, s.now())
	case s.ctx.Err() != nil: // an interrupt is no answer
		return s.ctx.Err()
	}
	return conf.Decline(s.ctx, s.now())
}

// warnNotReady prints which of the reviewers cannot be started here. The request stays, because what is missing may
// be installed later.
func (c *console) warnNotReady(conf *config.Config, asked record.ReviewRequest) {
	names := asked.Reviewers()
	if asked.Judge != "" {
		names = append(names, asked.Judge)
	}
	for _, name := range names {
		if failure := conf.Ready(name, agent.Reviewer); failure != nil {
			next := failure.Next()
			c.say("not reviewed: %s\n%s\n  %s", failure.Detail, next.What, strings.Join(next.Commands, "\n  "))
		}
	}
}

// nothingJSON is the result if there is nothing to review and no request was recorded.
type nothingJSON struct {
	Outcome record.Outcome    `json:"outcome"`
	Why     string            `json:"why"`
	Next    []record.NextStep `json:"next_steps"` // what may have been meant
}

// requestedLines returns the lines that confirm a request, in the words that chat prompts know. If no page is served
// they say how to read the review.
func requestedLines(asked round, url, hint string) []string {
	made, first := asked.review, "Review requested (deferred)"
	if asked.known {
		first = "Review requested before (deferred), not answered yet"
	}
	lines := []string{first, "review_id: " + made.ID, "url: " + url}
	if len(made.Request.People) > 0 {
		lines = append(lines, "asked: "+strings.Join(made.Request.People, ", "))
		if kind := made.Request.Subject.Kind; kind == record.SubjectWorktree || kind == record.SubjectStaged {
			lines = append(lines, "Nobody can fetch what is not committed: another clone shows this request without the code.")
		}
	}
	if made.Audience == "private" && slices.Contains(made.Request.Reviewers(), record.Human) {
		lines = append(lines, "Nobody else sees it until you type: git runr inbox share "+made.ID)
	}
	if asked.number > 1 {
		lines[0] += fmt.Sprintf(": round %d, after %s", asked.number, made.Request.Follows)
	}
	if made.Audience != "" {
		lines[0] += ", " + render.Audience(made.Audience)
	}
	lines[0] += "."
	if url == "" {
		lines[2] = "url: none, no page is served; read it with: " + hint
	}
	if url == "" && slices.Contains(made.Request.Reviewers(), record.Human) {
		lines = append(lines, "To review it in a browser, type: git runr serve --open")
	}
	return append(lines, "When it is submitted, use git runr inbox list and git runr show to retrieve the comments.",
		"A pass without notes leaves the list; git runr show still shows it.")
}

func deepenFlag() cli.Flag {
	return &cli.BoolFlag{
		Name: "deepen", DefaultText: "where CI is set",
		Usage: "fetch a missing base and, in a shallow clone, the missing history",
	}
}

// maxDeepen is the maximum number of commits by which one fetch deepens a shallow clone. A remote that is shallow
// itself cannot provide more.
const maxDeepen = 1 << 20

// deepened calls read. If read needs commits or history that this clone lacks, and --deepen or CI is set, it fetches
// them, deeper each time, and calls read again.
func (s *session) deepened(store *store.Store, spec string, read func() error) error {
	err := read()
	deepen := s.Bool("deepen") || !s.IsSet("deepen") && s.getenv("CI") != ""
	for by := 1; deepen && by <= maxDeepen && errors.Is(err, gitstore.ErrNotFound); by *= 2 {
		conf, noConf := config.Read(s.ctx, store.Repo, s.getenv)
		if noConf != nil {
			return err
		}
		remote, noRemote := store.Repo.ElectRemote(conf.Sync.Remote)
		head, noHead := store.Repo.Head(s.ctx)
		if noRemote != nil || noHead != nil {
			return err
		}
		more, failed := store.Repo.FetchEnds(s.ctx, remote, spec)
		if !more && failed == nil && errors.As(err, new(*gitstore.MissingError)) {
			more, failed = store.Repo.Deepen(s.ctx, remote, head, by)
		}
		if failed != nil {
			return fmt.Errorf("%w; %w", err, failed)
		}
		if !more {
			return err
		}
		err = read()
	}
	return err
}

// asked returns a request with the reviewers, kind, quorum, judge and message of the command line, else as
// configured.
func (s *session) asked(conf *config.Config) (record.ReviewRequest, error) {
	names, err := s.reviewers(conf)
	if err != nil {
		return record.ReviewRequest{}, err
	}
	if err := s.setFlags(conf, "review", "quorum", "judge"); err != nil {
		return record.ReviewRequest{}, err
	}
	request, err := conf.RequestFor(s.ctx, names, s.String("kind"))
	request.Message = s.String("m")
	return request, err
}

// reviewRequest returns the request that the command line describes: asked, with its subject and the owners to ask.
func (s *session) reviewRequest(store *store.Store, conf *config.Config, again bool) (record.ReviewRequest, error) {
	request, err := s.asked(conf)
	if err != nil {
		return request, err
	}
	request.NoChecks = s.Bool("no-checks")
	revs, paths := argv.SplitPaths(s.Args().Slice())
	if again { // the argument is a review
		revs = nil
	}
	switch worktree, staged := s.Bool("worktree"), s.Bool("staged"); {
	case worktree && staged || (worktree || staged) && len(revs) > 0:
		return request, exit.Problemf(exit.Usage, "use one of a revision, --worktree and --staged")
	case worktree:
		request.Subject, err = store.WorkingSubject(s.ctx, record.SubjectWorktree)
	case staged:
		request.Subject, err = store.WorkingSubject(s.ctx, record.SubjectStaged)
	case len(revs) > 1:
		return request, exit.Problemf(exit.Usage, "expected one revision or range, not %d; paths go after --", len(revs))
	default:
		request.Subject, err = store.Subject(s.ctx, append(revs, "HEAD")[0])
	}
	if err != nil {
		return request, err
	}
	if request.Subject.Paths, err = pathsInside(store, paths); err == nil {
		err = intake.CheckSubject(s.ctx, store, request.Subject)
	}
	if err != nil {
		return request, err
	}
	unknown, wrote, err := conf.Invite(s.ctx, &request)
	if len(unknown) > 0 {
		s.say("not asked, because nobody is known as %s of CODEOWNERS; [teams] can say who it is",
			strings.Join(unknown, ", "))
	}
	if len(wrote) > 0 {
		s.say("%s wrote the change and cannot approve it, which review.owners requires: "+
			"CODEOWNERS has to name somebody else as well", strings.Join(wrote, ", "))
	}
	if base := request.Subject.Base; err == nil && base != "" && slices.Contains(request.Reviewers(), record.Human) {
		s.sayBroken(conf.BrokenAt(s.ctx, base))
	}
	return request, err
}

// reviewers returns the names of --reviewer, or nil, which means the configured reviewer. With --model each name gets
// that model.
func (s *session) reviewers(conf *config.Config) ([]string, error) {
	names, model := s.StringSlice("reviewer"), s.String("model")
	if err := config.CheckModel("--model", model); err != nil || model == "" {
		return names, err
	}
	if len(names) == 0 {
		names = []string{conf.Review.Reviewer}
	}
	names = strings.Split(strings.Join(names, ","), ",")
	for i, name := range names {
		var err error
		if names[i], err = config.WithModel(name, model); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// hasAgent reports whether a reviewer is a program, such as an agent or builtin.
func hasAgent(reviewers []string) bool {
	return slices.ContainsFunc(reviewers, func(name string) bool { return name != record.Human })
}

// pathsInside converts paths, relative to where the command was started, into paths relative to the top of the
// working tree. It returns an error for a path outside of it.
func pathsInside(store *store.Store, paths []string) (top []string, err error) {
	for _, path := range paths {
		from := store.Repo.FromTop(path)
		if !filepath.IsLocal(from) {
			return nil, exit.Problemf(exit.Usage, "%q is outside the repository", path)
		}
		top = append(top, from)
	}
	return top, nil
}

// reviewNow runs the review in this process and shows it.
func (s *session) reviewNow(store *store.Store, conf *config.Config, made record.Review) error {
	if !hasAgent(made.Request.Reviewers()) {
		if url := s.reviewURL(store, made.ID); url != "" {
			s.say("the page: %s", url)
		}
		return s.awaitReview(store, made)
	}
	progress := s.progress()
	defer progress.Close()
	worker := s.worker(store, conf, progress)
	worker.Heard, worker.Awaited = nil, true // the user is watching
	done, err := worker.Review(s.ctx, made)
	if errors.Is(err, gitstore.ErrBusy) { // a background worker was faster
		progress.Close()
		return s.awaitReview(store, made)
	}
	progress.Close()
	if err != nil {
		return err
	}
	if awaited(done) {
		return s.awaitReview(store, done)
	}
	return s.showReview(store, done)
}

// awaited reports whether the review still waits for somebody. If an agent failed to run, people do not count, so
// that the user hears of the failure at once.
func awaited(r record.Review) bool {
	pending := r.Pending()
	if r.Failure != nil {
		pending = slices.DeleteFunc(pending, func(name string) bool { return name == record.Human })
	}
	return len(pending) > 0 && r.ClosedAt.IsZero()
}

// awaitReview waits until all reviewers have answered, here or in the newer request that replaced this one, and shows
// the review.
func (s *session) awaitReview(store *store.Store, made record.Review) error {
	s.say("waiting for %s; interrupt with ^C, the request stays: git runr show %s", strings.Join(made.Pending(), ", "),
		made.ID)
	review, err := steps.Await(s.ctx, func(ctx context.Context) (record.Review, error) {
		return store.Review(ctx, made.ID)
	}, func(r record.Review) bool { return !awaited(r) })
	if err != nil {
		return err
	}
	newer := record.Review{}
	if review.Status == record.ReviewCancelled {
		newer, err = closing.SupersededBy(s.ctx, store, review)
	}
	if err != nil {
		return err
	}
	if newer.ID == "" {
		return s.showReview(store, review)
	}
	s.say("review %s was cancelled: %s is of the same change, and is shown instead", review.ID, newer.ID)
	if awaited(newer) {
		return s.awaitReview(store, newer)
	}
	return s.showReview(store, newer)
}

// sayBroken says that the configuration of a change's base does not count, if broken says why.
func (s *session) sayBroken(broken error) {
	if broken != nil {
		s.say("%v; what that file says of reviews does not apply", broken)
	}
}

// reviewDocument returns the document for a review, with the present places of its comments, the earlier rounds, and
// the command line that starts a run for its findings.
func (s *session) reviewDocument(store *store.Store, review record.Review) (render.ReviewDocument, error) {
	conf, unread := config.Read(s.ctx, store.Repo, s.getenv) // without a configuration no run could start
	var unsigned []gitstore.ID
	var err error
	if unread == nil {
		if store, review, unsigned, err = s.signed(store, conf, review); err != nil {
			return render.ReviewDocument{}, err
		}
	}
	if review, err = store.Carrying(s.ctx, review); err != nil {
		return render.ReviewDocument{}, err
	}
	doc := render.NewReviewDocument(review)
	doc.SoFar, doc.Unsigned = queue.SoFar(store, review.ID), unsigned
	if unread == nil {
		doc.Fix = conf.FixLine(review.ID)
	}
	return doc, cmp.Or(doc.Place(s.ctx, store), doc.Converse(s.ctx, store))
}

// signed returns the events by which people answered the review without a good signature, and the store and the review
// as they are if these take nothing back: see lineage.Vouched.
func (s *session) signed(store *store.Store, conf *config.Config, review record.Review) (*store.Store, record.Review,
	[]gitstore.ID, error) {
	base := lineage.BaseOfSubject(store.Repo, review.Request.Subject)
	bar, broken, err := conf.KnownBar(s.ctx, string(lineage.LevelApproved), base)
	s.sayBroken(broken)
	if err != nil {
		return store, review, nil, err
	}
	unsigned, err := lineage.Unsigned(s.ctx, store, review, bar)
	if err != nil || bar.Verify != lineage.VerifyRequire {
		return store, review, unsigned, err
	}
	store = lineage.Vouched(store, bar)
	review, err = store.ReviewByID(s.ctx, review.ID)
	return store, review, unsigned, err
}

// showReview prints a review and returns its outcome as an exit status.
func (s *session) showReview(store *store.Store, review record.Review) error {
	doc, err := s.reviewDocument(store, review)
	if err != nil {
		return err
	}
	if s.Bool("require-checks") {
		doc.ChecksMissing = render.ChecksMissing(review)
	}
	err = s.print(doc, func(w io.Writer) {
		render.Review(w, doc)
		screen.When(w, doc.ChecksMissing != "", "\nNot passed, because checks are required: %s.\n", doc.ChecksMissing)
	})
	if err != nil {
		return err
	}
	if doc.Failure != nil && !doc.Complete() {
		return stopStatus(doc.Failure.Reason)
	}
	switch outcome := doc.Review.Outcome(); {
	case outcome == record.OutcomeNothing:
		return exit.With(exit.Nothing)
	case outcome == record.OutcomeFailed, outcome == record.OutcomePartial, doc.ChecksMissing != "":
		return exit.With(exit.NotPassed)
	}
	return nil
}

type scannedJSON struct {
	Range   string           `json:"range"`
	DryRun  bool             `json:"dry_run"`
	Queued  int              `json:"queued"` // reviews that were requested, or would be
	Commits []intake.Scanned `json:"commits"`
}

// reviewMissing requests reviews of commits that no hook saw.
func (s *session) reviewMissing(store *store.Store, conf *config.Config) error {
	for _, flag := range []string{"worktree", "staged", "wait", "edit", "again", "require-checks"} {
		if s.Bool(flag) {
			return exit.Problemf(exit.Usage, "--missing and --%s exclude each other", flag)
		}
	}
	request, err := s.asked(conf)
	if err != nil {
		return err
	}
	doc := scannedJSON{DryRun: s.Bool("dry-run")}
	if !doc.DryRun {
		if _, err := lineage.Follow(s.ctx, store); err != nil { // so that reviews of rewritten commits count
			return err
		}
	}
	commits, err := s.scanSpan(store, &doc)
	if err != nil {
		return err
	}
	branch, err := store.Branch(s.ctx)
	if err != nil {
		return err
	}
	if doc.Commits, err = intake.Scan(s.ctx, store, commits, conf.Hooks.Skip, branch); err != nil {
		return err
	}
	for _, c := range doc.Commits {
		if c.State == intake.ScanQueue {
			doc.Queued++
		}
	}
	if !doc.DryRun && doc.Queued > 0 {
		if err := intake.AskMissing(s.ctx, store, request, doc.Commits); err != nil {
			return err
		}
		if hasAgent(request.Reviewers()) {
			s.startWorker(store.Repo)
		}
	}
	for i := range doc.Commits {
		doc.Commits[i].Title = s.redact(doc.Commits[i].Title)
	}
	return s.print(doc, func(w io.Writer) { writeScanned(w, doc) })
}

// scanSpan returns the commits to scan, newest first, and records the range in doc.
func (s *session) scanSpan(store *store.Store, doc *scannedJSON) ([]gitstore.LoggedCommit, error) {
	rev := s.arg("HEAD")
	doc.Range = rev
	limit := s.Int("limit")
	if s.NArg() > 0 {
		from, to, err := store.Repo.Range(s.ctx, rev)
		if err != nil {
			return nil, err
		}
		return store.Repo.Commits(s.ctx, from, to, limit)
	}
	if _, err := store.Repo.Head(s.ctx); err != nil {
		return nil, err
	}
	commits, against, err := lineage.BranchCommits(s.ctx, store)
	if against != "" {
		doc.Range = against + "..HEAD"
	}
	if limit > 0 && len(commits) > limit {
		commits = commits[:limit]
	}
	return commits, err
}

func writeScanned(w io.Writer, doc scannedJSON) {
	verb := "requested"
	if doc.DryRun {
		verb = "would be requested"
	}
	safetext.Fprintf(w, "%s in %s: %s %s.\n", prose.Count(len(doc.Commits), "commit"), doc.Range,
		prose.Count(doc.Queued, "review"), verb)
	for _, c := range doc.Commits {
		line := fmt.Sprintf("  %s  %-10s %s", c.Commit.Short(), c.State, prose.CutColumns(c.Title, 60))
		if c.Why != "" {
			line += " (skipped: " + c.Why + ")"
		}
		safetext.Fprintf(w, "%s\n", line)
	}
}
