//go:build !linux || !(dev || production)

package desktop

// setWebLanguages does nothing: other systems' web views check spelling and set languages themselves.
func setWebLanguages() {}

// stayOnPage does nothing: in other systems' web views only the page itself prevents a drop from replacing it.
func stayOnPage() {}

// ClipboardPicture returns nil: other systems' web views pass a pasted picture to the page.
func ClipboardPicture() ([]byte, error) { return nil, nil }

// ClipboardFiles returns nil: other systems' web views pass copied files to the page.
func ClipboardFiles() ([]string, error) { return nil, nil }
