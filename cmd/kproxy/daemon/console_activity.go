package daemon

import (
	"context"
	"time"

	"github.com/kproxy/kproxy/console"
)

// sessionPatience bounds how long event loops are waited for.
const sessionPatience = 2 * time.Second

// Activity is what clients of this process do.
func (s *consoleSource) Activity(ctx context.Context) (console.Activity, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionPatience)
	defer cancel()
	a := console.Activity{At: time.Now(), Sessions: []console.Session{}}
	for _, i := range s.d.proxy.Sessions(ctx) {
		client := "Unix socket"
		if i.Address.IsValid() {
			client = i.Address.String()
		}
		a.Sessions = append(a.Sessions, console.Session{
			User: i.User, Reader: i.Reader, Client: client, Application: i.Application, Since: i.Since,
			State: i.State, Shape: i.Shape, StatementSince: i.StatementSince,
		})
	}
	return a, nil
}
