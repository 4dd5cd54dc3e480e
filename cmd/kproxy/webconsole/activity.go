package webconsole

import (
	"context"
	"time"

	"github.com/kproxy/kproxy/internal/console"
)

// sessionTimeout bounds the wait for event loops.
const sessionTimeout = 2 * time.Second

// Activity returns what clients of this process do.
func (s *source) Activity(ctx context.Context) (console.Activity, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	a := console.Activity{At: time.Now(), Sessions: []console.Session{}}
	for _, i := range s.process.Sessions(ctx) {
		client := "Unix socket"
		if i.Address.IsValid() {
			client = i.Address.String()
		}
		a.Sessions = append(a.Sessions, console.Session{
			User: i.User, Reader: i.Reader, Audience: i.Audience, Client: client, Application: i.Application, Since: i.Since,
			State: i.State, Shape: i.Shape, StatementSince: i.StatementSince,
		})
	}
	s.addStatements(&a)
	return a, nil
}

// maxShapes bounds the shapes on a page.
const maxShapes = 50

// addStatements adds the shapes of statements that took longest, and of those that were
// refused last.
func (s *source) addStatements(a *console.Activity) {
	o := s.process.Observer
	if o == nil {
		a.Hidden = "Nothing is noted of statements."
		return
	}
	for i, shape := range o.Slow() {
		if i == maxShapes {
			break
		}
		a.Slow = append(a.Slow, console.Shape{
			Shape: shape.Shape, Count: shape.Count, Mean: shape.Mean.Seconds(), Longest: shape.Max.Seconds(), Last: shape.Last,
		})
	}
	for i, shape := range o.Refused() {
		if i == maxShapes {
			break
		}
		a.Refused = append(a.Refused, console.Shape{Shape: shape.Shape, SQLSTATE: shape.SQLState, Count: shape.Count, Last: shape.Last})
	}
}
