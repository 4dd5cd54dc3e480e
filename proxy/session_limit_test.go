package proxy

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestPlaces holds random takings and leavings against plain counts.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const most, mostOfUser = 5, 3
	random := rand.New(rand.NewPCG(1, 2))
	users := []string{"ann", "bob", "cem"}
	var p sessionLimit
	var taken []string
	count := func(user string) (n int) {
		for _, u := range taken {
			if u == user {
				n++
			}
		}
		return n
	}
	refused := map[string]int{}
	for range 10_000 {
		if len(taken) > 0 && random.IntN(2) == 0 {
			i := random.IntN(len(taken))
			p.release(taken[i])
			taken = append(taken[:i], taken[i+1:]...)
		} else {
			user := users[random.IntN(len(users))]
			want := ""
			switch {
			case len(taken) == most:
				want = "sorry, too many clients already"
			case count(user) == mostOfUser:
				want = "too many connections for role \"" + user + "\""
			}
			got := ""
			if err := p.acquire(user, most, mostOfUser); err != nil {
				got = err.Error()
				if own := (*fatal)(nil); !errors.As(err, &own) || own.state != stateTooManyConnections || own.hint == "" {
					t.Fatalf("%v has another SQLSTATE, or no hint", err)
				}
			}
			if got != want {
				t.Fatalf("%v has places, %s asks: %q, want %q", taken, user, got, want)
			}
			if refused[want]++; want == "" {
				taken = append(taken, user)
			}
		}
		if p.sessions() != len(taken) || len(p.of) > len(taken) {
			t.Fatalf("%d places are taken, with %d entries; want %d", p.sessions(), len(p.of), len(taken))
		}
	}
	if len(refused) != 2+len(users) {
		t.Errorf("not all cases were met: %v", refused)
	}
}
