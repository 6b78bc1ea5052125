//go:build unix

package agent

import (
	"slices"
	"strings"
	"testing"
)

// hostile returns an environment with every variable that must not pass and every one that
// may.
func hostile() []string {
	return []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C", "LC_CTYPE=C", "LC_TIME=C", "TERM=xterm", "TMPDIR=/t",
		"TZ=Asia/Tokyo",
		"GIT_DIR=/elsewhere", "GIT_INDEX_FILE=.git/index", "GIT_AUTHOR_NAME=A", "GIT_EDITOR=:", "GIT_SSH_COMMAND=x",
		"AWS_SECRET_ACCESS_KEY=s", "GITHUB_TOKEN=s", "ANTHROPIC_API_KEY=s", "MY_API_KEY=k", "MY_API_KEY_2=s",
		"LD_PRELOAD=/x.so", "BASH_ENV=/x", "BASH_FUNC_ls%%=() { :; }", "SSH_AUTH_SOCK=/s", "EDITOR=vi", "=C:=x",
		"no equals sign",
		"HTTP_PROXY=p", "http_proxy=p", "NO_PROXY=n", "SSL_CERT_FILE=c", "NODE_EXTRA_CA_CERTS=c",
		"GOFLAGS=-mod=mod", "GOPATH=/go", "CARGO_HOME=/c", "VIRTUAL_ENV=/v", "CI=true",
		"npm_config_registry=r", "NPM_CONFIG_CACHE=c", "npm_package_name=x", "NO_COLOR=", "GIT_RUNR_DEPTH=2",
	}
}

// always holds the variables that are set in any case.
var always = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_RUNR_DEPTH=3", "GIT_TERMINAL_PROMPT=0", "NO_COLOR=1"}

func TestEnviron(t *testing.T) {
	got := Environ(hostile(), []string{"MY_API_KEY", "NOT_SET", "GIT_SSH_COMMAND", "NO_COLOR", "GIT_RUNR_DEPTH"})
	want := append([]string{
		"HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C", "LC_CTYPE=C", "MY_API_KEY=k", "PATH=/bin", "TERM=xterm", "TMPDIR=/t",
		"TZ=Asia/Tokyo",
	}, always...)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCheckEnviron(t *testing.T) {
	got := CheckEnviron(hostile())
	want := append([]string{
		"HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C", "LC_CTYPE=C", "PATH=/bin", "TERM=xterm", "TMPDIR=/t", "TZ=Asia/Tokyo",
		"HTTP_PROXY=p", "http_proxy=p", "NO_PROXY=n", "SSL_CERT_FILE=c", "NODE_EXTRA_CA_CERTS=c",
		"GOFLAGS=-mod=mod", "GOPATH=/go", "CARGO_HOME=/c", "VIRTUAL_ENV=/v", "CI=true",
		"npm_config_registry=r", "NPM_CONFIG_CACHE=c",
	}, always...)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEnvironDepth(t *testing.T) {
	for value, want := range map[string]string{"": "1", "0": "1", "7": "8", "-3": "1", "many": "1",
		"99999999999999999999": "1"} {
		if got := lastValue(Environ([]string{DepthVar + "=" + value}, nil), DepthVar); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if got := lastValue(Environ(nil, nil), DepthVar); got != "1" {
		t.Errorf("not set: %q", got)
	}
}

// The last of several values counts, as it does for exec.
func TestEnvironDuplicates(t *testing.T) {
	got := Environ([]string{"HOME=/a", "HOME=/b"}, []string{"HOME", "HOME"})
	if n := strings.Count(strings.Join(got, "\n"), "HOME="); n != 1 || lastValue(got, "HOME") != "/b" {
		t.Errorf("%q", got)
	}
}

// A child sees exactly the given environment and the mark.
func TestRunEnvironmentIsComplete(t *testing.T) {
	t.Setenv("AGENT_TEST_SECRET", "leaked")
	c := helper("env")
	r := mustRun(t, t.Context(), c)
	var got []string
	for line := range strings.Lines(string(r.Stdout)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, spawnVar+"=") {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	if slices.Sort(c.Env); !slices.Equal(got, c.Env) {
		t.Errorf("got  %q\nwant %q", got, c.Env)
	}
}
