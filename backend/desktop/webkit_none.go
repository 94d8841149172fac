//go:build !linux || !(dev || production)

package desktop

// setWebLanguages: other systems' web views check spelling and set languages themselves.
func setWebLanguages() {}

// stayOnPage: in other systems' web views only the page itself prevents that a drop replaces it.
func stayOnPage() {}

// ClipboardPicture: other systems' web views pass a pasted picture to the page.
func ClipboardPicture() ([]byte, error) { return nil, nil }

// ClipboardFiles: other systems' web views pass copied files to the page.
func ClipboardFiles() ([]string, error) { return nil, nil }
