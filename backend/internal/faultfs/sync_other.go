//go:build !linux

package faultfs

import "os"

func syncData(f *os.File) error { return f.Sync() }
