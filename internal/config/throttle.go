package config

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Throttle says how long who fails to log in waits before the next attempt. Failures count
// for an address, and for a user at that address.
type Throttle struct {
	// Off has nobody wait.
	Off bool
	// Free is how many failures of a user at an address cost nothing; an address has ten
	// times as many. Default 5.
	Free int
	// Delay is what the first failure beyond costs; each further one doubles it, up to
	// MaxDelay. Defaults 250 ms and 10 s.
	Delay    time.Duration
	MaxDelay time.Duration
	// Forget is the time in which one failure is forgotten. Default 30 s.
	Forget time.Duration
}

func (r *reader) throttle(to *Throttle) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.either(n, yaml.ScalarNode, func(n *yaml.Node) {
			if r.asksChoice(n, []string{"off"}) {
				return
			}
			if to.Off = r.follow(n).Value == "off"; !to.Off {
				r.wrong(r.follow(n), "throttle is neither off nor a mapping", "write throttle: off, or free:, delay:, max_delay: and forget: under it")
			}
		}, r.delays(to))
	}
}

// delays reads what failures cost.
func (r *reader) delays(to *Throttle) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "throttle",
			field{key: "free", doc: "Failures of a user at an address that cost nothing; an address has ten times as many.", read: r.storeInteger(&to.Free, "free", 1, 1000)},
			field{key: "delay", doc: "What the next failure costs; each further one doubles it.", read: r.storeDuration(&to.Delay, "delay", false, day)},
			field{key: "max_delay", doc: "The longest delay.", read: r.marked("throttle.max_delay", r.storeDuration(&to.MaxDelay, "max_delay", false, day))},
			field{key: "forget", doc: "The time in which one failure is forgotten.", read: r.storeDuration(&to.Forget, "forget", false, day)},
		)
		if to.MaxDelay < to.Delay {
			if _, written := r.marks["throttle.max_delay"]; !written {
				to.MaxDelay = to.Delay
				return
			}
			r.contradicts("max_delay is less than delay, so that no delay can be that long", "write at least "+to.Delay.String(), "throttle.max_delay")
		}
	}
}
