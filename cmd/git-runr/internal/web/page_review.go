package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// filesAPage is how many files one page lists.
const filesAPage = 2500

// reviewView is the page of one review.
type reviewView struct {
	page
	Review      record.Review
	Message     template.HTML
	SoFar       []string // what the reviewers at work have written so far
	Submissions []submissionView
	Missing     string // why there is no diff
	Forged      string // why nobody can give a verdict on what the request names
	Files       []changedFile
	Views       []fileView
	Total       int // files
	Added       int
	Deleted     int
	Prev, Next  string // other pages of files
	From        int
	PerFile     map[string]int // remarks by path
	Elsewhere   []*remark      // remarks on files outside the change
	General     []*remark      // draft comments on the review as a whole
	Draft       store.Draft
	Kept        []store.KeptDraft // drafts of a closed review
	Viewed      map[string]bool
	Runs        []string             // runs that address this review
	Checks      []record.CheckResult // results of the checks of the run that asked for it
	Replies     []replyView          // to the review as a whole
	Sent        bool                 // the reader has just submitted
	Mine        bool                 // the claim is the reader's
	Lapsed      bool                 // the claim has run out
	Ungranted   bool                 // as from share.Ungranted
	Since       string               // what changed since the previous round; "" in a first one
	Carried     []*remark            // what earlier rounds left: see shown.Earlier
	Unsettled   []*remark
	Settled     int
	said        *shown.Review
}

// Panel returns the review if several reviewers or a judge have answered, else nil.
func (v reviewView) Panel() *record.Review {
	if len(v.Review.Opinions()) < 2 && len(v.Review.Judgements) == 0 {
		return nil
	}
	return &v.Review
}

// standing is the result of a review so far, in words, and the CSS class of its colour.
type standing struct{ Words, Class string }

// Standing returns the result so far, or nil if nobody has answered.
func (v reviewView) Standing() *standing {
	switch n := len(v.Submissions); {
	case n == 0:
		return nil
	case n == 1 && v.Submissions[0].Outcome == v.Review.Outcome():
		return &standing{v.Submissions[0].Badge(), v.Submissions[0].Class()}
	}
	words := strings.ToLower(strings.ReplaceAll(string(v.Review.Verdict()), "_", " "))
	if v.Review.Summary().ByAuthor() {
		return &standing{words + " by its author", "quiet"}
	}
	return &standing{cmp.Or(words, string(v.Review.Outcome())), outcomeClass(v.Review.Outcome())}
}

// Handed returns the reader's own last answer, or nil. It also returns nil if there is a draft, or the review takes no
// comments any more.
func (v reviewView) Handed() *record.Submission {
	if len(v.Draft.Comments) > 0 || strings.TrimSpace(v.Draft.Message) != "" || !v.CanComment() {
		return nil
	}
	for i := len(v.Review.Submissions) - 1; i >= 0; i-- {
		if record.SameActor(v.Review.Submissions[i].Reviewer, v.Actor) {
			return &v.Review.Submissions[i]
		}
	}
	return nil
}

// Asked returns the first line of the request's message.
func (v reviewView) Asked() string { return firstLine(v.Review.Request.Message) }

// CameBack returns the answers of others to the reader who requested the review, which are shown above the change. It
// returns none for a closed review.
func (v reviewView) CameBack() []submissionView {
	if !record.SameActor(v.Review.RequestedBy, v.Actor) || !v.Review.ClosedAt.IsZero() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Submissions), func(s submissionView) bool {
		return record.SameActor(s.Reviewer, v.Actor)
	})
}

// OpenRemarks returns the open remarks of a submission that are about files.
func (s submissionView) OpenRemarks() []*remark {
	return slices.DeleteFunc(slices.Clone(s.Remarks), func(r *remark) bool {
		return r.File == "" || r.Stands() != shown.Open
	})
}

// Said counts the answers and replies in words, or returns "" if there is nothing.
func (v reviewView) Said() string {
	said := prose.Count(len(v.Submissions), "answer")
	switch n := len(v.Replies); {
	case len(v.Submissions)+len(v.Elsewhere)+n == 0:
		return ""
	case n == 1:
		said += ", 1 reply"
	case n > 1:
		said += fmt.Sprintf(", %d replies", n)
	}
	return said
}

// The Can methods report which actions are allowed now.
func (v reviewView) CanComment() bool {
	return v.Review.Status == record.ReviewOpen || v.Review.Status == record.ReviewSubmitted ||
		v.Review.Status == record.ReviewClaimed
}
func (v reviewView) CanClaim() bool { // and resolve
	return v.Review.Status == record.ReviewSubmitted || v.Review.Status == record.ReviewClaimed && (v.Lapsed || v.Mine)
}
func (v reviewView) CanReopen() bool {
	return v.Review.Status == record.ReviewResolved || v.Review.Status == record.ReviewCancelled
}

// Closer returns who closed the review: the name, or the name as recorded with the log that has it.
func (v reviewView) Closer() string {
	if strings.Contains(v.Review.ClosedBy, "writer ") {
		return v.Review.ClosedBy
	}
	return personName(v.Review.ClosedBy)
}

// ofReview returns a handler that calls do with the review named in the request.
func (p *pages) ofReview(
	do func(http.ResponseWriter, *http.Request, record.Review) error,
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		review, err := p.Store.Review(r.Context(), r.PathValue("id"))
		if err == nil {
			review, err = p.Store.Carrying(r.Context(), review)
		}
		if err != nil {
			return err
		}
		return do(w, r, review)
	}
}

// review shows the page of one review.
func (p *pages) review(w http.ResponseWriter, r *http.Request, review record.Review) error {
	ctx := r.Context()
	v := reviewView{page: p.page(r, shown.Title(review), "inbox"), Review: review, Sent: r.FormValue("sent") != ""}
	v.Watched, v.Kept, v.SoFar = review.ID, p.keptDrafts(review), queue.SoFar(p.Store, review.ID)
	v.Message = markdownHTML(review.Request.Message, quotedLines{commit: p.commits(ctx)})
	if review.Claim != nil {
		v.Mine, v.Lapsed = record.SameActor(review.Claim.By, p.Actor), review.Claim.Lapsed(p.Now())
		v.Ungranted = share.Ungranted(p.repo, review.Claim)
	}
	remarks, err := p.remarks(ctx, &v)
	if err != nil {
		return err
	}
	if err := p.earlier(ctx, &v); err != nil {
		return err
	}
	if v.Runs, err = p.runsOf(ctx, review); err != nil {
		return err
	}
	if v.Checks, err = p.checksOf(ctx, review); err != nil {
		return err
	}
	v.short = p.Store.ShortIDs(append([]string{review.ID}, v.Runs...))
	if forged := new(record.InputError); errors.As(p.Store.Here(ctx, review), &forged) {
		v.Forged = forged.Why
	}
	if err = p.reviewFiles(r, &v, remarks); gone(err) {
		v.Missing = "The change is not in this clone: fetch it, and load this page again."
		v.Elsewhere = remarks
	} else if err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "review.html", v)
}

// remarks returns all remarks of submissions and of the draft, in order, and fills in the fields of v that come from
// them.
func (p *pages) remarks(ctx context.Context, v *reviewView) ([]*remark, error) {
	var err error
	if v.Draft, err = p.Store.Draft(v.Review, p.Actor); err != nil {
		return nil, err
	}
	v.said = shown.New(v.Review, v.Draft)
	if err = v.said.Settle(ctx, p.Store); err == nil {
		err = v.said.Locate(ctx, p.Store)
	}
	// if the change is not here, remarks stay where they were made
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, err
	}
	quotes, commits := p.quotes(ctx, v.Review), p.commits(ctx)
	all := make([]*remark, len(v.said.Remarks))
	for i, said := range v.said.Remarks {
		if said.Quote == nil {
			said.Quote = quotes[said.ID]
		}
		all[i] = newRemark(v.page, v.Review, said, commits)
		all[i].Replies = p.replies(ctx, v.Review, said.ID)
	}
	v.Submissions, v.Replies = submissions(v.said, all, commits), p.replies(ctx, v.Review, "")
	return all, p.propose(ctx, v.Review, all)
}

// earlier fills in what changed since the previous round, and what earlier rounds left to this one.
func (p *pages) earlier(ctx context.Context, v *reviewView) error {
	if v.Review.Request.Follows == "" {
		return nil
	}
	earlier, err := shown.EarlierThan(ctx, p.Store, v.Review)
	if earlier.Since != nil {
		v.Since = fmt.Sprintf("since round %d %s", earlier.Before, earlier.Since)
	}
	commits := p.commits(ctx)
	list := func(remarks []*shown.Remark) []*remark {
		return each.Of(remarks, func(r *shown.Remark) *remark {
			return newRemark(v.page, earlier.Rounds[r.Round-1], r, commits)
		})
	}
	v.Carried, v.Unsettled, v.Settled = list(earlier.Carried), list(earlier.Left), earlier.Settled
	return err
}

// Answered returns the newest answer with its actor and reason, or "".
func (r remark) Answered() string {
	last, ok := r.Last()
	if !ok {
		return ""
	}
	return render.AnswerLine(last)
}

// reviewFiles adds the files of the change with their remarks to v.
func (p *pages) reviewFiles(r *http.Request, v *reviewView, remarks []*remark) error {
	c, err := p.reviewComparison(r.Context(), v.Review)
	if err != nil {
		return err
	}
	list, err := p.list(r.Context(), c)
	if err != nil {
		return err
	}
	v.Total, v.Added, v.Deleted = len(list.files), list.added, list.deleted
	v.Files, v.From = list.page(r.FormValue("from"))
	if v.From > 0 {
		v.Prev = c.url("", "from", strconv.Itoa(max(0, v.From-filesAPage)))
	}
	if v.From+len(v.Files) < v.Total {
		v.Next = c.url("", "from", strconv.Itoa(v.From+filesAPage))
	}
	v.Views, err = p.fileViews(r.Context(), c, v.Files, v.options(list, remarks))
	return err
}

// options returns how to show the files of the review, including their remarks.
func (v *reviewView) options(list *fileList, remarks []*remark) viewOptions {
	o := v.look
	v.Viewed = map[string]bool{}
	for _, name := range v.Draft.Viewed {
		if f, known := list.find(name); known {
			v.Viewed[f.Path] = true
		}
	}
	o.remarks, o.viewed, o.compose = v.sortRemarks(list, remarks), v.Viewed, v.CanComment()
	return o
}

// page returns the files of one page, beginning with index from.
func (l *fileList) page(from string) ([]changedFile, int) {
	n, err := strconv.Atoi(from)
	if err != nil || n < 0 || n >= len(l.files) {
		n = 0
	}
	return l.files[n:min(len(l.files), n+filesAPage)], n
}

// sortRemarks groups the remarks by file.
func (v *reviewView) sortRemarks(list *fileList, remarks []*remark) map[int]remarksAt {
	v.PerFile = map[string]int{}
	for _, r := range remarks {
		f, known := list.find(r.File)
		switch {
		case r.File == "" && r.Draft:
			v.General = append(v.General, r)
		case r.File == "": // shown with its submission
		case known:
			v.PerFile[f.Path]++
		default:
			r.Elsewhere = true
			v.Elsewhere = append(v.Elsewhere, r)
		}
	}
	return shown.ByFile(remarks, list.index)
}

// runsOf returns the ids of the runs that address a review.
func (p *pages) runsOf(ctx context.Context, review record.Review) ([]string, error) {
	events, err := p.Store.ReviewEvents(ctx, review.ID)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, e := range events {
		if e.Run != "" && (len(runs) == 0 || runs[len(runs)-1] != e.Run) {
			runs = append(runs, e.Run)
		}
	}
	return runs, nil
}

// checksOf returns the results of the checks that a run had made when it asked for a review; nil for a review that no
// run asked for, or whose run is not in this clone.
func (p *pages) checksOf(ctx context.Context, review record.Review) ([]record.CheckResult, error) {
	if review.Request.Run == "" {
		return nil, nil
	}
	run, err := p.Store.Run(ctx, review.Request.Run)
	if err != nil {
		return nil, gitstore.IgnoreNotFound(err)
	}
	for _, made := range slices.Backward(run.Checks) {
		if !made.At.After(review.CreatedAt) {
			return made.Results, nil
		}
	}
	return nil, nil
}

// opened is a review with its change and remarks.
type opened struct {
	reviewView
	change  comparison
	files   *fileList
	remarks []*remark
}

// open loads what a page of one file of a review shows.
func (p *pages) open(r *http.Request, review record.Review) (o opened, err error) {
	ctx := r.Context()
	o.reviewView = reviewView{page: p.page(r, shown.Title(review), "inbox"), Review: review}
	o.Watched = review.ID
	if o.remarks, err = p.remarks(ctx, &o.reviewView); err != nil {
		return o, err
	}
	if o.change, err = p.reviewComparison(ctx, review); err != nil {
		return o, err
	}
	o.files, err = p.list(ctx, o.change)
	return o, err
}

// oneFile is the file of a comparison that a request names.
type oneFile struct {
	page
	comparison
	file    changedFile
	options viewOptions
}

// find sets the file that the request names.
func (o *oneFile) find(r *http.Request, list *fileList) error {
	var known bool
	if o.file, known = list.find(r.FormValue("path")); !known {
		return &record.NotFoundError{What: "file", ID: r.FormValue("path")}
	}
	return nil
}

// fileShower shows a file.
type fileShower func(http.ResponseWriter, *http.Request, oneFile) error

// ofFile returns a handler that calls show with a file of the change under the review; the request names both.
func (p *pages) ofFile(show fileShower) func(http.ResponseWriter, *http.Request) error {
	return p.ofReview(func(w http.ResponseWriter, r *http.Request, review record.Review) error {
		o, err := p.open(r, review)
		if err != nil {
			return err
		}
		f := oneFile{page: o.page, comparison: o.change, options: o.options(o.files, o.remarks)}
		if err := f.find(r, o.files); err != nil {
			return err
		}
		return show(w, r, f)
	})
}

// diffView is the page of one file's diff.
type diffView struct {
	page
	File fileView
}

// showDiff shows the diff of a file: as a part of the page for scripts, else as a page of its own.
func (p *pages) showDiff(w http.ResponseWriter, r *http.Request, f oneFile) error {
	o := f.options
	o.rendered, o.blame = r.FormValue("rendered"), r.FormValue("blame")
	o.skip, _ = strconv.Atoi(r.FormValue("skip")) // 0 unless it is a number
	o.context, _ = strconv.Atoi(r.FormValue("context"))
	o.skip, o.context = max(0, o.skip), min(max(0, o.context), allContext)
	file, err := p.fileDiff(r.Context(), f.comparison, f.file, o)
	if err != nil {
		return err
	}
	name := "diff.html"
	if r.FormValue("fragment") != "" {
		name = "file"
	}
	return p.show(w, http.StatusOK, name, diffView{f.page, file})
}

// treeNode is a line in the tree of files: a file, or a directory with its items. A directory that contains only
// another directory shares its line.
type treeNode struct {
	Name     string
	File     *changedFile // nil for a directory
	Viewed   bool
	Comments int
	Items    []*treeNode
}

// Tree returns the files as a tree, in their order, each directory once.
func (v reviewView) Tree() []*treeNode { return v.nodes(v.Files, "") }

// nodes returns the lines of files below a directory, such as "a/b/".
func (v reviewView) nodes(files []changedFile, dir string) (nodes []*treeNode) {
	for len(files) > 0 {
		f, shared := &files[0], files[0].Dir()
		if shared == dir {
			nodes = append(nodes, &treeNode{Name: f.Base(), File: f, Viewed: v.Viewed[f.Path], Comments: v.PerFile[f.Path]})
			files = files[1:]
			continue
		}
		top := dir + shared[len(dir):][:strings.IndexByte(shared[len(dir):], '/')+1]
		n := 1
		for n < len(files) && strings.HasPrefix(files[n].Dir(), top) {
			for !strings.HasPrefix(files[n].Dir(), shared) {
				shared = shared[:strings.LastIndexByte(shared[:len(shared)-1], '/')+1]
			}
			n++
		}
		nodes = append(nodes, &treeNode{Name: shared[len(dir):], Items: v.nodes(files[:n], shared)})
		files = files[n:]
	}
	return nodes
}

// wholeView is the page of a whole file on one side of a change.
type wholeView struct {
	page
	Name    string
	Side    record.Side
	Other   string // the other side, or ""
	Note    string
	Rows    []rowView
	Notes   []*remark // on the whole file
	More    string
	Back    string
	Compose string
	Lines   int
}

// showWhole shows a file on the side that the request names.
func (p *pages) showWhole(w http.ResponseWriter, r *http.Request, one oneFile) error {
	f, c, o := one.file, one.comparison, one.options
	v := wholeView{page: one.page, Name: f.Path, Side: record.SideNew, Back: c.url("") + "#" + f.Key()}
	tree, other := c.to, record.SideOld
	if r.FormValue("side") == string(record.SideOld) {
		v.Side, v.Name, tree, other = record.SideOld, f.From(), c.from, record.SideNew
	}
	if f.Status != "A" && f.Status != "D" {
		v.Other = c.url("file", "path", f.Path, "side", string(other))
	}
	if o.compose {
		v.Compose = c.url("comment", "path", f.Path)
	}
	if err := p.wholeRows(r, &v, tree, o.remarks[f.Index], c); err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "file.html", v)
}

// wholeRows adds the lines of the file, as many as one page shows.
func (p *pages) wholeRows(r *http.Request, v *wholeView, tree gitstore.ID, notes remarksAt, c comparison) error {
	sizes, err := p.repo.FileSizes(r.Context(), tree, []string{v.Name})
	if err != nil {
		return err
	}
	if sizes[v.Name] > maxPatch {
		v.Note = "The file is too large for this page"
		return nil
	}
	data, err := p.repo.Blob(r.Context(), tree, v.Name)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		v.Note = "Binary file"
		return nil
	}
	skip, _ := strconv.Atoi(r.FormValue("skip")) // 0 unless it is a number
	v.Notes = notes[shown.Line{Side: v.Side, Line: 0}]
	maker := rowMaker{notes: notes, shown: map[shown.Line]bool{}}
	v.Rows, v.Lines = maker.whole(v.Name, data, skip+1, rowsShown, func(n int) (old, new int) {
		if v.Side == record.SideOld {
			return n, 0
		}
		return 0, n
	})
	if v.Lines > skip+rowsShown {
		v.More = c.url("file", "path", v.Name, "side", string(v.Side), "skip", strconv.Itoa(skip+rowsShown))
	}
	return nil
}
