//go:build windows || darwin

package hotkey

import "context"

// systemBind: not supported on these systems.
func systemBind(context.Context, Combination, string, func(string)) (*binding, error) {
	return nil, errNone("Global shortcuts are not supported on this system yet.")
}
