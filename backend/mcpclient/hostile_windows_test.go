package mcpclient

// ignoreTermination: there are no signals to ignore here.
func ignoreTermination() {}
