package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"strconv"

	xscram "github.com/xdg-go/scram"

	"github.com/kproxy/kproxy/scram"
)

// credentials is the verifier as the SCRAM library takes it.
func credentials(v scram.Verifier) xscram.StoredCredentials {
	return xscram.StoredCredentials{
		KeyFactors: xscram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations},
		StoredKey:  v.StoredKey,
		ServerKey:  v.ServerKey,
	}
}

// mockVerifier returns the verifier that a user who does not exist is checked
// against, so that the exchange tells nothing about who exists. The same user
// gets the same salt for as long as secret lives; nobody knows a password.
func mockVerifier(secret []byte, user string, iterations, saltBytes int) scram.Verifier {
	derive := func(purpose string) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(purpose))
		mac.Write([]byte{0})
		mac.Write([]byte(user))
		return mac.Sum(nil)
	}
	salt := derive("salt")
	for len(salt) < saltBytes {
		salt = append(salt, derive("salt"+strconv.Itoa(len(salt)))...)
	}
	return scram.Verifier{
		Iterations: iterations,
		Salt:       salt[:saltBytes],
		StoredKey:  derive("stored key"),
		ServerKey:  derive("server key"),
	}
}
