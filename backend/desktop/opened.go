package desktop

// Opened handles a file that macOS asks this program to open: it sends a message, where other systems pass the file's
// name as argument.
func (l *Lifecycle) Opened(path string) {
	go l.w.Request(WindowRequest{Kind: RequestFiles, Paths: []string{path}, X: -1, Y: -1})
}
