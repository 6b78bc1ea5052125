package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

// A page that fails because git's configuration was altered shows the commands to type.
func TestFailAltered(t *testing.T) {
	err := &gitstore.AlteredError{What: []string{".git/config (core.fsmonitor)"}, While: "check x ran"}
	answer, p := httptest.NewRecorder(), &pages{newSite(t).Server}
	p.handle(func(http.ResponseWriter, *http.Request) error { return err })(answer,
		httptest.NewRequest("GET", "/review/1", nil))
	for _, want := range []string{".git/config (core.fsmonitor) changed while check x ran", "<code>git runr guard</code>",
		"<code>git runr guard restore</code>"} {
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%q is not in:\n%s", want, answer.Body)
		}
	}
	if answer.Code != 409 {
		t.Error(answer.Code)
	}
}
