package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/complete"
	"github.com/git-runr/git-runr/loop/safetext"
)

// completeCommand is what the completion scripts of shells call.
func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name: "complete", Hidden: true, Usage: "print what the last word may be", ArgsUsage: "-- WORD…",
		Description: "A line for each: the word, a tab, what it means. A line \":files\" or \":dirs\" asks the shell for those.",
		Action:      p.action(completeWord),
	}
}

// completeWord fails at nothing: somebody is in the middle of a line.
func completeWord(s *session) error {
	s.quiet = true
	words := s.Args().Slice()
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	want := complete.Of(s.app(), words)
	if want.Dir != "" {
		s.dir = want.Dir
	}
	found := want.Words
	for _, kind := range want.Kinds {
		found = append(found, s.values(want, kind)...)
	}
	told := map[string]bool{}
	for _, word := range found {
		if told[word.Value] {
			continue
		}
		told[word.Value] = true
		if strings.HasPrefix(word.Value, ":") || strings.HasPrefix(word.Value, want.Current) {
			safetext.Fprintf(s.out, "%s", want.Before+word.Value)
			safetext.Fprintf(s.out, "\t%s\n", word.Means)
		}
	}
	return nil
}

// values are what a kind stands for, here; none where that cannot be told.
func (s *session) values(want complete.Want, kind string) []complete.Word {
	switch kind {
	case "COMMAND":
		return complete.Commands(s.app().Commands)
	case "TOPIC":
		var words []complete.Word
		for _, topic := range topics() {
			words = append(words, complete.Word{Value: topic.Name, Means: topic.Usage})
		}
		return words
	}
	if fixed := want.Fixed(kind); len(fixed) > 0 {
		return fixed
	}
	store, err := s.open()
	if err != nil {
		return nil
	}
	return want.In(s.ctx, store, s.getenv, kind)
}
