package heap

import "sync"

// spare is how much a command may take before memory is looked through for what is no
// longer used: most end before that, and looking would take an eighth of their time.
const spare = 48 << 20

// ballast is memory that is reserved and never touched, which takes none of the machine's. The
// more there is, the more may gather: as much again.
var ballast = sync.OnceValue(func() []byte { return make([]byte, spare) })

// ForACommand is for a process that carries out one command and ends.
func ForACommand() { ballast() }
