// Package loopback distinguishes addresses of this machine from others.
package loopback

import (
	"net/netip"
	"net/url"
	"strings"
)

// IsHost reports a name or an address of this machine, without its port.
func IsHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Exposes reports an address to which a key would be sent unencrypted: plain http to another machine.
func Exposes(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && strings.EqualFold(u.Scheme, "http") && !IsHost(u.Hostname())
}
