package rewrite

// Session is what a client's session has done that changes what its statements
// mean. It is a value: a step to another state is another Session. A nil Session is
// one that has done nothing yet.
type Session struct {
	// key tells sessions apart in which one text may mean different things. It is
	// empty for a session that has done nothing.
	key string
}

// cacheKey is the same for sessions in which every text means the same.
func (s *Session) cacheKey() string {
	if s == nil {
		return ""
	}
	return s.key
}
