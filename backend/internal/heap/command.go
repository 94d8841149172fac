package heap

// spare is how much memory a command may allocate before the first garbage collection: most commands end before that,
// and collecting would take an eighth of their time.
const spare = 48 << 20

// ForACommand prepares a process that runs one command and exits. It allocates memory that is never touched, so that
// the system does not provide it, to raise the heap size at which garbage collection starts.
func ForACommand() {
	tight.Lock()
	defer tight.Unlock()
	tight.ballast = make([]byte, spare)
}
