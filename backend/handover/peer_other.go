//go:build !linux && !darwin

package handover

import "net"

// checkPeer has nothing to ask here: the mode of the socket and of its directory
// keep others out.
func checkPeer(net.Conn) error { return nil }
