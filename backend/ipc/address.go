package ipc

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"contextinfinity/backend/chat"
)

const (
	socketName = "writer.sock"
	// maxAddress is the longest path that a socket can have on every system: macOS allows 104 bytes with the
	// terminating zero, Linux 108.
	maxAddress = 103
)

// Address returns the path of the socket on which the owner of a data directory listens: inside the directory, or in
// the user's runtime directory if that path is too long for a socket. All paths to the same directory give the same
// address. The directory must exist.
func Address(dir string) (string, error) {
	const op = "ipc.address"
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return "", chat.WrapError(chat.CodeInternal, op, err, "The path of the data directory cannot be determined, so it has no socket.")
	}
	if inside := filepath.Join(resolved, socketName); len(inside) <= maxAddress {
		return inside, nil
	}
	runtime, err := runtimeDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(resolved))
	outside := filepath.Join(runtime, "contextinfinity-"+hex.EncodeToString(sum[:8])+".sock")
	if len(outside) > maxAddress {
		return "", chat.Errorf(chat.CodeUnavailable, op, "The paths of the data directory and of %s are too long for a socket.", runtime).
			WithHint("choose a shorter path with --data-dir")
	}
	return outside, nil
}

// runtimeDir returns a private directory of the user for sockets: the system's runtime directory, otherwise one among
// the temporary files.
func runtimeDir() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir := filepath.Join(os.TempDir(), "contextinfinity-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", chat.WrapError(chat.CodeUnavailable, "ipc.address", err, "No directory for a socket could be created.").
			WithHint("set XDG_RUNTIME_DIR")
	}
	// Anybody can create a directory with this name in the temporary directory.
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUser(info) {
		return "", chat.Errorf(chat.CodeUnavailable, "ipc.address", "%s is not private to the user, so no socket is created there.", dir).
			WithHint("set XDG_RUNTIME_DIR")
	}
	return dir, nil
}

// Listen binds an address. Only the process that holds the lock of the data may call it, because it removes a socket
// that a killed process left behind.
func Listen(address string) (net.Listener, error) {
	const op = "ipc.listen"
	if info, err := os.Lstat(address); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(address); err != nil {
			return nil, chat.WrapError(chat.CodeUnavailable, op, err, "A socket left by an earlier run cannot be removed.")
		}
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "Other starts of the program cannot be served: %s.", err)
	}
	if err := os.Chmod(address, 0o600); err != nil {
		_ = l.Close()
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "Access to the socket cannot be restricted to your user account.")
	}
	return l, nil
}
