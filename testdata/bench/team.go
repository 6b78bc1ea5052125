package main

import "fmt"

// team measures fifty writers in one remote, and three clones of it.
func (b *bench) team() {
	if b.events == 0 {
		return
	}
	h := b.manyWriters()
	remote := b.scratch("remote.git")
	b.must(b.work, "cp", "-r", h.Dir+"/.git", remote)
	b.must(remote, "git", "config", "core.bare", "true")
	b.must(remote, "git", "config", "--unset", "runr.writer")
	defer b.remove(remote)
	of := measured{size: fmt.Sprintf("%d events, %d writers", h.Events, h.Writers)}
	var clones []shared
	for i := range 3 {
		s := b.clone(remote)
		defer b.remove(s.dir)
		s.tell("team: first sync, clone", i, of, s.sync())
		clones = append(clones, s)
	}
	b.says(clones[2].dir, []string{b.bin, "inbox", "list", "--json", "--limit", "1", "--archived", "--status", "all"},
		fmt.Sprintf(`"total":%d`, h.Reviews))
	clones[0].must(clones[0].dir, b.bin, "inbox", "claim", h.waitingReview(0), "--as", "chat")
	for i, s := range clones {
		s.tell("team: sync after one event, clone", i, of, s.sync())
	}
	b.says(clones[1].dir, []string{b.bin, "inbox", "list", "--status", "claimed", "--archived", "--json"}, `"total":1`)
	for i, s := range clones {
		s.tell("team: sync, nothing new, clone", i, of, s.sync())
	}
}

// clone makes a fresh clone that counts its transfers. A clone by path would copy git-runr's objects as well, and
// have nothing to fetch.
func (b *bench) clone(remote string) shared {
	s := shared{b, b.scratch("clone"), remote}
	b.must(b.work, "git", "clone", "-q", "file://"+remote, s.dir)
	s.listen()
	return s
}

// tell adds a row with the transfers of a sync.
func (s shared) tell(what string, i int, of measured, u usage) {
	objects, sent, got := s.moved()
	s.counted(fmt.Sprintf("%s %d", what, i+1), of, "",
		fmt.Sprintf("%s; got %s, sent %d objects, %s", told(u), bytesText(float64(got)), objects, bytesText(float64(sent))),
		"", true)
}
