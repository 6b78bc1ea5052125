package record

import (
	"git-runr/loop/duration"
	"git-runr/loop/plan"
	"git-runr/loop/spend"
)

// What a run is told, and what calls took: see packages plan and spend.
type (
	Duration = duration.Duration

	RunPlan   = plan.RunPlan
	Entity    = plan.Entity
	Context   = plan.Context
	Check     = plan.Check
	Policy    = plan.Policy
	WorkStep  = plan.WorkStep
	StepKind  = plan.StepKind
	Threshold = plan.Threshold
	Choice    = plan.Choice
	Scope     = plan.Scope
	Setting   = plan.Setting
	Budget    = plan.Budget
	DayBudget = plan.DayBudget
	RunLimits = plan.RunLimits

	Usage    = spend.Usage
	Session  = spend.Session
	Spent    = spend.Spent
	Call     = spend.Call
	Spending = spend.Spending
)

const (
	StepAgent         = plan.StepAgent
	StepCheck         = plan.StepCheck
	StepReview        = plan.StepReview
	ThresholdVerdict  = plan.ThresholdVerdict
	ThresholdWarning  = plan.ThresholdWarning
	ThresholdCritical = plan.ThresholdCritical
	ChoiceAsk         = plan.ChoiceAsk
	ChoiceCommit      = plan.ChoiceCommit
	ChoiceSkip        = plan.ChoiceSkip
	ChoiceStop        = plan.ChoiceStop

	SettingRetries = plan.SettingRetries
	SettingDeny    = plan.SettingDeny
)

// ResumedPayload is what a resumption changes of a run's limits.
type ResumedPayload struct {
	Limits *RunLimits `json:"limits,omitempty"` // nil: they stay
}
