package desktop

func showInFileManager(path string) error { return launch("open", "-R", path) }
