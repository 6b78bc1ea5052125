package web

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
)

// told records the command lines that the page runs, and answers each with out and status.
type told struct {
	lines  []string
	out    string
	status int
}

func (d *told) do(_ context.Context, args ...string) (string, int) {
	d.lines = append(d.lines, strings.Join(args, " "))
	return d.out, d.status
}

func TestRunActs(t *testing.T) {
	s := newSite(t)
	d := &told{}
	s.Do = d.do
	run := s.stopped()
	at := "/run/" + run.ID
	acts := map[string]string{
		"resume": "-q resume " + run.ID + " --detached", "commit": "-q resume " + run.ID + " --commit",
		"skip":      "-q resume " + run.ID + " --skip",
		"abort":     "-q abort " + run.ID,
		"intervene": "-q intervene " + run.ID + " --reason review_loop --note --did \"it\"\n$(by hand)",
	}
	page := s.page(at)
	checkHTML(t, page)
	hides(t, page, at+"/do/land")
	shows(t, page, `--reason review_loop`, `name="reason" value="review_loop"`)
	for name, line := range acts {
		path := at + "/do/" + name
		if n := strings.Count(page, `action="`+path+`"`); n != 1 {
			t.Errorf("%d forms for %s\n%s", n, name, page)
		}
		d.lines = nil
		s.ask("GET", path, "", s.asPerson()).want(404)
		s.ask("HEAD", path, "", s.asPerson()).want(404)
		s.ask("POST", path, "", s.asPerson(), formBody).want(403)
		token := url.Values{formTokenField: {s.formToken(nil)}}.Encode()
		s.ask("POST", path, token, formBody).want(401)
		s.ask("POST", path, token, s.asPerson(), formBody, "Sec-Fetch-Site: cross-site").want(403)
		s.ask("POST", path, token, s.asPerson(), "Content-Type: application/json").want(415)
		if len(d.lines) > 0 {
			t.Errorf("%s did %q", name, d.lines)
		}
		s.form(path, "reason", "review_loop", "note", "--did \"it\"\r\n$(by hand)").want(303)
		if !slices.Equal(d.lines, []string{line}) {
			t.Errorf("%s did %q", name, d.lines)
		}
	}
	d.lines = nil
	s.form(at + "/do/land").want(409)
	s.form(at + "/do/nix").want(409)
	s.form("/run/nix/do/abort").want(404)
	if len(d.lines) > 0 {
		t.Errorf("did %q", d.lines)
	}

	d.out, d.status = "git-runr: the checks <b>are not</b> trusted\n  git runr trust   shows them\n", 20
	refused := s.form(at + "/do/resume").want(403).text
	checkHTML(t, refused)
	shows(t, refused, "the checks &lt;b&gt;are not&lt;/b&gt; trusted", "<code>git runr trust</code>", "shows them")
	d.out, d.status = "Stopped: it needs a person\n", 4
	s.form(at + "/do/commit").want(303)

	s.Do = nil
	hides(t, s.page(at), "/do/")
}

// A run is landed as its form says; the form offers the options of the command.
func TestRunLands(t *testing.T) {
	s := newSite(t)
	d := &told{}
	s.Do = d.do
	runGit(t, s.dir, "branch", "side")
	run, _, err := runner.AnswerRun(context.Background(), s.Store, s.stopped(), runplan.ChoiceCommit)
	if err != nil {
		t.Fatal(err)
	}
	at := "/run/" + run.ID
	page := s.page(at)
	checkHTML(t, page)
	shows(t, page, `<option value="">main</option><option>side`, `name="squash"`, `name="allow-deletions"`)
	hides(t, page, "<option>runr/")
	s.form(at + "/do/land").want(303)
	s.form(at+"/do/land", "squash", "1", "onto", "--detach", "allow-deletions", "1", "other", "x").want(303)
	if want := []string{"-q land " + run.ID,
		"-q land " + run.ID + " --squash --allow-deletions --onto=--detach"}; !slices.Equal(d.lines, want) {
		t.Errorf("%q", d.lines)
	}
}

// A run at work has Stop and Intervene, behind the checks of every other act.
func TestLiveActs(t *testing.T) {
	s := newSite(t)
	d := &told{}
	s.Do = d.do
	looked := false
	s.watched(func(role.ImplementJob) {
		if looked {
			return
		}
		looked = true
		latest, err := s.Store.Run(context.Background(), record.Latest)
		if err != nil {
			t.Fatal(err)
		}
		at := "/run/" + latest.ID
		page := s.page(at)
		checkHTML(t, page)
		shows(t, page, "<code>git runr resume "+latest.ID+" --stop</code>", "This stops the run first")
		hides(t, page, at+"/do/resume", at+"/do/skip")
		for name, line := range map[string]string{
			"stop":      "-q resume " + latest.ID + " --stop",
			"intervene": "-q intervene " + latest.ID + " --reason manual_fix --note mind it",
		} {
			path := at + "/do/" + name
			token := url.Values{formTokenField: {s.formToken(nil)}}.Encode()
			s.ask("GET", path, "", s.asPerson()).want(404)
			s.ask("POST", path, "", s.asPerson(), formBody).want(403)
			s.ask("POST", path, token, formBody).want(401)
			s.ask("POST", path, token, s.asPerson(), formBody, "Sec-Fetch-Site: cross-site").want(403)
			d.lines = nil
			s.form(path, "note", "mind it").want(303)
			if !slices.Equal(d.lines, []string{line}) {
				t.Errorf("%s did %q", name, d.lines)
			}
		}
	})
	if !looked {
		t.Error("nobody looked")
	}
}

// A comment on a line of a run's diff is recorded by intervene, with the lines it is on, and shown there as long as
// these lines are compared.
func TestRunComments(t *testing.T) {
	s := newSite(t)
	run := s.stopped()
	at, ctx := "/run/"+run.ID, t.Context()
	var did []string
	s.Do = func(ctx context.Context, args ...string) (string, int) {
		did = args
		var spec runner.InterventionSpec
		if i := slices.Index(args, "--lines"); i < 0 || json.Unmarshal([]byte(args[i+1]), &spec.Lines) != nil {
			t.Fatalf("%q", args)
		}
		spec.Note = args[len(args)-1]
		if _, _, err := (&runner.Runner{Store: s.Store, Progress: &stubborn{}}).Intervene(ctx, run, spec); err != nil {
			t.Fatal(err)
		}
		return "", 0
	}
	page := s.page(at)
	checkHTML(t, page)
	shows(t, page, `data-run="`+run.ID+`"`, `id="editor"`, "for the next attempt")
	hides(t, page, "/viewed")
	comment := []string{"file", "a.txt", "side", "new", "start", "1", "end", "1", "from", "0", "to", "1",
		"comment", "--less\r\n<b>"}
	s.form(at+"/comment", append(slices.Clone(comment), "start", "99", "end", "99")...).want(400)
	s.form(at+"/comment", append(slices.Clone(comment), "comment", " ")...).want(400)
	s.ask("POST", at+"/comment", "", s.asPerson(), formBody).want(403)
	if did != nil {
		t.Fatalf("%q", did)
	}
	shown := s.form(at+"/comment?fragment=1", comment...).want(200).text
	shows(t, shown, `data-start="1"`, "--less")
	hides(t, shown, "<html", "Reply", "Answer", "copy-agent")
	shows(t, s.page(at+"?from=0&to=1"), "a.txt:1: --less", `id="intervention-1"`)
	shows(t, s.page(at+"/diff?from=0&to=1&path=a.txt&fragment=1"), `id="intervention-1"`)
	run, err := s.Store.Run(ctx, run.ID)
	if err != nil || len(run.Interventions) != 1 || run.Interventions[0].Lines.SelectedText == "" {
		t.Fatalf("%+v, %v", run.Interventions, err)
	}
	hides(t, s.page(at+"?from=0&to=0"), `id="intervention-1"`)
	if _, _, err := runner.AnswerRun(ctx, s.Store, run, runplan.ChoiceCommit); err != nil {
		t.Fatal(err)
	}
	hides(t, s.page(at), "data-run=")
	s.form(at+"/comment", comment...).want(409)
}
