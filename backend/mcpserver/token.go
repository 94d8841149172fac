package mcpserver

import (
	"context"
	"crypto/rand"

	"contextinfinity/backend/chat"
)

// tokenPrefix makes a token recognizable to people and to secret scanners.
const tokenPrefix = "cinf_"

// MakeToken creates a token for a program, which replaces its previous one. Only the hash is stored, so the token can
// be shown only once.
func MakeToken(ctx context.Context, s Store, client string) (string, error) {
	token := tokenPrefix + rand.Text()
	return token, s.SetClientToken(ctx, client, chat.HashText(token))
}

// RevokeToken ends a program's access over HTTP.
func RevokeToken(ctx context.Context, s Store, client string) error {
	return s.SetClientToken(ctx, client, "")
}
