package ipc

import "os"

// ownedByUser is always true on Windows, where the temporary directory belongs to the user.
func ownedByUser(os.FileInfo) bool { return true }
