package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

const objectKind = 'v'

// SealObject seals a whole file as one unit that opens only under its name.
func (k Key) SealObject(name string, content []byte) []byte {
	out := make([]byte, len(content)+Overhead)
	newSealer(k, nil, "object "+name).Seal(out, content, objectKind, 0)
	return out
}

// OpenObject returns the content of a file that SealObject sealed under this name; false if it was changed or exchanged.
func (k Key) OpenObject(name string, sealed []byte) ([]byte, bool) {
	if len(sealed) < Overhead {
		return nil, false
	}
	out := make([]byte, len(sealed)-Overhead)
	return out, newSealer(k, nil, "object "+name).Open(out, sealed, objectKind, 0)
}

// Name returns the name of something for people who do not have the key: 32 hexadecimal digits.
func (k Key) Name(of string) string {
	key, err := hkdf.Key(sha256.New, k[:], nil, "contextinfinity names", sha256.Size)
	if err != nil {
		panic(err) // only for a longer key
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(of))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
