//go:build !linux && !darwin

package ipc

import "net"

// checkPeer accepts every peer: the permissions of the socket and its directory keep other users out.
func checkPeer(net.Conn) error { return nil }
