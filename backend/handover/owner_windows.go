package handover

import "os"

// ours: the directory for temporary files is the user's own on Windows.
func ours(os.FileInfo) bool { return true }
