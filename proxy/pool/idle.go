package pool

import (
	"container/list"
	"time"
)

// idleSet are the connections that no session has, all of them reset. It is not safe for
// concurrent use.
type idleSet struct {
	all    *list.List               // of *conn, the one that has been idle for longest first
	groups map[sameGroup]*list.List // those that are alike, in the same order
}

// sameGroup is what interchangeable connections have in common.
type sameGroup struct {
	host  *host
	group string
}

func newIdleSet() *idleSet { return &idleSet{all: list.New(), groups: map[sameGroup]*list.List{}} }

// add keeps a connection.
func (s *idleSet) add(c *conn, now time.Time) {
	at := sameGroup{c.host, c.group}
	if s.groups[at] == nil {
		s.groups[at] = list.New()
	}
	c.idleSince = now
	c.inGroup, c.inAll = s.groups[at].PushBack(c), s.all.PushBack(c)
}

// remove takes one out.
func (s *idleSet) remove(c *conn) {
	at := sameGroup{c.host, c.group}
	s.groups[at].Remove(c.inGroup)
	if s.groups[at].Len() == 0 {
		delete(s.groups, at)
	}
	s.all.Remove(c.inAll)
	c.inGroup, c.inAll = nil, nil
}

// newest takes out the most recently used of the interchangeable connections, so that those no
// session needs stay idle for long enough to be closed; nil = there is none.
func (s *idleSet) newest(at sameGroup) *conn {
	group := s.groups[at]
	if group == nil {
		return nil
	}
	c := group.Back().Value.(*conn)
	s.remove(c)
	return c
}

// oldest takes out the one that has been idle for longest; nil = there is none.
func (s *idleSet) oldest() *conn {
	first := s.all.Front()
	if first == nil {
		return nil
	}
	c := first.Value.(*conn)
	s.remove(c)
	return c
}

// sweep takes out those for which a reason to is found, looking at no more than a number
// of them.
func (s *idleSet) sweep(most int, gone func(*conn) bool) []*conn {
	var out []*conn
	for e := s.all.Front(); e != nil && most > 0; most-- {
		c := e.Value.(*conn)
		e = e.Next()
		if gone(c) {
			s.remove(c)
			out = append(out, c)
		}
	}
	return out
}
