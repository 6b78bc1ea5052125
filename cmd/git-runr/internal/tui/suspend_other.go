//go:build !unix

package tui

import tea "charm.land/bubbletea/v2"

func suspend() tea.Msg { return tea.Suspend() }
