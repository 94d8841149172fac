// breaks: keyring

package config

import (
	_ "github.com/zalando/go-keyring"
)
