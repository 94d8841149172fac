package transfer

// Limits, so that a file cannot fill the memory or the disk. A file, an archive or an entry over a limit is refused
// or skipped, and the limit is named.
const (
	// MaxFileBytes limits a file, and the unpacked size of an archive.
	MaxFileBytes int64 = 16 << 30
	// MaxEntryBytes limits what is held in memory: one conversation in its file (an element of an array, or a file that
	// is one conversation), and a file in UTF-16.
	MaxEntryBytes = 256 << 20
	// MaxLineBytes limits a line of a line-based file.
	MaxLineBytes = 64 << 20
	// MaxDepth limits the nesting of values. LibreChat nests each message inside the previous one, twice, so this is
	// also twice the length of its longest conversation.
	MaxDepth = 9_000
	// MaxMessages limits the messages of one conversation.
	MaxMessages = 200_000
	// MaxTurnNodes limits repetition in the turns of one conversation: answers with a common beginning each contain
	// that beginning.
	MaxTurnNodes = 1_000_000
	// MaxArchiveFiles limits the number of files in an archive.
	MaxArchiveFiles = 100_000
	// MaxArchiveRatio limits the compression ratio of a packed file; JSON of real exports compresses to a tenth or a
	// fiftieth.
	MaxArchiveRatio = 200
	// ArchiveRatioFloor is the size below which the ratio is not checked.
	ArchiveRatioFloor = 1 << 20
	// MaxReported limits the skipped entries named in a report; all are counted.
	MaxReported = 1_000
	// MaxNamed limits the files that a notice names.
	MaxNamed = 20
	// HeadBytes is how much of a file Detect needs.
	HeadBytes = 64 << 10
)
