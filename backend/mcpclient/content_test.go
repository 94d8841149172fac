package mcpclient

import (
	"testing"

	"contextinfinity/backend/chat"
)

// The type of an image is detected from its bytes, not from its declared type.
func TestTheTypeOfAnImageIsDetectedFromItsBytes(t *testing.T) {
	if b, ok := image("image/png", []byte("\xff\xd8\xff\xe0 jpeg")).(chat.Image); !ok || b.MediaType != "image/jpeg" {
		t.Errorf("a JPEG declared as a PNG: %+v", b)
	}
	if b, ok := image("image/png", []byte("<html>no image</html>")).(chat.Text); !ok {
		t.Errorf("a web page declared as a PNG: %+v", b)
	}
}
