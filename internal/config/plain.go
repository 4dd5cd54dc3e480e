package config

import (
	"net/netip"
	"path"
	"slices"
)

// PlainListeners are the addresses under listen that other machines reach and where clients
// can log in without TLS: what they read then crosses the network for all to see.
func (c *Config) PlainListeners() []string {
	if c.TLS.Mode == TLSRequire || !c.admitsPlain() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Listen), func(address string) bool {
		return path.IsAbs(address) || isLoopback(address)
	})
}

// admitsPlain says whether a rule of access lets clients of other machines log in without
// TLS, as the default does that holds without rules.
func (c *Config) admitsPlain() bool {
	for _, rule := range c.Access {
		plain := rule.Transport == AnyTransport || rule.Transport == PlainTransport
		switch {
		case !plain || len(rule.From) > 0 && !slices.ContainsFunc(rule.From, isBeyondLoopback):
		case rule.Method != MethodReject:
			return true
		case len(rule.From) == 0 && len(rule.Databases) == 0 && len(rule.Users) == 0:
			return false // no later rule sees a plain login
		}
	}
	return len(c.Access) == 0
}

// isBeyondLoopback says whether a network without bits beyond its prefix is more than this
// machine.
func isBeyondLoopback(network netip.Prefix) bool { return !network.Addr().IsLoopback() }
