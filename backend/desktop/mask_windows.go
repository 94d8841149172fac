package desktop

// privateFiles has nothing to do: files inherit the permissions of their folder.
func privateFiles() (restore func()) { return func() {} }
