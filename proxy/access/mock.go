package access

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/kproxy/kproxy/internal/scram"
)

// shape is what a challenge shows of a verifier.
type shape struct{ iterations, saltBytes int }

// shapes are those that users who do not exist take, as often as users have them, in an
// order that depends on nothing else.
func shapes(c Config, users map[string]user) []shape {
	var all []shape
	for _, u := range users {
		if u.Verifier != "" {
			all = append(all, shape{u.verifier.Iterations, len(u.verifier.Salt)})
		}
	}
	if c.Lookup != nil || len(all) == 0 {
		all = append(all, shape{c.Iterations, scram.SaltBytes})
	}
	slices.SortFunc(all, func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.iterations, b.iterations), cmp.Compare(a.saltBytes, b.saltBytes))
	})
	return all
}

// mockVerifier returns the verifier that a user without a password is checked
// against, so that the exchange tells nothing about who exists. The same user
// gets the same salt for as long as secret lives; nobody knows a password.
func mockVerifier(secret []byte, user string, shapes []shape) scram.Verifier {
	derive := func(purpose byte, block uint32) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(binary.BigEndian.AppendUint32([]byte{purpose}, block))
		mac.Write([]byte(user))
		return mac.Sum(nil)
	}
	as := shapes[binary.BigEndian.Uint64(derive('f', 0))%uint64(len(shapes))]
	var salt []byte
	for block := uint32(0); len(salt) < as.saltBytes; block++ {
		salt = append(salt, derive('s', block)...)
	}
	return scram.Verifier{
		Iterations: as.iterations,
		Salt:       salt[:as.saltBytes],
		StoredKey:  derive('c', 0),
		ServerKey:  derive('v', 0),
	}
}
