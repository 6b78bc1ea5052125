package agent

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
)

// DepthVar counts the git-runr processes above a process. Our hooks do nothing when it is
// set: an agent's commits must not start reviews.
const DepthVar = "GIT_RUNR_DEPTH"

// Environ returns the whole environment of an agent from base (KEY=VALUE, as os.Environ
// returns it): PATH, HOME, LANG, LC_ALL, LC_CTYPE, TERM, TMPDIR, TZ and the names in
// passthrough, nothing else. GIT_ variables are never copied, because those of a hook
// point at another repository. Environ sets GIT_OPTIONAL_LOCKS, GIT_TERMINAL_PROMPT,
// NO_COLOR and DepthVar itself. The result is sorted.
func Environ(base, passthrough []string) []string {
	allowed := slices.Concat(withGroups("@common"), passthrough)
	return environ(base, func(name string) bool { return slices.Contains(allowed, name) })
}

// CheckEnviron returns the environment of a check: that of an agent, and the variables of
// toolchains, caches, proxies, npm, pip and uv.
func CheckEnviron(base []string) []string {
	allowed := withGroups("@common", "@network", "@toolchain")
	return environ(base, func(name string) bool {
		tool := strings.HasPrefix(strings.ToLower(name), "npm_config_") || strings.HasPrefix(name, "PIP_") ||
			strings.HasPrefix(name, "UV_")
		return tool || slices.Contains(allowed, name)
	})
}

func environ(base []string, allowed func(name string) bool) []string {
	vars := map[string]string{}
	for _, kv := range base {
		name, value, ok := strings.Cut(kv, "=")
		if ok && allowed(name) && !strings.HasPrefix(name, "GIT_") {
			vars[name] = value
		}
	}
	vars["GIT_OPTIONAL_LOCKS"] = "0"
	vars["GIT_TERMINAL_PROMPT"] = "0"
	vars["NO_COLOR"] = "1"
	vars[DepthVar] = strconv.Itoa(depth(base) + 1)
	return each.Of(slices.Sorted(maps.Keys(vars)), func(name string) string { return name + "=" + vars[name] })
}

// depth returns the value of DepthVar in env, 0 if it is not a count.
func depth(env []string) int {
	n, err := strconv.Atoi(lastValue(env, DepthVar))
	if err != nil || n < 0 || n > 1000 {
		return 0
	}
	return n
}
