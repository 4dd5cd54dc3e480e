package upstream

import (
	"fmt"

	ksync "github.com/kproxy/kproxy/sync"
)

// RefusedError says why something is not made of what is published, and what to do.
type RefusedError struct{ What, Fix string }

func (e *RefusedError) Error() string { return e.What + " (" + e.Fix + ")" }

// Code names the kind of error for scripts.
func (e *RefusedError) Code() string { return "refused" }

// Hint says what to do.
func (e *RefusedError) Hint() string { return e.Fix }

// CheckInForce wants a configuration's policy to be the one in force, whose number is 0 where there is none.
func CheckInForce(own ksync.Policy, number int64, fingerprint string) error {
	if number == 0 || fingerprint == own.Fingerprint {
		return nil
	}
	return &RefusedError{
		fmt.Sprintf("the policy of the configuration is not policy number %d, which is in force", number),
		"run 'kproxy accept' to see the difference, or name the configuration of the process that serves",
	}
}
