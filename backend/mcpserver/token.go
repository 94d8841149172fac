package mcpserver

import (
	"context"
	"crypto/rand"

	"contextinfinity/backend/chat"
)

// tokenPrefix makes a token recognizable, for people and for what looks for secrets.
const tokenPrefix = "cinf_"

// MakeToken makes a token for a program, in place of the one before. Only its hash is
// kept, so it is shown once.
func MakeToken(ctx context.Context, s Store, client string) (string, error) {
	token := tokenPrefix + rand.Text()
	return token, s.SetClientToken(ctx, client, chat.HashText(token))
}

// RevokeToken ends a program's access over HTTP.
func RevokeToken(ctx context.Context, s Store, client string) error {
	return s.SetClientToken(ctx, client, "")
}
