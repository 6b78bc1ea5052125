package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// valueKind is a type of values, with its parsers.
type valueKind[T any] struct {
	wants string                    // completes "must be …"
	parse func(raw any) (T, bool)   // from a TOML value
	text  func(values []string) any // from values of git config or a flag, to a TOML value
}

var (
	boolKind      = valueKind[bool]{"true or false", parseBool, textTruth}
	agentKind     = stringKind("a name, or NAME@MODEL", isAgent)
	reviewersKind = stringKind("a name or NAME@MODEL, or several, separated by commas", isAgents)
	textKind      = stringKind("text", isText)
	commandKind   = valueKind[string]{"a command line for sh, or a list of words", parseCommand, textLast}
	modelKind     = stringKind("the name of a model", isModel)
	remoteKind    = stringKind("the name of a configured remote", isRemote)
	peopleKind    = listKind("addresses or names of teams", isLine)
	agentsKind    = fewKind("names of agents", isName)
	dollarsKind   = valueKind[float64]{"an amount of US dollars such as 2.50, below a million", parseDollars, textLast}
	tokensKind    = numberKind(0, 1_000_000_000_000)
	namesKind     = listKind("names", isCheckName)
	placesKind    = listKind("patterns of paths below the top, without .. and **", isPlace)
	textsKind     = listKind("text", isText)
	variablesKind = listKind("names of environment variables, without values", isVariable)
	argvKind      = valueKind[[]string]{`words such as "my-agent --flag", or a list such as ["my-agent", "--flag"] if they have quotes or shell characters`, parseArgv, textList}
	durationKind  = durationsFrom(0, "a duration such as \"90s\", \"10m\", \"2h\" or \"30d\"")
	timeoutKind   = durationsFrom(1, "a duration above 0 such as \"90s\", \"10m\", \"2h\" or \"30d\"")
)

func stringKind(wants string, ok func(string) bool) valueKind[string] {
	parse := func(raw any) (string, bool) {
		s, isString := raw.(string)
		return s, isString && ok(s)
	}
	return valueKind[string]{wants, parse, textLast}
}

// Levels are the usual values of --require and hooks.pre_push_require, for completion.
var Levels = []string{string(lineage.LevelChecked), string(lineage.LevelReviewed), string(lineage.LevelApproved),
	"approved=2", "passed"}

var levelKind = stringKind(`"checked", "reviewed", "approved", "approved=N" or "passed"`, IsLevel)

// IsLevel reports whether --require and hooks.pre_push_require accept text: the levels of package lineage,
// approved=N, and passed, an old word for reviewed.
func IsLevel(text string) bool { return bar(text).Level != "" }

// bar parses a level. For any other text it returns the zero Bar.
func bar(text string) lineage.Bar {
	level, number, counted := strings.Cut(text, "=")
	if text == "passed" {
		level = string(lineage.LevelReviewed)
	}
	n, err := strconv.Atoi(number)
	if !slices.Contains(lineage.Levels, lineage.Level(level)) ||
		counted && (level != string(lineage.LevelApproved) || err != nil || n < 1 || n > maxApprovals) {
		return lineage.Bar{}
	}
	return lineage.Bar{Level: lineage.Level(level), Approvals: n}
}

// maxApprovals is the maximum N in approved=N.
const maxApprovals = 100

// Bar returns the bar for a level and commits on base, which may be "". The rules for approvals come from the
// repository's file at base, so that a change cannot lower them. The checkout's file can only make them stricter.
func (c *Config) Bar(ctx context.Context, level string, base gitstore.ID) (lineage.Bar, error) {
	b, broken, err := c.KnownBar(ctx, level, base)
	if err == nil && broken != nil {
		err = exit.Problemf(exit.Usage, "%w; nobody knows which approvals it asks for", broken).
			WithHint("git push --no-verify   pushes a commit that repairs the file, past the gate")
	}
	return b, err
}

// KnownBar is Bar for what shows or requests reviews and lets nothing pass: if the file at base cannot be understood,
// broken says why, and the checkout's rules count alone.
func (c *Config) KnownBar(ctx context.Context, level string, base gitstore.ID) (b lineage.Bar, broken, err error) {
	b, at := bar(level), c
	if b.Base = base; base != "" {
		if at, broken, err = c.at(ctx, base); err != nil {
			return b, nil, err
		}
		if broken != nil {
			at = c
		}
	}
	b.Owners = c.Review.Owners || at.Review.Owners
	for _, verify := range lineage.Verifies {
		if string(verify) == c.Sync.Verify || string(verify) == at.Sync.Verify {
			b.Verify = verify
		}
	}
	b.Signers, b.Teams = at.Sync.Signers, at.Teams
	return b, broken, nil
}

// ApprovesByRule reports whether an approval needs more than one person who did not write the change: several, owners
// or signatures.
func (c *Config) ApprovesByRule() bool {
	return c.Review.Owners || strings.Contains(c.Hooks.PrePushRequire, "=") ||
		!slices.Contains([]string{"", string(lineage.VerifyOff)}, c.Sync.Verify)
}

// BrokenAt returns an error that says why the repository's file in a commit cannot be understood, or nil.
func (c *Config) BrokenAt(ctx context.Context, commit gitstore.ID) error {
	_, broken, err := c.at(ctx, commit)
	return cmp.Or(broken, err)
}

// at returns the configuration with the repository's file as it is in a commit, or why that cannot be understood.
func (c *Config) at(ctx context.Context, commit gitstore.ID) (at *Config, broken, err error) {
	data, err := c.repo.Blob(ctx, commit, FileName)
	if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
		return nil, nil, err
	}
	in := input{RepoFile: data, RepoPath: commit.Short() + ":" + FileName, Git: c.repo.Config}
	for _, file := range c.files {
		if path, user := strings.CutPrefix(file.layer, originUser); user {
			in.UserPath, in.UserFile = path, file.data
		}
	}
	at, broken = load(in)
	return at, broken, nil
}

func oneOf(allowed ...string) valueKind[string] {
	quoted := each.Of(allowed, strconv.Quote)
	last := len(quoted) - 1
	wants := strings.TrimPrefix(strings.Join(quoted[:last], ", ")+" or ", " or ") + quoted[last]
	return stringKind(wants, func(s string) bool { return slices.Contains(allowed, s) })
}

// listKind accepts a list of strings, or one string as a list of one.
func listKind(of string, ok func(string) bool) valueKind[[]string] {
	parse := func(raw any) ([]string, bool) {
		if s, one := raw.(string); one {
			raw = []any{s}
		}
		items, isList := stringList(raw)
		return items, isList && !slices.ContainsFunc(items, func(s string) bool { return !ok(s) })
	}
	return valueKind[[]string]{"a list of " + of, parse, textList}
}

// fewKind is listKind with at most ten elements.
func fewKind(of string, ok func(string) bool) valueKind[[]string] {
	k := listKind(of, ok)
	return valueKind[[]string]{"a list of at most 10 " + of, func(raw any) ([]string, bool) {
		items, ok := k.parse(raw)
		return items, ok && len(items) <= 10
	}, k.text}
}

func numberKind(low, high int64) valueKind[int64] {
	parse := func(raw any) (int64, bool) {
		n, ok := raw.(int64)
		return n, ok && low <= n && n <= high
	}
	return valueKind[int64]{fmt.Sprintf("a whole number from %d to %d", low, high), parse, textNumber}
}

// maxDuration is the maximum duration, so that sums of a few do not overflow.
const maxDuration = 100 * 365 * 24 * time.Hour

func durationsFrom(low duration.Duration, wants string) valueKind[duration.Duration] {
	parse := func(raw any) (duration.Duration, bool) {
		s, ok := raw.(string)
		if !ok || len(s) > len("99999d") && strings.HasSuffix(s, "d") {
			return 0, false
		}
		var d duration.Duration
		err := d.UnmarshalText([]byte(s))
		return d, err == nil && low <= d && time.Duration(d) <= maxDuration
	}
	return valueKind[duration.Duration]{wants, parse, textLast}
}

// parseDollars parses a TOML number or a text.
func parseDollars(raw any) (amount float64, ok bool) {
	switch v := raw.(type) {
	case float64:
		amount, ok = v, true
	case int64:
		amount, ok = float64(v), true
	case string:
		parsed, err := strconv.ParseFloat(v, 64)
		amount, ok = parsed, err == nil && strings.Trim(v, "0123456789.") == ""
	}
	return amount, ok && 0 <= amount && amount < 1e6
}

// parseCommand parses a command line for sh, or converts a list of words into one.
func parseCommand(raw any) (string, bool) {
	if line, is := raw.(string); is {
		return line, isText(line)
	}
	words, ok := parseArgv(raw)
	if !ok {
		return "", false
	}
	return safetext.CommandLine(words...)
}

func parseArgv(raw any) ([]string, bool) {
	if line, is := raw.(string); is {
		words := strings.Fields(line)
		return words, len(words) > 0 && isText(line) && !strings.ContainsAny(line, "\"'\\`$|&;<>()*?[]#~\n")
	}
	items, ok := stringList(raw)
	if !ok || len(items) == 0 || items[0] == "" {
		return nil, false
	}
	return items, !slices.ContainsFunc(items, func(s string) bool { return strings.Contains(s, "\x00") })
}

func parseBool(raw any) (v, ok bool) { v, ok = raw.(bool); return v, ok }

func stringList(raw any) ([]string, bool) {
	items, ok := raw.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		s, isString := item.(string)
		ok = ok && isString
		out[i] = s
	}
	return out, ok
}

func textLast(values []string) any { return values[len(values)-1] }

func textList(values []string) any {
	return each.Of(values, func(v string) any { return v })
}

// textTruth parses a truth value as git does.
func textTruth(values []string) any {
	last := values[len(values)-1]
	switch strings.ToLower(last) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0", "":
		return false
	}
	return last
}

func textNumber(values []string) any {
	last := values[len(values)-1]
	if n, err := strconv.ParseInt(last, 10, 64); err == nil {
		return n
	}
	return last
}

// isText reports whether s is not blank and can be passed to a program.
func isText(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.Contains(s, "\x00")
}

// isLine reports whether s is one line of printable text.
func isLine(s string) bool { return isText(s) && s == safetext.Line(s) }

// isPlace reports whether s is a pattern of paths below the top and outside of .git.
func isPlace(s string) bool {
	_, err := path.Match(s, "")
	return err == nil && isText(s) && filepath.IsLocal(s) && path.Clean(s) == s && s != "." &&
		!strings.Contains(s, "**") && !strings.HasPrefix(strings.ToLower(s)+"/", ".git/")
}

// isAgents reports whether s is a list of agents separated by commas.
func isAgents(s string) bool {
	return !slices.ContainsFunc(strings.Split(s, ","), func(name string) bool { return !isAgent(name) })
}

func isName(s string) bool { return isMadeOf(s, "._-") }

// isCheckName accepts the names of detected checks, such as test:some/dir.
func isCheckName(s string) bool { return isMadeOf(s, "._-:/") }

// isModel ensures that the name of a model is one word and not an option.
func isModel(s string) bool { return isMadeOf(s, "._-:/@+[]") }

// isAgent accepts the name of an agent, with or without a model.
func isAgent(s string) bool {
	name, model, chosen := strings.Cut(s, "@")
	return isName(name) && (!chosen || isModel(model))
}

// isRemote accepts only names. With a URL or a path, the repository's file could choose where data is pushed.
func isRemote(s string) bool { return isMadeOf(s, "._-/") && !strings.Contains(s, "..") }

func isVariable(s string) bool {
	return isMadeOf(s, "_") && (s[0] < '0' || '9' < s[0]) || strings.HasPrefix(s, "_") && isMadeOf("x"+s, "_")
}

// isMadeOf reports whether s consists of letters, digits and others, begins with a letter or digit, and has at most
// 100 bytes.
func isMadeOf(s, others string) bool {
	return s != "" && len(s) <= 100 && strings.IndexByte(alphanumeric, s[0]) >= 0 &&
		strings.Trim(s, alphanumeric+others) == ""
}

// describe returns a rejected value for a message.
func describe(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(prose.CutColumns(v, 61))
	case bool, int64, float64:
		return fmt.Sprint(v)
	case []any:
		return "this list"
	case map[string]any, []map[string]any:
		return "a table"
	}
	return "a date or time"
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
