package state

import "time"

// Certificate is a certificate that a configuration names.
type Certificate struct {
	// Use is what it is for: one of the constants of package certificates.
	Use string `json:"use"`
	// Subject is whom it is for, or its number where it names nobody, and File where it is from.
	Subject string `json:"subject"`
	File    string `json:"file"`
	// From and Until are the first and the last moment at which it is valid.
	From  time.Time `json:"not_before"`
	Until time.Time `json:"not_after"`
}

// earlyWarning is how long before its end a certificate needs the operator, unless it is a
// short-lived one: those are renewed by programs, mostly when a third of their lifetime is left, so
// that a fifth says that this has failed.
const (
	earlyWarning    = 14 * 24 * time.Hour
	shareOfLifetime = 5
)

// Warns is from when on the certificate needs the operator.
func (c Certificate) Warns() time.Time {
	return c.Until.Add(-min(earlyWarning, c.Until.Sub(c.From)/shareOfLifetime))
}
