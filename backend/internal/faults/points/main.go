// Command points prints the name of every fault point, one per line, for tools outside of this folder
// (test/crash).
package main

import (
	"fmt"

	"contextinfinity/backend/internal/faults"
)

func main() {
	for _, name := range faults.Points {
		fmt.Println(name)
	}
}
