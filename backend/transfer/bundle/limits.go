package bundle

// Limits, so that a file cannot fill the memory or keep the program busy.
const (
	// MaxEntries limits the entries of an archive: five are expected, and some programs add their own when repacking.
	MaxEntries = 64
	// MaxUnpackedBytes limits the total unpacked size of an archive.
	MaxUnpackedBytes = 32 << 30
	// MaxRatio limits the compression ratio of an entry beyond RatioFloor. Conversations compress to a tenth or a
	// fiftieth.
	MaxRatio = 400
	// RatioFloor is the size below which the ratio is not checked.
	RatioFloor = 16 << 20
	// MaxMetaBytes limits meta.json.
	MaxMetaBytes = 1 << 20
	// MaxLineBytes limits an event: a message including its images.
	MaxLineBytes = 256 << 20
	// MaxContentBytes limits one content: a document, a request.
	MaxContentBytes = 512 << 20
	// MaxContentsBytes limits the total unpacked size of contents. No ratio applies: repetitive requests compress to
	// a thousandth. Each content must match an event's hash.
	MaxContentsBytes = 256 << 30
	// contentsWindow is the zstd window of contents, and about the memory it takes on either side.
	contentsWindow = 8 << 20
	// maxHeadBytes limits the header of a content.
	maxHeadBytes = 1 << 10
)
