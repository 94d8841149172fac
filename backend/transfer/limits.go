package transfer

// What is refused, so that a file cannot fill the memory or the disk. A file, an
// archive or an entry over its limit is refused or skipped by name.
const (
	// MaxFileBytes bounds a file, and what an archive unpacks to.
	MaxFileBytes int64 = 16 << 30
	// MaxEntryBytes bounds one conversation as it is written: an element of an array,
	// or a file that is one conversation.
	MaxEntryBytes = 256 << 20
	// MaxLineBytes bounds a line of a file of lines.
	MaxLineBytes = 64 << 20
	// MaxDepth bounds how deep values nest. LibreChat nests each message inside the
	// one before it, twice, so this is also half its longest conversation.
	MaxDepth = 9_000
	// MaxMessages bounds the messages of one conversation.
	MaxMessages = 200_000
	// MaxTurnNodes bounds what the turns of one conversation repeat: answers that
	// share a beginning each hold it.
	MaxTurnNodes = 1_000_000
	// MaxArchiveFiles bounds how many files an archive may list.
	MaxArchiveFiles = 100_000
	// MaxArchiveRatio bounds how much larger a packed file may become; JSON of real
	// exports shrinks to a tenth or a fiftieth.
	MaxArchiveRatio = 200
	// ArchiveRatioFloor is a size below which the ratio says nothing.
	ArchiveRatioFloor = 1 << 20
	// MaxReported bounds the skipped entries that a report names; all are counted.
	MaxReported = 1_000
	// HeadBytes is how much of a file Detect wants to see.
	HeadBytes = 64 << 10
)
