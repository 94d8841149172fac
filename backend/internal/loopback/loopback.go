// Package loopback distinguishes addresses of this machine from others.
package loopback

import (
	"net/netip"
	"net/url"
	"strings"
)

// IsHost reports whether a name or an address, without a port, is one of this machine.
func IsHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Exposes reports whether a key would be sent to an address unencrypted: plain http to another machine.
func Exposes(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && strings.EqualFold(u.Scheme, "http") && !IsHost(u.Hostname())
}
