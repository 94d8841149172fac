package handover

import "os"

// ours is always true on Windows, where the temporary directory belongs to the user.
func ours(os.FileInfo) bool { return true }
