package bundle

// What is refused, so that a file cannot fill the memory or keep the program busy.
const (
	// MaxEntries bounds what an archive lists: five belong there, and some programs add
	// their own when they pack one again.
	MaxEntries = 64
	// MaxUnpackedBytes bounds what the entries of an archive unpack to, together.
	MaxUnpackedBytes = 32 << 30
	// MaxRatio bounds how much larger than packed an entry may become, beyond RatioFloor.
	// Conversations shrink to a tenth or a fiftieth.
	MaxRatio = 400
	// RatioFloor is a size below which the ratio says nothing.
	RatioFloor = 16 << 20
	// MaxMetaBytes bounds meta.json.
	MaxMetaBytes = 1 << 20
	// MaxLineBytes bounds an event: a message with its images in it.
	MaxLineBytes = 256 << 20
	// MaxContentBytes bounds one content: a document, a request.
	MaxContentBytes = 512 << 20
	// MaxContentsBytes bounds all of them, unpacked. They have no ratio: requests that
	// repeat each other shrink to a thousandth. Each must be what an event says.
	MaxContentsBytes = 256 << 30
	// contentsWindow is how far back a content is packed against those before it, and the
	// memory that this costs on either side.
	contentsWindow = 8 << 20
	// maxHeadBytes bounds what is before a content.
	maxHeadBytes = 1 << 10
)
