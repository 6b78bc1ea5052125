package nearest

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"max_retries", "reviewer", "implementer", "profile"}
	tests := []struct{ word, want string }{
		{"max_retrys", "max_retries"},
		{"maxretries", "max_retries"},
		{"reviwer", "reviewer"},
		{"rveiewer", "reviewer"},
		{"profiles", "profile"},
		{"timeout", ""},
		{"x", ""},
		{"", ""},
		{"profile", ""},
	}
	for _, tt := range tests {
		if got := To(tt.word, candidates); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
