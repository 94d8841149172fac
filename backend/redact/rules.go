package redact

import (
	"strings"

	"contextinfinity/backend/internal/pattern"
)

// rule finds one kind of secret.
type rule struct {
	name string
	// keywords, in lower case. The expression is run only near them.
	keywords []string
	re       pattern.Pattern
	// group is the group that holds the secret; 0: the whole match.
	group int
	// entropy is the minimum entropy of a secret, in bits per character; 0: any.
	entropy float64
	// check, if set, makes the final decision about a match.
	check func(secret, after string) bool
	// gate is a cheap check whether the expression could match at a keyword; nil: always. Expressions are slow, and
	// keywords also occur in prose.
	gate func(s string, pos, length int) bool
	// before and after are how far a match can extend around a keyword, in bytes.
	before, after int
	trim          bool // trailing punctuation is not part of the secret
}

// Bytes after a keyword that are searched for matches.
const (
	tokenReach = 600
	blockReach = 16 << 10 // a private key
)

// token returns a rule for secrets that start with a prefix of their issuer.
func token(name, expr string, keywords ...string) rule {
	return rule{name: name, keywords: keywords, re: pattern.New(expr), gate: beginsToken, before: 1, after: tokenReach}
}

// beginsToken reports whether a prefix is at the beginning of a word and is followed by enough characters.
func beginsToken(s string, pos, length int) bool {
	if pos > 0 && isWord(s[pos-1]) {
		return false
	}
	end := pos + length
	for n := range tokenRun {
		if end+n >= len(s) || !isWord(s[end+n]) && s[end+n] != '-' && s[end+n] != '.' {
			return false
		}
	}
	return true
}

// tokenRun is the minimum number of characters after the prefix of a token.
const tokenRun = 8

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lower(c) >= 'a' && lower(c) <= 'z'
}

// isAssigned reports whether the name at a keyword is followed by an assignment.
func isAssigned(s string, pos, length int) bool {
	rest := s[min(len(s), pos+length):min(len(s), pos+length+44)]
	i := 0
	for i < len(rest) && (isWord(rest[i]) || rest[i] == '-') {
		i++
	}
	rest = strings.TrimLeft(rest[i:], "\"'`] \t\r\n")
	return rest != "" && (rest[0] == '=' || rest[0] == ':')
}

// hasLogin reports whether a URL has a user and a password before its host.
func hasLogin(s string, pos, length int) bool {
	rest := s[pos+length : min(len(s), pos+300)]
	end := strings.IndexAny(rest, "@ \t\n\"'<>/")
	return end >= 0 && rest[end] == '@' && strings.Contains(rest[:end], ":")
}

// beginsJWT reports whether the first part of a JWT is long enough and a second part follows.
func beginsJWT(s string, pos, length int) bool {
	return beginsToken(s, pos, length) && strings.Contains(s[pos:min(len(s), pos+4096)], ".eyJ")
}

// rules are ordered from specific to general: later rules ignore text that an earlier one has matched.
var rules = []rule{
	{
		name: "private-key", keywords: []string{"-----begin"}, after: blockReach,
		re: pattern.New(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=:,.\-\s\\]{16,}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`),
	},
	{ // truncated, without its end
		name: "private-key", keywords: []string{"-----begin"}, after: blockReach,
		re: pattern.New(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s)+[A-Za-z0-9+/=\s\\]{40,}`),
	},
	token("anthropic-key", `\bsk-ant-[A-Za-z0-9_\-]{20,}`, "sk-ant-"),
	token("openrouter-key", `\bsk-or-v1-[a-f0-9]{32,}\b`, "sk-or-"),
	token("openai-key", `\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{20,}`, "sk-"),
	token("openai-key", `\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b`, "sk-"),
	token("openai-key", `\bsk-[A-Za-z0-9]{32,64}\b`, "sk-"),
	token("stripe-key", `\b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}\b`, "sk_live", "sk_test", "sk_prod", "rk_live", "rk_test", "rk_prod"),
	token("stripe-webhook-secret", `\bwhsec_[A-Za-z0-9+/=]{24,}`, "whsec_"),
	token("github-token", `\bgh[pousr]_[A-Za-z0-9]{36,}\b`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	token("github-token", `\bgithub_pat_[A-Za-z0-9_]{60,}\b`, "github_pat_"),
	token("gitlab-token", `\bgl(?:pat|ptt|dt|rt|cbt|oas|soat)-[A-Za-z0-9_\-]{20,}`, "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "gloas-", "glsoat-"),
	{
		name: "aws-access-key", keywords: []string{"akia", "asia", "abia", "acca"}, gate: beginsToken, before: 1, after: 24,
		re: pattern.New(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`), entropy: 3,
	},
	{
		name: "aws-secret-key", keywords: []string{"aws"}, after: 200, before: 40,
		re:    pattern.New(`(?i)aws[\w.\- ]{0,30}(?:secret|key|token|sk)[\w.\- ]{0,20}["']?\s{0,5}(?:=>|:=|=|:)\s{0,5}["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`),
		group: 1, entropy: 3.5,
	},
	token("google-api-key", `\bAIza[A-Za-z0-9_\-]{35}`, "aiza"),
	token("google-oauth-secret", `\bGOCSPX-[A-Za-z0-9_\-]{28}`, "gocspx-"),
	token("google-oauth-token", `\bya29\.[A-Za-z0-9_\-.]{30,}`, "ya29."),
	{
		name: "azure-key", keywords: []string{"accountkey=", "sharedaccesskey="}, after: 200,
		re:    pattern.New(`(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})`),
		group: 1,
	},
	{
		name: "azure-signature", keywords: []string{"sig="}, before: 1, after: 200,
		re: pattern.New(`[?&]sig=([A-Za-z0-9%+/]{40,}(?:%3[dD]|=)*)`), group: 1, entropy: 3.5,
	},
	{
		name: "azure-client-secret", keywords: []string{"8q~"}, before: 4, after: 60,
		re: pattern.New(`(?:^|[^A-Za-z0-9_~.\-])([A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.\-]{31,34})`), group: 1, entropy: 3,
	},
	token("slack-token", `\bxox[abeoprs]-[A-Za-z0-9\-]{20,}`, "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"),
	token("slack-token", `\bxapp-\d-[A-Za-z0-9\-]{20,}`, "xapp-"),
	{name: "slack-webhook", keywords: []string{"hooks.slack.com/"}, before: 9, after: 200, re: pattern.New(`https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}`)},
	{name: "discord-webhook", keywords: []string{"/api/webhooks/"}, before: 40, after: 200, re: pattern.New(`https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks/\d{15,22}/[A-Za-z0-9_\-]{50,}`)},
	{
		name: "telegram-token", keywords: []string{":aa"}, before: 11, after: 50,
		re: pattern.New(`\b\d{7,10}:AA[A-Za-z0-9_\-]{33}\b`),
	},
	{
		name: "sendgrid-key", keywords: []string{"sg."}, before: 1, after: 80,
		re: pattern.New(`\bSG\.[A-Za-z0-9_\-]{20,24}\.[A-Za-z0-9_\-]{39,50}`),
	},
	{name: "twilio-key", keywords: []string{"sk"}, gate: beginsToken, before: 1, after: 40, re: pattern.New(`\bSK[0-9a-f]{32}\b`)},
	token("mailgun-key", `\bkey-[0-9a-f]{32}\b`, "key-"),
	token("npm-token", `\bnpm_[A-Za-z0-9]{36}\b`, "npm_"),
	token("pypi-token", `\bpypi-AgEI[A-Za-z0-9_\-]{50,}`, "pypi-agei"),
	token("huggingface-token", `\bhf_[A-Za-z]{34}\b`, "hf_"),
	token("digitalocean-token", `\bdo[opr]_v1_[a-f0-9]{64}\b`, "doo_v1_", "dop_v1_", "dor_v1_"),
	token("shopify-token", `\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`, "shpat_", "shpca_", "shppa_", "shpss_"),
	token("databricks-token", `\bdapi[a-f0-9]{32}(?:-\d)?\b`, "dapi"),
	token("hashicorp-token", `\bhv[sbr]\.[A-Za-z0-9_\-]{24,}`, "hvs.", "hvb.", "hvr."),
	token("groq-key", `\bgsk_[A-Za-z0-9]{40,80}\b`, "gsk_"),
	token("xai-key", `\bxai-[A-Za-z0-9]{40,}\b`, "xai-"),
	token("perplexity-key", `\bpplx-[A-Za-z0-9]{40,80}\b`, "pplx-"),
	token("age-key", `\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b`, "age-secret-key-1"),
	{
		name: "jwt", keywords: []string{"eyj"}, gate: beginsJWT, before: 1, after: 4096,
		re: pattern.New(`\beyJ[A-Za-z0-9_\-]{14,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}`),
	},
	{
		name: "authorization", keywords: []string{"authorization"}, gate: isAssigned, after: 800,
		re:    pattern.New(`(?i)\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token|apikey)\s{1,3}([A-Za-z0-9+/=_\-.~:]{8,})`),
		group: 1, check: isNotPlaceholder,
	},
	{
		name: "url-password", keywords: []string{"://"}, gate: hasLogin, before: 20, after: 300,
		re:    pattern.New(`\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s/:@"'<>]{0,}:([^\s/@"'<>]{3,})@[^\s/"'<>]`),
		group: 1, check: isNotPlaceholder,
	},
	{
		name:     "assigned-secret",
		keywords: []string{"password", "passwd", "pwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "access-key", "accesskey", "private_key", "credential", "passphrase"},
		gate:     isAssigned, after: 300, trim: true,
		re: pattern.New(`(?i)(?:pass(?:word|wd|phrase)|pwd|secret|token|api[_\-]?key|access[_\-]?key|private[_\-]?key|credentials?)` +
			`[A-Za-z0-9_\-]{0,30}["'` + "`" + `\]]{0,2}\s{0,5}(?:=>|:=|==|=|:)\s{0,5}(?:["'` + "`" + `]([^\s"'` + "`" + `]{6,})["'` + "`" + `]|([^\s"'` + "`" + `,;(){}<>\[\]]{6,}))`),
		group: 1, check: isAssignedSecret,
	},
}
