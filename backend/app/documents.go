package app

import (
	"os"

	"contextinfinity/backend/documents"
)

// readsDocument reports whether this process was started only to read a PDF or an office document.
func readsDocument(args []string) bool { return len(args) == 1 && args[0] == documents.ReadArgument }

// documentReader returns a reader of PDFs and office documents, which runs in another process of this program. If the
// program cannot determine its own path, the reader refuses documents with an error that says why.
func documentReader() documents.Reader {
	program, err := os.Executable()
	if err != nil {
		return documents.Reader{}
	}
	return documents.Reader{Program: program}
}
