package config

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a text that must not be printed: a password or a verifier. However
// it is formatted, logged or marshaled, it reads [redacted]. The zero Secret is
// not set.
type Secret struct {
	// A pointer, because fmt prints unexported fields of a surrounding struct
	// without asking for methods: an address at depth tells nothing.
	text *string
}

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal returns the text itself; empty when not set.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet says whether there is a text.
func (s Secret) IsSet() bool { return s.text != nil }

// String hides the text.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return redacted
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return s.String() }

// Format hides the text from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText hides the text from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the text from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
