package app

import (
	"os"

	"contextinfinity/backend/documents"
)

// readsDocument reports that this process was started to read a PDF or an office document and nothing else.
func readsDocument(args []string) bool { return len(args) == 1 && args[0] == documents.ReadArgument }

// documentReader reads PDFs and office documents in another process of this program.
// If the program cannot determine its own path, they are refused with an error that says why.
func documentReader() documents.Reader {
	program, err := os.Executable()
	if err != nil {
		return documents.Reader{}
	}
	return documents.Reader{Program: program}
}
