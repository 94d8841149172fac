//go:build windows || darwin

package hotkey

import "context"

// systemBind fails: these systems are not supported.
func systemBind(context.Context, Combination, string, func(string)) (*binding, error) {
	return nil, errUnsupported("Global shortcuts are not supported on this system yet.")
}
