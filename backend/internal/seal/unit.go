package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// Overhead is how much longer a sealed unit is than its content: a nonce of 24 bytes before, and a tag of 16 bytes
// after the encrypted content.
const (
	NonceSize = 24
	tagSize   = 16
	Overhead  = NonceSize + tagSize
)

// Sealer seals the units of one file with XAES-256-GCM (https://c2sp.org/XAES-256-GCM). Its nonces are random and long
// enough that nothing is counted: 2^80 units may be sealed with one key. Its methods may be called concurrently.
type Sealer struct {
	outer cipher.Block
	mask  [aes.BlockSize]byte // K1 of CMAC
}

// newSealer derives the key of a file for a purpose.
func newSealer(k Key, salt []byte, purpose string) *Sealer {
	key, err := hkdf.Key(sha256.New, k[:], salt, "contextinfinity "+purpose, 32)
	if err != nil {
		panic(err) // only for a longer key
	}
	return sealerOf(key)
}

func sealerOf(key []byte) *Sealer {
	s := &Sealer{outer: block(key)}
	s.outer.Encrypt(s.mask[:], s.mask[:])
	var carry byte
	for i := len(s.mask) - 1; i >= 0; i-- {
		s.mask[i], carry = s.mask[i]<<1|carry, s.mask[i]>>7
	}
	s.mask[len(s.mask)-1] ^= carry * 0b10000111
	return s
}

func block(key []byte) cipher.Block {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a key of another length
	}
	return b
}

// derive returns the cipher for a nonce, of which AES-GCM uses the last twelve bytes.
func (s *Sealer) derive(nonce []byte) cipher.AEAD {
	var key [2 * aes.BlockSize]byte
	for half := range 2 {
		b := key[half*aes.BlockSize:][:aes.BlockSize]
		b[1], b[2] = byte(half+1), 'X'
		copy(b[4:], nonce[:12])
		for i := range b {
			b[i] ^= s.mask[i]
		}
		s.outer.Encrypt(b, b)
	}
	gcm, err := cipher.NewGCM(block(key[:]))
	if err != nil {
		panic(err) // only for a block of another size
	}
	return gcm
}

// place is the additional data that ties a unit to its kind and its number in the file.
func place(kind byte, number uint64) [9]byte {
	var at [9]byte
	at[0] = kind
	binary.LittleEndian.PutUint64(at[1:], number)
	return at
}

// Seal writes a unit to dst, which is longer than content by Overhead.
func (s *Sealer) Seal(dst, content []byte, kind byte, number uint64) {
	nonce, at := dst[:NonceSize], place(kind, number)
	_, _ = rand.Read(nonce) // never fails
	s.derive(nonce).Seal(dst[NonceSize:NonceSize], nonce[12:], content, at[:])
}

// Open writes the content of a unit to dst, which is shorter by Overhead. It returns false, and zeros, for a unit that
// was changed, or that is of another file, kind or place.
func (s *Sealer) Open(dst, unit []byte, kind byte, number uint64) bool {
	nonce, at := unit[:NonceSize], place(kind, number)
	_, err := s.derive(nonce).Open(dst[:0], nonce[12:], unit[NonceSize:], at[:])
	if err != nil {
		clear(dst)
	}
	return err == nil
}
