package config

import (
	"encoding/base64"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	verifierScheme = "SCRAM-SHA-256"
	// minIterations is what RFC 7677 asks for.
	minIterations = 4096
	maxIterations = 10_000_000
	sha256Bytes   = 32
)

// verifier reads a SCRAM verifier. What is wrong with it is said without any
// part of it: a password may stand there by mistake.
func (r *reader) verifier(to *Secret) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "verifier")
		if !ok {
			return
		}
		if what := verifierProblem(text); what != "" {
			r.wrong(r.follow(n), what, "make one with `kproxy password` and paste it whole")
			return
		}
		*to = NewSecret(text)
	}
}

// verifierProblem says why a text is not a verifier in the form of
// pg_authid.rolpassword (PostgreSQL, chapter pg_authid):
//
//	SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>
//
// with the last three in base64. Empty when it is one.
func verifierProblem(text string) string {
	const malformed = "the verifier is not of the form SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey"
	parts := strings.Split(text, "$")
	if len(parts) != 3 || parts[0] != verifierScheme {
		return malformed
	}
	iterations, salt, found := strings.Cut(parts[1], ":")
	stored, server, foundKeys := strings.Cut(parts[2], ":")
	if !found || !foundKeys {
		return malformed
	}
	rounds, err := strconv.Atoi(iterations)
	if err != nil || rounds < minIterations || rounds > maxIterations {
		return "the verifier's number of iterations is not between 4096 and 10000000"
	}
	if decoded, err := base64.StdEncoding.DecodeString(salt); err != nil || len(decoded) == 0 {
		return "the verifier's salt is not base64"
	}
	for _, key := range []string{stored, server} {
		if decoded, err := base64.StdEncoding.DecodeString(key); err != nil || len(decoded) != sha256Bytes {
			return "the verifier's keys are not 32 bytes each in base64"
		}
	}
	return ""
}
