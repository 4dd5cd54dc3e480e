package observe

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hosts are the names by which this machine may be asked. A page that a browser has from
// elsewhere can have its own name lead here (DNS rebinding) and would read what it is
// answered; it cannot ask by an address, or by a name that is not its own.
type hosts []string

// ownHosts are localhost, the name in a listening address, and others that are given.
func ownHosts(listen string, others []string) hosts {
	own := hosts{"localhost"}
	if name, _, err := net.SplitHostPort(listen); err == nil && name != "" {
		own = append(own, canonicalHost(name))
	}
	for _, name := range others {
		own = append(own, canonicalHost(name))
	}
	return own
}

// canonicalHost is a host's name without case and the dot at its end.
func canonicalHost(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// has says whether a request's Host is one of these, or an IP address.
func (h hosts) has(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(h, canonicalHost(host))
}

// only serves requests to these hosts, and refuses others with 421.
func (h hosts) only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.has(r.Host) {
			http.Error(w, "kproxy is not known by this name here. List it under metrics: hosts:, or ask by its address.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
