package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// FinishedWork is an executor's finished work on a task, in the JSON that orchestrators pass.
type FinishedWork struct {
	EntityType     string   `json:"entity_type"`
	Identifier     string   `json:"entity_identifier"`
	Title          string   `json:"entity_title"`
	DoneCriteria   string   `json:"done_criteria"`
	ExecutorResult string   `json:"executor_result"`
	Files          []string `json:"files_modified"`
	References     string   `json:"mosic_refs"`
	Config         struct {
		Enabled    *bool `json:"enabled"`
		MaxRetries *int  `json:"max_retries"`
	} `json:"config"`
}

// ReadFinishedWork parses a FinishedWork from JSON.
func ReadFinishedWork(text []byte) (work FinishedWork, err error) {
	return work, json.Unmarshal(text, &work)
}

// Disabled reports whether the work's own configuration disables review.
func (w FinishedWork) Disabled() bool { return w.Config.Enabled != nil && !*w.Config.Enabled }

// Plan fills in plan to review the work; see PlanContext. unchanged are listed files that did not change.
func (w FinishedWork) Plan(ctx context.Context, s *store.Store,
	plan *runplan.Plan) (left, unchanged []string, err error) {
	if most := w.Config.MaxRetries; most != nil {
		plan.Policy.MaxRetries = *most
		retries := slices.IndexFunc(plan.Settings, func(s runplan.Setting) bool { return s.Name == runplan.SettingRetries })
		plan.Settings[retries].Value, plan.Settings[retries].From = strconv.Itoa(*most), "the review context"
	}
	plan.Entity = runplan.Entity{Type: cmp.Or(w.EntityType, "task"), Identifier: w.Identifier, Title: w.Title}
	plan.DoneCriteria, plan.References = w.DoneCriteria, w.References
	plan.Task = strings.TrimSpace(w.Title + "\n\n" + w.DoneCriteria)
	if left, err = PlanContext(ctx, s, plan, w.ExecutorResult, w.Files); err != nil {
		return left, nil, err
	}
	return left, plan.Context.Unchanged(w.Files, s.Repo.WorkTree), nil
}
