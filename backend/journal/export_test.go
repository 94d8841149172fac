package journal

import "contextinfinity/backend/chat"

// Abandon closes without an end entry, as if the process ended; what was written is
// fsynced. After End it does nothing.
func (w *Writer) Abandon() error {
	w.appending.Lock()
	defer w.appending.Unlock()
	if w.isClosed() {
		return nil
	}
	err := w.shut()
	w.endErr = err
	if err == nil {
		w.endErr = chat.Errorf(chat.CodeConflict, "journal.end", "the stream journal of step %s was closed without an end", w.step)
	}
	return err
}
