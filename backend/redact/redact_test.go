package redact

import (
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// fill returns n characters of an alphabet that are not part of a real secret.
func fill(alphabet string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(alphabet[(i*7+i/3)%len(alphabet)])
	}
	return b.String()
}

const (
	alnum = "aB3dE5gH7jK9mN1pQ4rS6tU8vW0xY2zC"
	hexa  = "0a1b2c3d4e5f6978"
	base  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

func outbound(t testing.TB, patterns ...string) *Redactor {
	t.Helper()
	r, err := New(true, patterns)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// secrets contains one or more of each kind, within other text; the part between ‹ and › is the secret.
func secrets() map[string][]string {
	return map[string][]string{
		"private-key": {
			"here:\n‹-----BEGIN RSA PRIVATE KEY-----\n" + fill(alnum, 64) + "\n" + fill(alnum, 40) + "==\n-----END RSA PRIVATE KEY-----›\nthanks",
			"‹-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat(fill(alnum, 70)+"\n", 20) + "-----END OPENSSH PRIVATE KEY-----›",
			`{"private_key": "‹-----BEGIN PRIVATE KEY-----\n` + fill(alnum, 64) + `\n-----END PRIVATE KEY-----›\n"}`,
			"cut: ‹-----BEGIN EC PRIVATE KEY-----\n" + fill(alnum, 64) + "›",
		},
		"anthropic-key":         {"key ‹sk-ant-api03-" + fill(alnum, 90) + "› ok", "(‹sk-ant-" + fill(alnum, 24) + "›)"},
		"openrouter-key":        {"‹sk-or-v1-" + fill(hexa, 64) + "›"},
		"openai-key":            {"use ‹sk-proj-" + fill(alnum, 60) + "›, please", "‹sk-" + fill(alnum, 48) + "›", "\"‹sk-svcacct-" + fill(alnum, 40) + "›\""},
		"stripe-key":            {"‹sk_live_" + fill(alnum, 24) + "›", "‹rk_test_" + fill(alnum, 30) + "›"},
		"stripe-webhook-secret": {"‹whsec_" + fill(alnum, 32) + "›"},
		"github-token":          {"‹ghp_" + fill(alnum, 36) + "›", "git clone with ‹ghs_" + fill(alnum, 36) + "›.", "‹github_pat_" + fill(alnum, 82) + "›"},
		"gitlab-token":          {"‹glpat-" + fill(alnum, 20) + "›"},
		"aws-access-key":        {"id ‹AKIA" + fill(base, 16) + "› and", "‹ASIA" + fill(base, 16) + "›"},
		"aws-secret-key":        {"aws_secret_access_key = ‹" + fill(alnum, 40) + "›", `AWS_SECRET_KEY: "‹` + fill(alnum, 40) + `›"`},
		"google-api-key":        {"‹AIza" + fill(alnum, 35) + "›"},
		"google-oauth-secret":   {"‹GOCSPX-" + fill(alnum, 28) + "›"},
		"google-oauth-token":    {"‹ya29." + fill(alnum, 60) + "›"},
		"azure-key":             {"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=‹" + fill(alnum, 86) + "==›;EndpointSuffix=core"},
		"azure-signature":       {"https://a.blob.core.windows.net/c?sv=2022&sig=‹" + fill(alnum, 43) + "%3D›"},
		"azure-client-secret":   {"is ‹a1B8Q~" + fill(alnum, 34) + "›"},
		"slack-token":           {"‹xoxb-" + fill("0123456789", 12) + "-" + fill(alnum, 24) + "›", "‹xapp-1-" + fill(alnum, 40) + "›"},
		"slack-webhook":         {"‹https://hooks.slack.com/services/T" + fill(base, 8) + "/B" + fill(base, 8) + "/" + fill(alnum, 24) + "›"},
		"discord-webhook":       {"‹https://discord.com/api/webhooks/" + fill("123456789", 18) + "/" + fill(alnum, 68) + "›"},
		"telegram-token":        {"bot ‹" + fill("123456789", 9) + ":AA" + fill(alnum, 33) + "›"},
		"sendgrid-key":          {"‹SG." + fill(alnum, 22) + "." + fill(alnum, 43) + "›"},
		"twilio-key":            {"‹SK" + fill(hexa, 32) + "›"},
		"mailgun-key":           {"‹key-" + fill(hexa, 32) + "›"},
		"npm-token":             {"//registry/:_authToken ‹npm_" + fill(alnum, 36) + "›"},
		"pypi-token":            {"‹pypi-AgEI" + fill(alnum, 80) + "›"},
		"huggingface-token":     {"‹hf_" + fill("abcDEFghiJKL", 34) + "›"},
		"digitalocean-token":    {"‹dop_v1_" + fill(hexa, 64) + "›"},
		"shopify-token":         {"‹shpat_" + fill(hexa, 32) + "›"},
		"databricks-token":      {"‹dapi" + fill(hexa, 32) + "›"},
		"hashicorp-token":       {"‹hvs." + fill(alnum, 30) + "›"},
		"groq-key":              {"‹gsk_" + fill(alnum, 52) + "›"},
		"xai-key":               {"‹xai-" + fill(alnum, 80) + "›"},
		"perplexity-key":        {"‹pplx-" + fill(alnum, 48) + "›"},
		"age-key":               {"‹AGE-SECRET-KEY-1" + fill("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58) + "›"},
		"jwt":                   {"‹eyJ" + fill(alnum, 30) + ".eyJ" + fill(alnum, 60) + "." + fill(alnum, 43) + "›"},
		"authorization":         {"Authorization: Bearer ‹" + fill(alnum, 30) + "›", `-H "authorization: basic ‹dXNlcjpzM2NyZXQ=›"`},
		"url-password":          {"postgres://app:‹s3cr3t!x›@db.internal:5432/app", "https://ci:‹hunter22›@git.example.org/x.git"},
		"assigned-secret": {
			"password = ‹Tr0ub4dor&3›", "DB_PASSWORD=‹hunter2x9›\n", `api_key: "‹` + fill(alnum, 24) + `›"`, `"clientSecret": "‹q8Zr-41Lm_7›"`,
			"export MY_TOKEN='‹zX81-99aP-qq17›'", "passphrase: ‹c0rrectH0rse›", `config["secret"] = "‹v9Kq2LmZ41›"`, "the password: ‹Kn0bl@uch›.",
		},
	}
}

func TestEachRuleFinds(t *testing.T) {
	r := outbound(t)
	cases := secrets()
	for _, rule := range rules {
		if len(cases[rule.name]) == 0 {
			t.Errorf("no case for rule %s", rule.name)
		}
	}
	for name, texts := range cases {
		for _, text := range texts {
			before, rest, _ := strings.Cut(text, "‹")
			secret, after, _ := strings.Cut(rest, "›")
			clean, found := r.Redact(before + secret + after)
			if want := before + "[redacted:" + name + "]" + after; clean != want {
				t.Errorf("%s: %q\n became %q\n want   %q", name, before+secret+after, clean, want)
				continue
			}
			if len(found) != 1 || found[0].Rule != name || found[0].Bytes != len(secret) {
				t.Errorf("%s: found %+v", name, found)
			}
			if again, more := r.Redact(clean); again != clean || more != nil {
				t.Errorf("%s: the second time %q", name, again)
			}
		}
	}
}

// Near misses: text that looks like a secret but is not one.
func TestNearMisses(t *testing.T) {
	r := outbound(t)
	for _, text := range []string{
		"", "Nothing to see here.", "日本語のパスワード：ひみつ", "\xff\xfe",
		"-----BEGIN PUBLIC KEY-----\n" + fill(alnum, 64) + "\n-----END PUBLIC KEY-----",
		"-----BEGIN CERTIFICATE-----\n" + fill(alnum, 64) + "\n-----END CERTIFICATE-----",
		"A file begins with -----BEGIN RSA PRIVATE KEY----- and then base64.",
		"The key begins with sk-ant- and is long.", "sk-ant-short", "sk-learn is a library", "task-" + fill(alnum, 40), "risk-" + fill(alnum, 40),
		"ghp_tooshort", "xghp_" + fill(alnum, 36), "AKIA is a prefix", "AKIAIOSFODNN7", "AKIAAAAAAAAAAAAAAAAA", "MAKIA" + fill(base, 16),
		"AIza is how they begin", "xoxb-short", "eyJhbGciOiJIUzI1NiJ9 alone is a header", "commit " + fill(hexa, 40), "sha256:" + fill(hexa, 64),
		"123e4567-e89b-12d3-a456-426614174000", "max_tokens = 4096", "max_tokens: 128000, temperature: 0.7", "token_count=1234567",
		"password: string", "password = None", "password=${DB_PASSWORD}", "password: <your password>", "api_key = your-api-key-here", "API_KEY=$OPENAI_KEY",
		"token := newToken2(ctx)", "secret = os.Getenv(\"X1\")", "apiKey: process.env.KEY1", "password: please change it soon", "The secret: always salt your pasta.",
		"tokens == other.tokens2", "token = strings.TrimSpace(tok)", "secret_path = /etc/app/secret1.txt", "token_url: https://example.com/oauth2/token1",
		"https://example.com:8080/path@2x.png", "http://user@example.com/", "postgres://app:${PASSWORD}@db/app", "https://user:password@example.com",
		"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "the authorization of user 12345678", "sig=short", "?sig=" + strings.Repeat("a", 50),
		"hvs.short", "SG.1 and SG.2", "SKU 12345", "key-value", "npm_config_registry", "hf_hub_download", "[redacted:openai-key]", `password = "[redacted:assigned-secret]"`,
	} {
		if clean, found := r.Redact(text); clean != text || found != nil {
			t.Errorf("%q became %q (%+v)", text, clean, found)
		}
	}
}

func TestSeveralInOneText(t *testing.T) {
	r := outbound(t)
	text := "a " + "ghp_" + fill(alnum, 36) + " b AKIA" + fill(base, 16) + "\npassword=" + "hunter2x9" + " c ghp_" + fill(alnum, 36)
	clean, found := r.Redact(text)
	if clean != "a [redacted:github-token] b [redacted:aws-access-key]\npassword=[redacted:assigned-secret] c [redacted:github-token]" {
		t.Errorf("%q", clean)
	}
	if len(found) != 4 || found[1].Rule != "aws-access-key" || found[1].Bytes != 20 {
		t.Errorf("%+v", found)
	}
}

func TestPatterns(t *testing.T) {
	r := outbound(t, `\bEMP-\d{4}\b`, `Project\s+Falcon`, `x*`, `redacted`)
	clean, found := r.Redact("EMP-1234 works on Project  Falcon; EMP-12 does not. ghp_" + fill(alnum, 36))
	if clean != "[redacted:pattern] works on [redacted:pattern]; EMP-12 does not. [redacted:github-token]" || len(found) != 3 {
		t.Errorf("%q %+v", clean, found)
	}
	if again, more := r.Redact(clean); again != clean || more != nil {
		t.Errorf("the second time %q", again)
	}
	_, err := New(true, []string{"ok", "("})
	if chat.CodeOf(err) != chat.CodeConfig || !strings.Contains(err.Error(), "Pattern 2") {
		t.Errorf("error %v", err)
	}
}

func TestOffAndRules(t *testing.T) {
	off, err := New(false, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	text := "a password=hunter2x9"
	if clean, found := off.Redact(text); clean != text || found != nil {
		t.Errorf("redacted although it is off: %q", clean)
	}
	a, b, c := outbound(t), outbound(t, "a"), outbound(t, "a")
	if off.Rules() == a.Rules() || a.Rules() == b.Rules() || b.Rules() != c.Rules() {
		t.Errorf("rules %q %q %q %q", off.Rules(), a.Rules(), b.Rules(), c.Rules())
	}
}

// Inputs on which naive expressions are slow. With quadratic time this would exceed the time limit of the suite.
func TestHugeInputs(t *testing.T) {
	r := outbound(t, "e")
	for _, unit := range []string{"a", "sk-", "password=", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n", "eyJ.", "://a:", "token: \"", "Authorization: ", "[redacted:", "e"} {
		start := time.Now()
		clean, found := r.Redact(strings.Repeat(unit, 1<<16/len(unit)))
		t.Logf("%q: %v", unit, time.Since(start).Round(time.Millisecond))
		if again, more := r.Redact(clean); again != clean || len(more) > 0 {
			t.Errorf("%q: of %d secrets %d are found the second time", unit, len(found), len(more))
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, texts := range secrets() {
		for _, text := range texts {
			f.Add(strings.NewReplacer("‹", "", "›", "").Replace(text))
		}
	}
	r := outbound(f, `id-\d+`)
	f.Fuzz(func(t *testing.T, s string) {
		clean, found := r.Redact(s)
		if again, _ := r.Redact(s); again != clean {
			t.Fatal("not deterministic")
		}
		if (clean == s) != (len(found) == 0) {
			t.Fatalf("%q became %q and %d were reported", s, clean, len(found))
		}
		if twice, more := r.Redact(clean); len(found) > 0 && (twice != clean || len(more) > 0) {
			t.Fatalf("%q became %q and then %q", s, clean, twice)
		}
	})
}

func prose() string {
	return strings.Repeat("The quick brown fox asks for a token of trust: it is secretive, and its task is to pass the desk with a keyboard. "+
		"See https://example.com/page?x=1 for the tokens used, or backend/store/open.go; nothing risky here, says the secretary.\n", 4000)
}

func BenchmarkProse(b *testing.B) {
	r, text := outbound(b), prose()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}

func TestKeywordTable(t *testing.T) {
	if n := len(keywords.lists); n > 255 {
		t.Errorf("%d keyword prefixes do not fit the table", n)
	}
	for _, r := range rules {
		for _, k := range r.keywords {
			if len(k) < 2 || strings.ToLower(k) != k {
				t.Errorf("keyword %q of %s", k, r.name)
			}
		}
	}
}
