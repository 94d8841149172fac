package app

import (
	"os"

	"contextinfinity/backend/documents"
)

// readsPDF reports that this process was started to read a PDF and nothing else.
func readsPDF(args []string) bool { return len(args) == 1 && args[0] == documents.PDFArgument }

// documentReader reads PDFs in another process of this program. Where the program
// cannot find itself, PDFs are refused in words.
func documentReader() documents.Reader {
	program, err := os.Executable()
	if err != nil {
		return documents.Reader{}
	}
	return documents.Reader{Program: program}
}
