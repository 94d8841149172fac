//go:build !linux || !(dev || production)

package desktop

// setWebLanguages: other systems' web views check spelling and know their languages by themselves.
func setWebLanguages() {}

// ClipboardPicture: other systems' web views hand a pasted picture to the page.
func ClipboardPicture() ([]byte, error) { return nil, nil }
