package upstream

import (
	"errors"
	"testing"

	ksync "github.com/kproxy/kproxy/sync"
)

func TestCheckInForce(t *testing.T) {
	t.Parallel()
	own := ksync.Policy{Fingerprint: "own"}
	for _, test := range []struct {
		number      int64
		fingerprint string
		refused     bool
	}{
		{0, "", false}, // none is in force
		{3, "own", false},
		{3, "another", true},
	} {
		err := CheckInForce(own, test.number, test.fingerprint)
		if refused := new(RefusedError); errors.As(err, &refused) != test.refused {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
