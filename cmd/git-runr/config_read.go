package main

import (
	"context"
	"errors"
	"git-runr/cmd/git-runr/internal/exit"
	"os"

	"git-runr/gitstore"
)

// readConfiguration reads every layer for repo.
func readConfiguration(ctx context.Context, repo *gitstore.Repo, getenv func(string) string) (*config, error) {
	in := configInput{Git: repo.Config, RepoPath: configName, UserPath: userConfigPath(getenv)}
	var err error
	if in.RepoFile, _, err = repoFile(ctx, repo); err != nil {
		return nil, exit.Problemf(exit.Usage, "read %s: %w", configName, err)
	}
	if in.UserPath != "" {
		in.UserFile, err = os.ReadFile(in.UserPath)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, exit.Problemf(exit.Usage, "read configuration: %w", err)
		}
	}
	return loadConfig(in)
}

// trusts reports whether the repository's commands are those that were approved.
func (s *session) trusts() bool {
	status, _ := s.trust().status(s.repo.CommonDir, s.conf.executables())
	return status == trustGiven
}

// approve trusts the repository's commands as they are now.
func (s *session) approve() error {
	return s.trust().approve(s.repo.CommonDir, s.conf.executables(), s.now())
}

func (s *session) trust() trustStore { return newTrustStore(s.getenv) }
