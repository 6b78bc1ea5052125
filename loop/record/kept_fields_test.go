package record

import (
	"reflect"
	"slices"
	"testing"
)

// notKept are the fields that a kept run or review lacks, with why the fold does not need them.
var notKept = map[string]string{
	"CheckResult.Again":     "of a check that is being run, and in no event",
	"Evidence.Text":         "of a call, and in no event",
	"Verification.Unproven": "set where signatures count, which keeps nothing",
	"Voice.Unproven":        "set where signatures count, which keeps nothing",
	"Voice.Unsigned":        "set where signatures count, which keeps nothing",
	"Stop.Answered":         "filled in by the one who shows it",
	"Stop.NotAsIs":          "filled in by the one who shows it",
	"Review.early":          "a review without its request is not kept",
	"Review.alike":          "made anew by join",
	"Review.panel":          "made anew by join",
	"Review.same":           "made anew by join",
	"Review.refusing":       "filled in by Carrying",
	"Review.others":         "in keptReview",
	"Review.requestEvent":   "in keptReview",
	"Review.withheld":       "in keptReview",
	"Run.Began":             "in keptRun",
	"Run.Last":              "in keptRun",
	"Run.news":              "in keptRun",
	"Run.sameStops":         "in keptRun",
}

// TestKeptFields: whatever a fold stores is in the form that is kept, or is listed in notKept.
func TestKeptFields(t *testing.T) {
	var missing []string
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(at reflect.Type) {
		switch at.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(at.Elem())
		case reflect.Map:
			walk(at.Key())
			walk(at.Elem())
		case reflect.Struct:
			if seen[at] || at.PkgPath() == "time" {
				return
			}
			seen[at] = true
			for i := range at.NumField() {
				field := at.Field(i)
				name := at.Name() + "." + field.Name
				if !field.Anonymous && (!field.IsExported() || field.Tag.Get("json") == "-") {
					missing = append(missing, name)
					continue
				}
				walk(field.Type)
			}
		}
	}
	walk(reflect.TypeFor[Review]())
	walk(reflect.TypeFor[Run]())
	slices.Sort(missing)
	for _, name := range missing {
		if notKept[name] == "" {
			t.Errorf("%s is not kept", name)
		}
	}
	for name := range notKept {
		if !slices.Contains(missing, name) {
			t.Errorf("%s is kept", name)
		}
	}
}
