package web

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/workspace"
)

// link is a link to an attachment of an event, or to a prompt or an agent's output that only this clone has.
type link struct{ Name, URL string }

// attachmentLinks returns links to the attachments of an entry's event.
func attachmentLinks(run string, entry diagnose.ReportEntry) []link {
	var links []link
	for _, name := range entry.Attachments {
		u := url.URL{Path: "/run/" + run + "/left/" + string(entry.Event), RawQuery: url.Values{"name": {name}}.Encode()}
		links = append(links, link{name, u.String()})
	}
	return links
}

// textShown is the maximum number of bytes of an attachment or a transcript that is shown.
const textShown = 1 << 20

// runAttachment shows an attachment of a run's event as text.
func (p *pages) runAttachment(w http.ResponseWriter, r *http.Request) error {
	events, err := p.Store.RunEvents(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	id, name := gitstore.ID(r.PathValue("event")), r.FormValue("name")
	if !slices.ContainsFunc(events, func(e record.Event) bool { return e.ID == id }) {
		return &record.NotFoundError{What: "event", ID: string(id)}
	}
	data, err := p.Store.Attachment(r.Context(), id, name)
	if err != nil {
		return err
	}
	v := struct {
		page
		Name, Text, Back string
		Cut              int
	}{page: p.page(r, name, "runs"), Name: name, Back: (&url.URL{Path: "/run/" + events[0].Run}).String()}
	if len(data) > textShown {
		v.Cut = len(data) - textShown
		data = data[:textShown]
	}
	v.Text = safetext.Text(string(data))
	return p.show(w, http.StatusOK, "attachment.html", v)
}

// keptName matches the names of the files that a run keeps for its attempts and rounds: see execution.transcript.
var keptName = lazyre.Compile(`^(?:attempt-[1-9][0-9]{0,5}(?:\.prompt\.md|\.log)|review-[1-9][0-9]{0,5}\.log)$`)

// keptOf returns the kept files of the attempt or round in an entry of the timeline.
func (p *pages) keptOf(run string, e diagnose.ReportEntry) (kept []link) {
	offer := func(label, file string) {
		info, err := os.Stat(filepath.Join(workspace.FilesDir(p.Store, run), file))
		if err == nil && info.Size() > 0 {
			kept = append(kept, link{label, (&url.URL{Path: "/run/" + run + "/kept/" + file}).String()})
		}
	}
	switch {
	case e.Attempt != nil:
		offer("Prompt", fmt.Sprintf("attempt-%d.prompt.md", e.Attempt.Number))
		offer("Transcript", fmt.Sprintf("attempt-%d.log", e.Attempt.Number))
	case e.Review != nil:
		offer("Transcript", fmt.Sprintf("review-%d.log", e.Review.Number))
	}
	return kept
}

// runKept shows a prompt or a transcript: as a part of the run's page for scripts, else as a page of its own. Of a long
// one it shows the end, with links to the parts before.
func (p *pages) runKept(w http.ResponseWriter, r *http.Request) error {
	run, err := p.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	name := r.PathValue("file")
	missing := &record.NotFoundError{What: "file", ID: name}
	if !keptName().MatchString(name) {
		return missing
	}
	file, err := os.Open(filepath.Join(workspace.FilesDir(p.Store, run.ID), name))
	if errors.Is(err, fs.ErrNotExist) {
		return missing
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end, err := strconv.ParseInt(r.FormValue("until"), 10, 64)
	if err != nil || end <= 0 || end > info.Size() {
		end = info.Size()
	}
	v := struct {
		page
		Name, Back string
		Before     int64  // bytes before the shown part
		Earlier    string // URL of the part before
		Parts      []agent.Told
	}{page: p.page(r, name, "runs"), Name: name, Back: "/run/" + run.ID, Before: max(0, end-textShown)}
	if v.Before > 0 {
		v.Earlier = (&url.URL{Path: r.URL.Path,
			RawQuery: url.Values{"until": {strconv.FormatInt(v.Before, 10)}}.Encode()}).String()
	}
	text, err := io.ReadAll(io.NewSectionReader(file, v.Before, end-v.Before))
	if err != nil {
		return err
	}
	notice, err := p.Store.WithheldOutput(r.Context(), run, name)
	if err != nil {
		return err
	}
	if notice != "" {
		text, v.Before, v.Earlier = []byte(notice), 0, ""
	}
	v.Parts = []agent.Told{{Text: string(text)}}
	if filepath.Ext(name) == ".log" {
		v.Parts = agent.ReadTranscript(text)
	}
	if r.FormValue("fragment") != "" {
		return p.show(w, http.StatusOK, "kept", v)
	}
	return p.show(w, http.StatusOK, "kept.html", v)
}
