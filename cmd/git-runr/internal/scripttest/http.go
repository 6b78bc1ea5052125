package scripttest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
)

// askServer is `http STATUS METHOD DIR PATH [BODY]`: asks the server of the repository
// in DIR, which may be starting, and wants that status. The token of a program, or the
// cookie of a browser for a page, is sent along unless the path has one; stdout is the answer.
func askServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: http STATUS METHOD DIR PATH [BODY]")
	}
	body := ""
	if len(args) == 5 {
		body = args[4]
	}
	repo, err := gitstore.Open(context.Background(), ts.MkAbs(args[2]))
	ts.Check(err)
	defer repo.Close()
	at, err := Find(repo)
	ts.Check(err)
	status, answer, err := at.Ask(args[1], args[3], body)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), answer)
	if got := fmt.Sprint(status); got != args[0] {
		ts.Fatalf("%s %s: status %s, want %s\n%s", args[1], args[3], got, args[0], answer)
	}
}

// Find waits for the server of a repository to answer.
func Find(repo *gitstore.Repo) (Place, error) {
	address, secret, ok := screens.Await(context.Background(), repo, 20*time.Second)
	if !ok {
		return Place{}, fmt.Errorf("no server answers at %s", address.URL())
	}
	return Place{address, secret}, nil
}

// Place is where one server listens.
type Place struct {
	Address screens.Address
	Secret  screens.Secret
}

// Ask sends JSON, as a program does.
func (p Place) Ask(method, path, body string) (status int, answer string, err error) {
	return p.send(method, path, "application/json", body)
}

func (p Place) send(method, path, media, body string) (status int, answer string, err error) {
	r, err := http.NewRequest(method, strings.TrimSuffix(p.Address.URL(), "/")+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", media)
	switch {
	case strings.Contains(path, "token="):
	case strings.HasPrefix(path, "/api/"):
		r.Header.Set("Authorization", "Bearer "+p.Secret.Session())
	default:
		r.AddCookie(&http.Cookie{Name: fmt.Sprintf("runr_%d", p.Address.Port), Value: p.Secret.Session()})
	}
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	reply, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

// press is `press STATUS ACT [NOTE]`, or `press STATUS review/ACT FINDING`: what a browser sends when
// a button on the page of the newest run or review is pressed, whose server may be starting; stdout
// is the answer.
func press(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: press STATUS ACT [NOTE]")
	}
	repo, err := gitstore.Open(context.Background(), ts.MkAbs("."))
	ts.Check(err)
	defer repo.Close()
	at, err := Find(repo)
	ts.Check(err)
	of, act, named := strings.Cut(args[1], "/")
	if !named {
		of, act = "run", of
	}
	_, page, err := at.Ask("GET", "/"+of+"/latest", "")
	ts.Check(err)
	_, token, _ := strings.Cut(page, `data-token="`)
	token, _, _ = strings.Cut(token, `"`)
	form := url.Values{"form_token": {token}, "note": args[2:], "finding": args[2:]}
	status, answer, err := at.send("POST", "/"+of+"/latest/do/"+act, "application/x-www-form-urlencoded", form.Encode())
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), answer)
	if fmt.Sprint(status) != args[0] {
		ts.Fatalf("press %s: status %d, want %s\n%s", args[1], status, args[0], answer)
	}
}
