package heap

// spare is how much a command may take before memory is looked through for what is no
// longer used: most end before that, and looking would take an eighth of their time.
const spare = 48 << 20

// ForACommand is for a process that carries out one command and ends. What it reserves is never touched, and
// so takes none of the machine's memory. The more there is, the more may gather: as much again.
func ForACommand() {
	tight.Lock()
	defer tight.Unlock()
	tight.ballast = make([]byte, spare)
}
