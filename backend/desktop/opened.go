package desktop

// opened takes a file that macOS was asked to open with this program: it sends a
// message, where others start the program with the file's name.
func (l *life) opened(path string) {
	go l.w.Request(WindowRequest{Kind: RequestFiles, Paths: []string{path}, X: -1, Y: -1})
}
