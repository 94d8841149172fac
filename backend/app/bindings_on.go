//go:build bindings

package app

// generatingBindings: Wails runs this program only to learn what the window may
// call. It must open nothing: no data, no display, no keyring.
const generatingBindings = true
