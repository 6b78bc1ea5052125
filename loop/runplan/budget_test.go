package runplan

import (
	"reflect"
	"testing"
)

func TestLimitsOfAResumption(t *testing.T) {
	typed, git := Setting{SettingCost, "1", "--max-cost"}, Setting{SettingCost, "5", "git config"}
	plan := Plan{Policy: Policy{Budget: Budget{Cost: 1, Tokens: 9}},
		Settings: []Setting{{SettingRetries, "2", "default"}, typed, {SettingTokens, "9", ".runr.toml"}}}
	for name, tc := range map[string]struct{ now, want RunLimits }{
		"what was typed stays, what is configured is that of now": {RunLimits{Budget: Budget{Cost: 5},
			Settings: []Setting{git}}, RunLimits{Budget: Budget{Cost: 1}, Settings: []Setting{typed}}},
		"where nothing is configured as well": {RunLimits{}, RunLimits{Budget: Budget{Cost: 1}, Settings: []Setting{typed}}},
		"until it is typed again": {RunLimits{Budget: Budget{Cost: 7},
			Settings: []Setting{{SettingCost, "7", "--max-cost"}}},
			RunLimits{Budget: Budget{Cost: 7}, Settings: []Setting{{SettingCost, "7", "--max-cost"}}}},
	} {
		got := plan.LimitsFrom(tc.now)
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
		resumed := plan
		resumed.SetLimits(got)
		if !reflect.DeepEqual(resumed.Limits(), tc.want) || resumed.Settings[0].Name != SettingRetries {
			t.Errorf("%s: recorded as %+v", name, resumed.Settings)
		}
	}
}
