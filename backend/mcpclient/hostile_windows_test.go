package mcpclient

// ignoreTermination does nothing, because Windows has no signals.
func ignoreTermination() {}
