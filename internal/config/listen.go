package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ProxyProtocol says which load balancers tell whose connection it is that they pass on.
type ProxyProtocol struct {
	// From are the addresses of load balancers that speak the PROXY protocol, version 2.
	// They must, and nobody else may. Default: nobody.
	From []netip.Prefix
}

// longestSocketFolder leaves room for the socket's name, .s.PGSQL.PORT, in the shortest
// sun_path of the systems that there are (unix(7)).
const longestSocketFolder = 88

func (r *reader) listen(to *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		const example = "host:port, for example 127.0.0.1:6432, [::1]:6432 or :6432 for all interfaces, or the path of a folder for a Unix socket"
		r.byDefault(n, strings.Join(*to, ", "))
		var all []string
		for _, item := range r.oneOrMore(n, "listen", example) {
			text, ok := r.setting(item, "listen")
			if !ok {
				continue
			}
			item = r.follow(item)
			switch {
			case path.IsAbs(text) && len(text) > longestSocketFolder:
				r.wrong(item, "listen names a folder too long for a Unix socket", fmt.Sprintf("write a path of at most %d bytes", longestSocketFolder))
			case !path.IsAbs(text) && !isAddress(text):
				r.wrong(item, "listen is not an address", "write "+example)
			case slices.Contains(all, text):
				r.wrong(item, "listen names "+quote(text)+" twice", "remove one of them")
			default:
				all = append(all, text)
			}
		}
		if len(all) > 0 {
			*to = all
		}
	}
}

// isAddress says whether a text is host:port, the host perhaps empty.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil && (host == "" || isHost(host))
}

var octalMode = regexp.MustCompile(`^0?[0-7]{3}$`)

func (r *reader) socketMode(to *fs.FileMode) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.byDefault(n, fmt.Sprintf("%04o", *to))
		text, ok := r.setting(n, "unix_socket_mode")
		if !ok {
			return
		}
		mode, err := strconv.ParseUint(text, 8, 32)
		if err != nil || !octalMode.MatchString(text) || mode == 0 {
			r.wrong(r.follow(n), "unix_socket_mode is not a file mode", "write octal digits, for example 0770 for user and group, or 0777 for all")
			return
		}
		*to = fs.FileMode(mode)
	}
}

func (r *reader) proxyProtocol(to *ProxyProtocol) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.mapping(
			n, "proxy_protocol",
			field{key: "from", doc: "Addresses and networks of the load balancers. They must speak the protocol, and nobody else may.", need: "from: with the addresses of your load balancers", read: r.networks(&to.From)},
		)
	}
}

// networks reads addresses and networks.
func (r *reader) networks(to *[]netip.Prefix) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.oneOrMore(n, "from", "a list: [10.0.0.0/8, 192.168.1.7, \"fd00::/8\"]") {
			if r.exhausted() {
				return
			}
			text, ok := r.setting(item, "from")
			if !ok {
				continue
			}
			if prefix, ok := r.network(r.follow(item), text); ok {
				*to = append(*to, prefix)
			}
		}
	}
}

// network is an address, or a network by its address and the length of its prefix.
func (r *reader) network(n *yaml.Node, text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		var address netip.Addr
		if address, err = netip.ParseAddr(text); err == nil {
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
	}
	switch {
	case err != nil || prefix.Addr().Zone() != "":
		r.wrong(n, "from "+quote(text)+" is not an address or a network", "write for example 192.168.1.7, 10.0.0.0/8 or \"fd00::/8\"; names of hosts are not looked up")
	case prefix.Addr().Is4In6():
		r.wrong(n, "from "+quote(text)+" is an IPv4 address within IPv6", "write it as an IPv4 address")
	case prefix != prefix.Masked():
		r.wrong(n, fmt.Sprintf("from %s has bits beyond its prefix", quote(text)), fmt.Sprintf("write %s for the network, or %s for the one address", prefix.Masked(), prefix.Addr()))
	default:
		return prefix, true
	}
	return netip.Prefix{}, false
}
