package screens

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Secret is the source of all tokens of one repository and user: 32 random bytes that never leave the state directory.
// Every process of the user can read it and make tokens itself.
type Secret []byte

// SecretSize is the length of a Secret in bytes.
const SecretSize = 32

// NewSecret makes a new secret, which invalidates every token made from the old one.
func NewSecret() Secret {
	secret := make(Secret, SecretSize)
	rand.Read(secret) // never returns an error
	return secret
}

// Token returns the token for a purpose: 32 hexadecimal digits.
func (s Secret) Token(purpose string) string {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(purpose))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// Session returns the token that opens everything.
func (s Secret) Session() string { return s.Token("session") }

// Review returns the token that opens one review; id is the full id.
func (s Secret) Review(id string) string { return s.Token("review:" + id) }

// Proof answers a challenge. It shows a client that the server has the secret and did not merely take over its port.
func (s Secret) Proof(challenge string) string { return s.Token("health:" + challenge) }

// CodeLife is how long a login code is valid.
const CodeLife = time.Minute

// Code returns a login code that works once and only for a minute. It may be on a command line, which every user of
// the machine can read.
func (s Secret) Code(now time.Time) string {
	nonce := make([]byte, 8)
	rand.Read(nonce)
	head := strconv.FormatInt(now.UnixMilli(), 36) + "." + hex.EncodeToString(nonce)
	return head + "." + s.Token("code:"+head)
}

// Codes remembers used login Codes for as long as they would be valid.
type Codes struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// use reports whether code is made from secret, fresh at now and not yet used.
func (c *Codes) Use(secret Secret, code string, now time.Time) bool {
	at := strings.LastIndexByte(code, '.')
	if at < 0 || !SameToken(code[at+1:], secret.Token("code:"+code[:at])) {
		return false
	}
	millis, err := strconv.ParseInt(strings.SplitN(code, ".", 2)[0], 36, 64)
	age := now.Sub(time.UnixMilli(millis))
	if err != nil || age < -CodeLife || age > CodeLife {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old, when := range c.used {
		if now.Sub(when) > 2*CodeLife {
			delete(c.used, old)
		}
	}
	if _, used := c.used[code]; used {
		return false
	}
	if c.used == nil {
		c.used = map[string]time.Time{}
	}
	c.used[code] = now
	return true
}

// SameToken compares in constant time.
func SameToken(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}
