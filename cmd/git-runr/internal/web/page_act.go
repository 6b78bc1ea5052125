package web

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/loop/record"
)

// runAct is an action on a run, and the command that does it.
type runAct struct {
	Name    string // last part of its address
	Label   string
	Command string   // as typed
	GivesUp string   // text to confirm first; "" if no confirmation is needed
	Note    bool     // it needs a note about what was done
	Stops   bool     // the run is executing, and is stopped first
	Reason  string   // for a note: its reason, taken from the diagnosis
	Here    string   // the branch to land on by default; "" for a detached HEAD
	Onto    []string // other branches to land on
	Run     string
	Token   string // of its form
	args    []string
	shown   bool // next to a line of the diagnosis
}

// actsOf returns the actions that the present state of the run allows.
func (p *pages) actsOf(ctx context.Context, run record.Run) ([]*runAct, error) {
	if p.Do == nil || run.Status == "" {
		return nil, nil
	}
	allowed, err := shown.RunActsOf(ctx, p.Store, run)
	if err != nil {
		return nil, err
	}
	var acts []*runAct
	offer := func(ok bool, act runAct, args ...string) {
		if ok {
			act.Run, act.Token, act.args = run.ID, p.formToken(nil), args
			act.Command = "git runr " + strings.Join(args, " ")
			acts = append(acts, &act)
		}
	}
	offer(allowed.Stop, runAct{Name: "stop", Label: "Stop"}, "resume", run.ID, "--stop")
	offer(allowed.Resume, runAct{Name: "resume", Label: "Resume"}, "resume", run.ID)
	offer(allowed.Accept, runAct{Name: "commit", Label: "Accept"}, "resume", run.ID, "--commit")
	offer(allowed.Skip, runAct{Name: "skip", Label: "Skip",
		GivesUp: "The run ends without a result; its branch stays."}, "resume", run.ID, "--skip")
	intervene := runAct{Name: "intervene", Label: "Intervene", Note: true, Stops: allowed.Stop, Reason: "manual_fix"}
	offer(allowed.Intervene, intervene, "intervene", run.ID, "--reason", intervene.Reason, "--note", `"..."`)
	if allowed.Land {
		land := runAct{Name: "land", Label: "Land"}
		if land.Here, land.Onto, err = p.branches(ctx); err != nil {
			return nil, err
		}
		offer(true, land, "land", run.ID)
	}
	offer(allowed.Abort, runAct{Name: "abort", Label: "Abort",
		GivesUp: "The run is given up and its working tree removed; its branch stays."}, "abort", run.ID)
	return acts, nil
}

// branches returns the current branch, or "", and the others except those of runs.
func (p *pages) branches(ctx context.Context) (here string, others []string, err error) {
	if here, err = p.repo.Branch(ctx); err != nil {
		return "", nil, err
	}
	refs, err := p.repo.Refs(ctx, "refs/heads/")
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if name := strings.TrimPrefix(ref, "refs/heads/"); ref != here && !strings.HasPrefix(name, "runr/") {
			others = append(others, name)
		}
	}
	return strings.TrimPrefix(here, "refs/heads/"), others, err
}

// Act returns the action for a command in the diagnosis, or nil.
func (v *runView) Act(command string) *runAct {
	for _, act := range v.acts {
		if command == act.Command || act.Note && strings.HasPrefix(command, "git runr intervene ") {
			act.shown = true
			if _, reason, ok := strings.Cut(command, " --reason "); ok {
				act.Reason, _, _ = strings.Cut(reason, " ")
			}
			return act
		}
	}
	return nil
}

// MoreActs returns the actions that are not shown next to a line of the diagnosis.
func (v *runView) MoreActs() []*runAct {
	return slices.DeleteFunc(slices.Clone(v.acts), func(act *runAct) bool { return act.shown })
}

// postAct runs the command of an action as if it were typed in the repository.
func (p *pages) postAct(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("act")
	run, err := p.Store.Run(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	acts, err := p.actsOf(ctx, run)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(acts, func(act *runAct) bool { return act.Name == name })
	if i < 0 {
		return noAct(run)
	}
	target := url.URL{Path: "/run/" + run.ID}
	args := acts[i].args
	switch {
	case acts[i].Note:
		args[3] = cmp.Or(r.PostForm.Get("reason"), args[3])
		args[5] = strings.ReplaceAll(r.PostForm.Get("note"), "\r\n", "\n")
	case name == "resume":
		events, err := p.Store.RunEvents(ctx, run.ID)
		if err != nil {
			return err
		}
		args = append(args, "--detached") // an agent runs longer than the request
		target.RawQuery = "resumed=" + strconv.Itoa(len(events))
	case name == "land":
		args = append(args, landingOptions(r.PostForm)...)
	}
	if err := refusal(p.Do(ctx, append([]string{"-q"}, args...)...)); err != nil {
		return err
	}
	http.Redirect(w, r, target.String(), http.StatusSeeOther)
	return nil
}

func noAct(run record.Run) error {
	return &requestError{status: http.StatusConflict, message: "run " + run.ID + " does not allow that now",
		hint: []string{"git runr show " + run.ID}}
}

// postSync syncs with the remote and returns to the page that asked for it.
func (p *pages) postSync(w http.ResponseWriter, r *http.Request) error {
	if p.Do == nil {
		return errNoPage
	}
	if err := refusal(p.Do(r.Context(), "-q", "sync")); err != nil {
		return err
	}
	back := "/" + strings.TrimLeft(r.PostForm.Get("back"), "/\\")
	http.Redirect(w, r, (&url.URL{Path: back}).String(), http.StatusSeeOther)
	return nil
}

// landingOptions returns the options chosen in the form.
func landingOptions(form url.Values) []string {
	var options []string
	for _, flag := range []string{"squash", "allow-deletions"} {
		if form.Get(flag) != "" {
			options = append(options, "--"+flag)
		}
	}
	if onto := form.Get("onto"); onto != "" {
		options = append(options, "--onto="+onto)
	}
	return options
}

// refusal returns the error in a command's output, or nil if it succeeded. A non-zero status without an error message
// is the command's result.
func refusal(out string, status int) error {
	_, problem, refused := strings.Cut("\n"+out, "\ngit-runr: ")
	if !refused || status == int(exit.OK) {
		return nil
	}
	if exit.Status(status) == exit.Bug {
		return errors.New(problem)
	}
	message, hint, _ := strings.Cut(strings.TrimSpace(problem), "\n")
	return &requestError{status: cmp.Or(statuses[exit.Status(status)], http.StatusConflict), message: message,
		hint: commandsOf(strings.Split(hint, "\n"))}
}

// commandsOf returns the commands in the hints of an error, each with three blanks and its purpose behind it if the
// line before says what it does.
func commandsOf(hints []string) (commands []string) {
	what := ""
	for _, line := range hints {
		said := strings.TrimSpace(line)
		switch purpose, introduces := strings.CutSuffix(said, ":"); {
		case introduces:
			what = "   " + purpose
		case said != "":
			commands = append(commands, said+what)
			what = ""
		}
	}
	return commands
}
