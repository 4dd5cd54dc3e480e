package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/internal/scram"
)

// verifier reads a SCRAM verifier. What is wrong with it is said without any
// part of it: a password may stand there by mistake.
func (r *reader) verifier(to *Secret) func(*yaml.Node) {
	return func(n *yaml.Node) {
		text, ok := r.setting(n, "verifier")
		if !ok {
			return
		}
		v, err := scram.Parse(text)
		if err == nil && v.Iterations < scram.MinIterations {
			err = fmt.Errorf("the verifier has fewer than %d iterations", scram.MinIterations)
		}
		if err != nil {
			r.wrong(r.follow(n), err.Error(), "make one with `kproxy password` and paste it whole")
			return
		}
		*to = NewSecret(text)
	}
}
