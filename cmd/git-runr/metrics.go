package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/when"
	"github.com/git-runr/git-runr/diagnose"
)

// metricsPeriod is how far metrics look back unless --since says otherwise.
const metricsPeriod = 30 * 24 * time.Hour

func (p *program) metricsCommand() *cli.Command {
	return &cli.Command{
		Name: "metrics", Usage: "what the runs and reviews of a period came to",
		Description: "Rounds to pass, stops by reason, time per step, findings by severity, and how long reviews took.\n" +
			"Without --since: the last 30 days. A date is that day at midnight; --until a date includes that day.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "`WHEN` the period begins: 7d, 12h, 2026-01-31, or RFC 3339"},
			&cli.StringFlag{Name: "until", Usage: "`WHEN` it ends: the same; now without it"},
		},
		Action: p.action(metrics),
	}
}

func metrics(s *session) error {
	if s.NArg() > 0 {
		return exit.Problemf(exit.Usage, "metrics takes no argument %q", s.Args().First()).WithHint("git runr metrics --since 7d")
	}
	since, until, err := s.period()
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	doc, err := diagnose.Measure(s.ctx, store, since, until)
	if err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) { screen.Document(w, doc.Text()) })
}

// period is what --since and --until say.
func (s *session) period() (since, until time.Time, err error) {
	now := s.now()
	since, until = now.Add(-metricsPeriod), now.Add(time.Millisecond) // what happens now is in it
	if text := s.String("until"); text != "" {
		if until, err = moment(text, now, true); err != nil {
			return since, until, err
		}
		since = until.Add(-metricsPeriod)
	}
	if text := s.String("since"); text != "" {
		if since, err = moment(text, now, false); err != nil {
			return since, until, err
		}
	}
	if !since.Before(until) {
		return since, until, exit.Problemf(exit.Usage, "the period begins (%s) after it ends (%s)", since.Format(time.DateTime), until.Format(time.DateTime))
	}
	return since, until, nil
}

// moment reads a point in time. The end of a period that is a date is the end of that day.
func moment(text string, now time.Time, end bool) (time.Time, error) {
	at, day, ok := when.Parse(text, now)
	if !ok {
		return at, exit.Problemf(exit.Usage, "%q is no time such as 7d, 12h, 2026-01-31 or 2026-01-31T12:00:00Z", text)
	}
	if end && day {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}
