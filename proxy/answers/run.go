package answers

// running is what a statement is run for: a key, and the state in which it is read.
type running struct {
	key   Key
	state string
}

// Run is a statement that one asker runs while others wait for its answer. It belongs to a store,
// whose lock guards it.
type Run struct {
	of     running
	wakers []func()
	ended  bool
}

// Run begins the run of a statement, or joins the one that there is. First says that the caller is
// to run it, and to call End; else wake is called once, by whoever ends it.
func (s *Store) Run(key Key, state string, wake func()) (run *Run, first bool) {
	of := running{key, state}
	s.mu.Lock()
	defer s.mu.Unlock()
	if run = s.runs[of]; run != nil {
		run.wakers = append(run.wakers, wake)
		s.shared.Add(1)
		return run, false
	}
	run = &Run{of: of}
	s.runs[of] = run
	return run, true
}

// Lead begins the run of a statement if there is none; nil if there is one.
func (s *Store) Lead(key Key, state string) *Run {
	of := running{key, state}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[of] != nil {
		return nil
	}
	s.runs[of] = &Run{of: of}
	return s.runs[of]
}

// End ends a run, whatever came of it, and wakes those who wait for it. Further calls do nothing.
func (s *Store) End(run *Run) {
	s.mu.Lock()
	if run.ended {
		s.mu.Unlock()
		return
	}
	run.ended = true
	delete(s.runs, run.of)
	wakers := run.wakers
	run.wakers = nil
	s.mu.Unlock()
	for _, wake := range wakers {
		wake()
	}
}
