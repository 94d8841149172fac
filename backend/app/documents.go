package app

import (
	"os"

	"contextinfinity/backend/documents"
)

// readsPDF reports that this process was started only to read a PDF.
func readsDocument(args []string) bool { return len(args) == 1 && args[0] == documents.ReadArgument }

// documentReader reads PDFs in a child process of this program. If the program's path is unknown, PDFs are refused
// with a message.
func documentReader() documents.Reader {
	program, err := os.Executable()
	if err != nil {
		return documents.Reader{}
	}
	return documents.Reader{Program: program}
}
