package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"git-runr/loop"
)

// A page that could not be made since git was configured otherwise says what to type.
func TestFailTampered(t *testing.T) {
	err := &loop.TamperedError{Files: []string{"/r/.git/config"}, While: "check x ran", Undo: []string{"cp a b"}, Mark: "/r/.git/runr/tampered.json"}
	answer := httptest.NewRecorder()
	(&Server{}).fail(answer, httptest.NewRequest("GET", "/review/1", nil), err)
	for _, want := range []string{"/r/.git/config changed while check x ran", "<code>cp a b</code>", "<code>rm /r/.git/runr/tampered.json</code>"} {
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%q is not in:\n%s", want, answer.Body)
		}
	}
	if answer.Code != 409 {
		t.Error(answer.Code)
	}
}
