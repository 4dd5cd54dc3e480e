package pool

import (
	"slices"
	"strings"
)

// timeLimits are the settings by which the server ends what takes too long. A session may bring
// them as startup parameters, and RESET goes back to those; they are to hold for what the session
// runs. Short ones would make the pool's own queries fail and end kept connections, so they are
// lifted on a connection without a session.
var timeLimits = []string{
	"statement_timeout", "transaction_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout",
}

// limitsOf are the time limits among startup parameters.
func limitsOf(parameters map[string]string) []string {
	var limits []string
	for _, name := range timeLimits {
		if _, set := parameters[name]; set {
			limits = append(limits, name)
		}
	}
	return limits
}

// liftLimits is the request that lifts the limits of a connection; none if it has none.
func (c *conn) liftLimits() []request {
	if len(c.limits) == 0 {
		return nil
	}
	return []request{query("SET " + strings.Join(c.limits, " TO 0; SET ") + " TO 0")}
}

// claimText is the statement that gives a connection the name of a session, and puts its
// limits back. That of statements is the last, since it holds from then on.
func (c *conn) claimText(name string) string {
	text := setName(name)
	for _, limit := range slices.Backward(c.limits) {
		text += "; RESET " + limit
	}
	return text
}
