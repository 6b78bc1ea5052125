package lineage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/owners"
	"github.com/git-runr/git-runr/loop/people"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Bar is the level of review that commits must reach, and whose approvals count for it.
type Bar struct {
	Level     Level
	Approvals int         // by distinct people, for LevelApproved; 0 is 1
	Base      gitstore.ID // whose .mailmap, CODEOWNERS and signers count; "": see BaseOf
	Owners    bool        // the owners of the changed paths have to approve
	Verify    Verify
	Signers   string              // the path of the file of allowed signers in Base; "": gpg.ssh.allowedSignersFile
	Teams     map[string][]string // as in people.Directory
}

// Verify says whether an approval counts that has no good signature of the approver.
type Verify string

const (
	VerifyOff     Verify = "off"
	VerifyWarn    Verify = "warn"    // it counts, and is marked
	VerifyRequire Verify = "require" // it does not count
)

// Verifies are all values, each stricter than the one before it.
var Verifies = []Verify{VerifyOff, VerifyWarn, VerifyRequire}

func (b Bar) verifies() bool { return cmp.Or(b.Verify, VerifyOff) != VerifyOff }

// String returns the level as users type it: approved=2.
func (b Bar) String() string {
	if b.Approvals > 1 {
		return fmt.Sprintf("%s=%d", b.Level, b.Approvals)
	}
	return string(b.Level)
}

// Approval is one person's approval of a commit, and whether it counts.
type Approval struct {
	Person       string `json:"person"` // "Name <address>", mapped by .mailmap of the base
	record.Voice        // Recorder is "" if that is the same person
	// "" if signatures are not verified; good means signed by the approver
	Signature gitstore.SignatureState `json:"signature,omitempty"`
	Why       string                  `json:"not_counted,omitempty"` // why it does not count
	Committed bool                    `json:"committed_it,omitempty"`
	who       people.Person
	recorder  people.Person
}

// Approvals are the approvals of a commit, and how many it needs.
type Approvals struct {
	Need   int          `json:"need"`
	Have   int          `json:"have"`
	By     []Approval   `json:"by"` // the ones that count come first
	Owners []OwnerGroup `json:"owners,omitempty"`
}

// OwnerGroup is a group of owners of files that a commit changes, and how many of them approved.
type OwnerGroup struct {
	owners.Group
	Have    int      `json:"have"`
	Unknown []string `json:"unknown,omitempty"` // owners that [teams] does not define
	Wrote   bool     `json:"wrote,omitempty"`   // all of them are authors of the commit, who do not approve it
	able    int      // how many known owners are no authors of it
}

// met reports whether enough people and enough owners approved.
func (a *Approvals) met() bool {
	return a != nil && a.Have >= a.Need && !slices.ContainsFunc(a.Owners, OwnerGroup.lacking)
}

func (g OwnerGroup) lacking() bool { return g.Have < g.Need }

// Stuck reports whether nobody can give an approval that the commit lacks, because too few of its owners are known and
// did not write it.
func (c Covered) Stuck() bool {
	return c.Approvals != nil && slices.ContainsFunc(c.Approvals.Owners, func(g OwnerGroup) bool {
		return g.able < g.Need
	})
}

// ApprovalWords describes which approvals a commit has and lacks, or returns "" if nothing is worth a remark.
func (c Covered) ApprovalWords() string {
	a := c.Approvals
	if c.ByAuthor && !c.Refused {
		in := ""
		if c.authorIn != c.Review {
			in = " in review " + c.authorIn
		}
		return "approved by its author alone" + in + a.inName()
	}
	if a == nil || c.Level == LevelApproved && a.Need == 1 && !a.marked() {
		return ""
	}
	var counted, words []string
	for _, by := range a.By {
		switch who := by.Person; {
		case by.Why == "" && by.unsigned():
			counted = append(counted, by.said()+" (not signed by this address)")
		case by.Why == "":
			counted = append(counted, by.said())
		case by.unsigned():
			words = append(words, "not counted: "+who+", "+by.Why)
		}
	}
	first := fmt.Sprintf("%d of %d approvals", a.Have, a.Need)
	if a.Have > a.Need {
		first = fmt.Sprintf("%d approvals, %d needed", a.Have, a.Need)
	}
	if len(counted) > 0 {
		first += ": " + strings.Join(counted, ", ")
	}
	for _, g := range a.Owners {
		if g.lacking() {
			words = append(words, g.words())
		}
	}
	return strings.Join(append([]string{first}, words...), "; ")
}

// wroteIt and recordedIt are why the approval of an author does not count, given in the own name or in another.
const wroteIt, recordedIt = "wrote it", "recorded by who wrote it"

// inName says in whose name the authors approved, if none of them did in the own one.
func (a *Approvals) inName() string {
	if a == nil || !slices.ContainsFunc(a.By, func(by Approval) bool { return by.Why == recordedIt }) ||
		slices.ContainsFunc(a.By, func(by Approval) bool { return by.Why == wroteIt }) {
		return ""
	}
	return ", in the name of " + a.By[0].Person
}

// said names the approver and, if that is not plain, who recorded it.
func (a Approval) said() string {
	who := a.Person
	if a.Committed {
		who += ", who committed it"
	}
	if a.Recorder == "" && a.LogOf == "" {
		return who
	}
	return a.Of(who)
}

// marked reports whether an approval is not signed by its address, or was recorded by somebody else or in somebody
// else's log.
func (a *Approvals) marked() bool {
	return slices.ContainsFunc(a.By, func(by Approval) bool {
		return by.unsigned() || by.said() != by.Person
	})
}

func (a Approval) unsigned() bool { return a.Signature != "" && a.Signature != gitstore.SignatureGood }

func (g OwnerGroup) words() string {
	text := fmt.Sprintf("%d of %d approvals of %s", g.Have, g.Need, strings.Join(g.Group.Owners, " "))
	if g.Section != "" {
		text += " [" + g.Section + "]"
	}
	if g.Wrote {
		text += " (who wrote it and cannot approve it: CODEOWNERS has to name somebody else as well)"
	}
	if len(g.Unknown) > 0 {
		text += fmt.Sprintf(" ([teams] does not say who is %s: %q = [\"ADDRESS\"])", strings.Join(g.Unknown, ", "),
			g.Unknown[0])
	}
	return text
}

// approvals decides which approvals of commits count. The zero value has no .mailmap, no owners and no signatures.
type approvals struct {
	bar    Bar
	mapped map[string]people.Person // identities as written to people, by .mailmap
	signed map[gitstore.ID]gitstore.Signature
	groups map[gitstore.ID][]owners.Group // of the files that each commit changes
}

// readApprovals reads what the base defines about the people who approved or wrote commits.
func readApprovals(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, by map[gitstore.ID][]cover,
	bar Bar) (approvals, error) {
	a := approvals{bar: bar, mapped: map[string]people.Person{}, groups: map[gitstore.ID][]owners.Group{}}
	var texts []string
	var events []gitstore.ID
	var approved []gitstore.LoggedCommit
	left := map[gitstore.Span]int{}
	for _, c := range commits {
		before := len(events)
		for i, said := range by[c.ID] {
			for _, at := range said.approvers {
				texts, events = append(texts, at.By, at.Recorder, at.LogOf), append(events, at.Event)
			}
			if len(said.approvers) > 0 {
				said.wrote = append(said.wrote, squashed(ctx, s, said, left)...)
				by[c.ID][i], texts = said, append(texts, said.wrote...)
			}
		}
		if len(events) > before {
			texts, approved = append(texts, authors(c)...), append(approved, c)
		}
	}
	if len(approved) == 0 {
		return a, nil
	}
	base, err := BaseOf(ctx, s, commits, bar.Base)
	if err != nil {
		return a, err
	}
	if base == "" && (bar.Owners || bar.verifies() && bar.Signers != "") {
		return a, noBase(s)
	}
	if err := a.readMailmap(ctx, s, base, texts); err != nil {
		return a, err
	}
	if err := a.readSignatures(ctx, s, base, events); err != nil {
		return a, err
	}
	return a, a.readOwners(ctx, s, base, approved)
}

// squashed returns the authors of a reviewed range of which fewer commits became. They do not approve what one person
// made of all their commits. Of commits that are not here only the newest one's author is known. left holds the numbers
// of commits that ranges became.
func squashed(ctx context.Context, s *store.Store, c cover, left map[gitstore.Span]int) (all []string) {
	if !c.ranged || c.State != CoverCarried || c.author == "" {
		return nil
	}
	now := 1 // the commit that has the change of the whole range
	if c.span != c.origin {
		if _, counted := left[c.span]; !counted {
			row, _ := s.Repo.Between(ctx, c.span.From, c.span.To, max(2, len(c.within))) // on an error fewer
			left[c.span] = len(row)
		}
		now = left[c.span]
	}
	if now > 1 && now >= len(c.within) { // which lacks commits without a message
		return nil
	}
	for _, id := range c.within {
		if commit, err := s.Repo.ReadCommit(ctx, id); err == nil {
			all = append(all, commit.Author.String())
			all = append(all, each.Of(people.CoAuthors(commit.Message), people.Person.String)...)
		}
	}
	return append(all, c.author)
}

// BaseOf returns the commit whose files define people and owners: base, else the parent of the oldest of commits, else
// that commit itself, if it is their only root commit. It returns "" if this clone does not have that commit.
func BaseOf(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit,
	base gitstore.ID) (gitstore.ID, error) {
	if base == "" && len(commits) > 0 {
		oldest := commits[len(commits)-1]
		roots := each.Where(commits, func(c gitstore.LoggedCommit) bool { return len(c.Parents) == 0 })
		switch {
		case len(oldest.Parents) > 0:
			base = oldest.Parents[0]
		case len(roots) == 1 && !slices.Contains(s.Repo.CutOff(), oldest.ID):
			base = oldest.ID
		}
	}
	if base == "" {
		return "", nil
	}
	_, err := s.Repo.ReadCommit(ctx, base)
	if errors.Is(err, gitstore.ErrNotFound) {
		return "", nil
	}
	return base, err
}

// BaseOfSubject is BaseOf for the subject of a review, which has the empty tree as the base of a root commit.
func BaseOfSubject(repo *gitstore.Repo, subject record.Subject) gitstore.ID {
	if subject.Kind == record.SubjectCommit && subject.Base == repo.EmptyTreeID() {
		return subject.Commit
	}
	return subject.Base
}

// PushedBase returns the commit whose files will define people and owners when the subject is pushed: what the remote
// has of its branch as last fetched, or else that of gitstore.Repo.PushBase. It is that of BaseOfSubject if neither is
// known.
func PushedBase(ctx context.Context, repo *gitstore.Repo, subject record.Subject) (gitstore.ID, error) {
	head, remotes := cmp.Or(subject.Commit, subject.Base), repo.PushRemotes(subject.Branch)
	for _, remote := range remotes {
		tip, err := repo.Ref(ctx, "refs/remotes/"+remote+"/"+subject.Branch)
		if err != nil || tip == "" || subject.Branch == "" {
			continue
		}
		if base, err := repo.MergeBase(ctx, tip, head); err == nil && base != "" && base != head {
			return base, nil
		}
	}
	base, err := repo.PushBase(ctx, remotes, "refs/heads/"+subject.Branch, head)
	return cmp.Or(base, BaseOfSubject(repo, subject)), err
}

// noBase returns the error for commits whose base has to say which approvals count. Status prints it as one line.
func noBase(s *store.Store) error {
	where := "; to name it: git runr audit BASE..HEAD"
	if len(s.Repo.CutOff()) > 0 {
		where = ", which is shallow: git fetch --unshallow"
	}
	return fmt.Errorf("the base of these commits, whose CODEOWNERS and signers count, is %w in this clone%s",
		gitstore.ErrNotFound, where)
}

func (a *approvals) readMailmap(ctx context.Context, s *store.Store, base gitstore.ID, texts []string) error {
	if base == "" {
		return nil
	}
	slices.Sort(texts)
	var asked []people.Person
	var addressed []string
	for _, text := range slices.Compact(texts) {
		if who := gitstore.ParseIdentity(text); who.Email != "" {
			asked, addressed = append(asked, who), append(addressed, text)
		}
	}
	mapped, err := s.Repo.Mailmapped(ctx, base, asked)
	for i, who := range mapped {
		a.mapped[addressed[i]] = who
	}
	return err
}

// readSignatures verifies the events of approvals. If the base lacks the file of signers, no signature is good.
func (a *approvals) readSignatures(ctx context.Context, s *store.Store, base gitstore.ID,
	events []gitstore.ID) (err error) {
	if !a.bar.verifies() {
		return nil
	}
	var signers []byte
	if a.bar.Signers != "" {
		signers = []byte{}
		if base != "" {
			signers, err = s.Repo.Blob(ctx, base, a.bar.Signers)
		}
		if errors.Is(err, gitstore.ErrNotFound) {
			signers, err = []byte{}, nil
		}
		if err != nil {
			return fmt.Errorf("read sync.signers: %w", err)
		}
	}
	slices.Sort(events)
	a.signed, err = s.Repo.Signatures(ctx, slices.Compact(events), signers)
	return err
}

// readOwners finds the owners of the files that each commit changes, by the CODEOWNERS of the base.
func (a *approvals) readOwners(ctx context.Context, s *store.Store, base gitstore.ID,
	commits []gitstore.LoggedCommit) error {
	if !a.bar.Owners {
		return nil
	}
	rules, err := OwnersAt(ctx, s.Repo, base)
	if err != nil || rules == nil {
		return err
	}
	for _, c := range commits {
		changes, err := changesIn(ctx, s, c)
		if err != nil {
			return err
		}
		a.groups[c.ID] = rules.OfAll(each.Of(changes, func(change gitstore.Change) string { return change.Path }))
	}
	return nil
}

// OwnersAt reads the CODEOWNERS of a commit, or returns nil if it has none.
func OwnersAt(ctx context.Context, repo *gitstore.Repo, at gitstore.ID) (*owners.Rules, error) {
	for _, place := range owners.Places {
		text, err := repo.Blob(ctx, at, place)
		if errors.Is(err, gitstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rules := owners.Parse(place, string(text))
		return &rules, nil
	}
	return nil, nil
}

// changesIn returns the changes of files that a commit makes.
func changesIn(ctx context.Context, s *store.Store, c gitstore.LoggedCommit) ([]gitstore.Change, error) {
	from, err := parentOf(ctx, s, c)
	if err != nil {
		return nil, err
	}
	return s.Repo.Changed(ctx, from, c.ID)
}

// parentOf returns what a commit is compared with: its parent, the empty tree, or for a merge git's own merge of its
// parents.
func parentOf(ctx context.Context, s *store.Store, c gitstore.LoggedCommit) (gitstore.ID, error) {
	switch len(c.Parents) {
	case 0:
		return s.Repo.EmptyTreeID(), nil
	case 1:
		return c.Parents[0], nil
	}
	return s.Repo.Remerge(ctx, c.ID)
}

// person returns the person that a written identity means.
func (a approvals) person(text string) people.Person {
	if who, ok := a.mapped[text]; ok {
		return who
	}
	return gitstore.ParseIdentity(text)
}

// writersOf returns who had a run write the commit that said covers.
func writersOf(said []cover) (all []string) {
	for _, c := range said {
		if c.Run != "" {
			all = append(all, c.wrote...)
		}
	}
	return all
}

// of evaluates the approvals in said, which are all of commit. writers had a run write it. It returns nil if there are
// no approvals.
func (a approvals) of(said []cover, writers []string, commit gitstore.LoggedCommit) *Approvals {
	var all []Approval
	for _, c := range said {
		for _, at := range c.approvers {
			one := a.weigh(at, commit)
			if one.Why == "" && a.wroteReviewed(c, writers, at) {
				one.Why = "wrote the commit that was reviewed, or had a run write it"
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil
	}
	result := &Approvals{Need: max(1, a.bar.Approvals)}
	slices.SortStableFunc(all, func(a, b Approval) int {
		return cmp.Compare(a.rank(), b.rank())
	})
	for _, one := range all {
		again := func(o Approval) bool { return people.MayBeOne(o.who, one.who) || people.Same(o.recorder, one.recorder) }
		if !slices.ContainsFunc(result.By, again) {
			result.By = append(result.By, one)
		}
	}
	counted := slices.DeleteFunc(slices.Clone(result.By), func(o Approval) bool { return o.Why != "" })
	result.Have = len(counted)
	for _, group := range a.groups[commit.ID] {
		if group.Need > 0 {
			result.Owners = append(result.Owners, a.owned(group, counted, commit))
		}
	}
	return result
}

// rank orders approvals, the best first. Of the approvals of one person only the first counts.
func (a Approval) rank() (rank int) {
	for i, worse := range []bool{a.who.Email == "", a.Recorder != "", a.unsigned(), a.Why != ""} {
		if worse {
			rank |= 1 << i
		}
	}
	return rank
}

// weigh returns an approval of commit, and whether it counts.
func (a approvals) weigh(at record.Speaker, commit gitstore.LoggedCommit) Approval {
	who := a.person(at.By)
	one := Approval{Person: cmp.Or(strings.TrimSpace(strings.TrimSuffix(who.String(), "<>")), at.By), Voice: at.Voice,
		who: who, recorder: a.person(at.Recorder)}
	if !record.ByAnother(at.By, at.Recorder) || people.Same(who, one.recorder) {
		one.Recorder = ""
	}
	one.Signature = a.signature(at.Event, who)
	one.Committed = people.Same(who, a.person(commit.Committer)) || people.Same(one.recorder, a.person(commit.Committer))
	if at.LogOf != "" && (one.Signature == gitstore.SignatureGood || people.Same(who, a.person(at.LogOf))) {
		one.LogOf = ""
	}
	switch {
	case a.wrote(commit, record.Speaker{By: at.By}):
		one.Why = wroteIt
	case a.wrote(commit, at):
		one.Why = recordedIt
	case a.bar.Verify == VerifyRequire && one.unsigned():
		one.Why = "not signed by this address"
	}
	return one
}

// signature returns the state of an event's signature; good means signed by who. It is "" if signatures are not
// verified.
func (a approvals) signature(event gitstore.ID, who people.Person) gitstore.SignatureState {
	if !a.bar.verifies() {
		return ""
	}
	signature := a.signed[event]
	if signature.State == gitstore.SignatureGood && !signature.By(who.Email) {
		return gitstore.SignatureUnknown
	}
	return cmp.Or(signature.State, gitstore.SignatureMissing)
}

// Vouched returns s for reading reviews in which only signed events take back what was signed. bar has the base, whose
// signers count.
func Vouched(s *store.Store, bar Bar) *store.Store {
	return s.Vouched(func(ctx context.Context, events []record.Event) error {
		if bar.Base == "" && bar.Signers != "" && slices.ContainsFunc(events, isVerdict) {
			return noBase(s)
		}
		a := approvals{bar: bar, mapped: map[string]people.Person{}}
		texts := each.Of(events, func(e record.Event) string { return e.Actor })
		if err := a.readMailmap(ctx, s, bar.Base, texts); err != nil {
			return err
		}
		ids := each.Of(events, func(e record.Event) gitstore.ID { return e.ID })
		if err := a.readSignatures(ctx, s, bar.Base, ids); err != nil {
			return err
		}
		for i, e := range events {
			state := a.signature(e.ID, a.person(e.Actor))
			events[i].Unproven, events[i].Unsigned = state != gitstore.SignatureGood, state == gitstore.SignatureMissing
		}
		return nil
	})
}

// isVerdict reports whether a person gave a verdict by e.
func isVerdict(e record.Event) bool {
	if e.Type != record.EventReviewSubmitted.Name {
		return false
	}
	sub, err := record.EventReviewSubmitted.Payload(e)
	return err == nil && sub.Decision != ""
}

// Unsigned returns the events by which people answered a review that have no good signature of their address. It
// returns none if bar does not verify signatures.
func Unsigned(ctx context.Context, s *store.Store, review record.Review, bar Bar) ([]gitstore.ID, error) {
	if !bar.verifies() {
		return nil, nil
	}
	a := approvals{bar: bar, mapped: map[string]people.Person{}}
	said := slices.DeleteFunc(review.Standing(), func(sub record.Submission) bool { return sub.Decision == "" })
	var events []gitstore.ID
	var texts []string
	for _, sub := range said {
		events, texts = append(events, sub.Event), append(texts, sub.Reviewer)
	}
	base, err := BaseOf(ctx, s, nil, bar.Base)
	if err != nil || len(said) == 0 {
		return nil, err
	}
	if err := a.readMailmap(ctx, s, base, texts); err != nil {
		return nil, err
	}
	if err := a.readSignatures(ctx, s, base, events); err != nil {
		return nil, err
	}
	events = nil
	for _, sub := range said {
		if a.signature(sub.Event, a.person(sub.Reviewer)) != gitstore.SignatureGood {
			events = append(events, sub.Event)
		}
	}
	return events, nil
}

// owned returns how many of a group's owners are among the people whose approvals count. Only [teams] defines who has a
// forge's user name: a person with the same name in the history does not become an owner.
func (a approvals) owned(group owners.Group, counted []Approval, commit gitstore.LoggedCommit) OwnerGroup {
	result, directory := OwnerGroup{Group: group}, people.Directory{Teams: a.bar.Teams}
	var known []people.Person
	for _, owner := range group.Owners {
		found, err := directory.Find(owner)
		if err != nil {
			result.Unknown = append(result.Unknown, owner)
		}
		known = append(known, found...)
	}
	for _, by := range counted {
		if slices.ContainsFunc(known, func(p people.Person) bool { return people.Same(p, by.who) }) {
			result.Have++
		}
	}
	result.able = each.Count(known, func(p people.Person) bool {
		return !slices.ContainsFunc(authors(commit), func(author string) bool { return people.Same(a.person(author), p) })
	})
	result.Wrote = len(known) > 0 && result.able == 0
	return result
}

// authors returns the author and the co-authors of commit, as they are written.
func authors(commit gitstore.LoggedCommit) []string {
	at := strings.LastIndex(commit.Author, " ") // the time of the work
	all := []string{commit.Author[:max(at, 0)]}
	for _, p := range people.CoAuthors(commit.Message) {
		all = append(all, p.String())
	}
	return all
}

// wrote reports whether the approver, or the recorder of the approval, is an author or co-author of commit.
func (a approvals) wrote(commit gitstore.LoggedCommit, by record.Speaker) bool {
	return slices.ContainsFunc(authors(commit), func(author string) bool { return a.isBy(author, by) })
}

// isBy reports whether author is the approver or the recorder of the approval.
func (a approvals) isBy(author string, by record.Speaker) bool {
	return slices.ContainsFunc([]string{by.By, by.Recorder}, func(who string) bool {
		return isNamed(author, who) || people.Same(a.person(author), a.person(who))
	})
}

// wroteReviewed reports whether the approver wrote the commit of the review c, or is one of writers.
func (a approvals) wroteReviewed(c cover, writers []string, by record.Speaker) bool {
	return slices.ContainsFunc(slices.Concat(c.wrote, writers), func(who string) bool { return a.isBy(who, by) })
}

// byAuthor reports whether c has approvers and all of them are authors or co-authors of commit, or had a run write it.
func (a approvals) byAuthor(c cover, writers []string, commit gitstore.LoggedCommit) bool {
	return len(c.approvers) > 0 && !slices.ContainsFunc(c.approvers, func(by record.Speaker) bool {
		return !a.wrote(commit, by) && !a.wroteReviewed(c, writers, by)
	})
}

// isNamed reports whether by, a name, an address or both, means author, which is like "Ada <ada@x>".
func isNamed(author, by string) bool {
	name, mail, _ := strings.Cut(strings.TrimSuffix(author, ">"), " <")
	byName, byMail, both := strings.Cut(strings.TrimSuffix(by, ">"), " <")
	return strings.EqualFold(name, byName) || strings.EqualFold(mail, byName) || both && strings.EqualFold(mail, byMail)
}
