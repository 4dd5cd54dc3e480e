package pool

import (
	"container/heap"
	"container/list"
)

// waiter is a session that waits for a connection.
type waiter struct {
	want    *want
	number  uint64     // the order in which they came
	granted chan grant // buffered: the turn is never lost
	served  bool       // a grant is in the channel

	place   int           // in queue.ready; -1 = it is not there
	blocked *list.Element // in account.blocked, else nil
}

// grant is a place among the connections: that of a kept connection, or the right to make
// one, before which maybe another one is to be closed.
type grant struct{ conn, instead *conn }

// account is what a user has.
type account struct {
	taken   int        // connections in use or being made for it, and its waiters in queue.ready
	blocked *list.List // of *waiter: for those, the user has too many
}

// queue makes sessions wait in the order in which they came. Those of a user who has as many
// connections as a user may have do not hold up other users: they join the line, at the place of
// their arrival, when the user has one less. It is not safe for concurrent use.
type queue struct {
	perUser  int
	arrivals uint64
	ready    line
	accounts map[string]*account
}

func newQueue(perUser int) *queue {
	return &queue{perUser: perUser, accounts: map[string]*account{}}
}

// join lets a session wait.
func (q *queue) join(want *want) *waiter {
	q.arrivals++
	w := &waiter{want: want, number: q.arrivals, place: -1, granted: make(chan grant, 1)}
	a := q.accounts[want.User]
	if a == nil {
		a = &account{blocked: list.New()}
		q.accounts[want.User] = a
	}
	if a.taken < q.perUser {
		a.taken++
		heap.Push(&q.ready, w)
	} else {
		w.blocked = a.blocked.PushBack(w)
	}
	return w
}

// blocked is how many sessions of a user wait for others of the same user.
func (q *queue) blocked(user string) int {
	if a := q.accounts[user]; a != nil {
		return a.blocked.Len()
	}
	return 0
}

// len is how many sessions wait.
func (q *queue) len() int {
	n := len(q.ready)
	for _, a := range q.accounts {
		n += a.blocked.Len()
	}
	return n
}

// next is the first in line, or nil.
func (q *queue) next() *waiter {
	if len(q.ready) == 0 {
		return nil
	}
	return q.ready[0]
}

// serve gives the first in line its turn. Leave is to be called when that has ended.
func (q *queue) serve(w *waiter, g grant) {
	heap.Remove(&q.ready, w.place)
	w.served = true
	w.granted <- g
}

// abandon takes a session that has not been served out of the queue.
func (q *queue) abandon(w *waiter) {
	if w.place >= 0 {
		heap.Remove(&q.ready, w.place)
		q.leave(w.want.User)
		return
	}
	q.accounts[w.want.User].blocked.Remove(w.blocked)
	w.blocked = nil
}

// leave notes that a user has one less.
func (q *queue) leave(user string) {
	a := q.accounts[user]
	a.taken--
	q.advance(a)
	if a.taken == 0 && a.blocked.Len() == 0 {
		delete(q.accounts, user)
	}
}

// limit changes how many connections a user may have.
func (q *queue) limit(perUser int) {
	q.perUser = perUser
	for _, a := range q.accounts { // each goes where its number says, whatever the order
		q.advance(a)
	}
}

// advance moves sessions of a user into line while the user may have more.
func (q *queue) advance(a *account) {
	for a.taken < q.perUser && a.blocked.Len() > 0 {
		w := a.blocked.Remove(a.blocked.Front()).(*waiter)
		w.blocked = nil
		a.taken++
		heap.Push(&q.ready, w)
	}
}

// line is a heap of those who wait, by number.
type line []*waiter

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].number < l[j].number }

func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// Push implements heap.Interface.
func (l *line) Push(x any) {
	w := x.(*waiter)
	w.place = len(*l)
	*l = append(*l, w)
}

// Pop implements heap.Interface.
func (l *line) Pop() any {
	last := len(*l) - 1
	w := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	w.place = -1
	return w
}
