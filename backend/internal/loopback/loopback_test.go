package loopback

import "testing"

func TestExposes(t *testing.T) {
	for address, want := range map[string]bool{
		"": false, "https://api.example.test/v1": false, "http://localhost:11434/v1": false, "http://LOCALHOST./": false,
		"http://127.0.0.1:8080": false, "http://127.8.9.1": false, "http://[::1]:1234/v1": false, "http://[::ffff:127.0.0.1]": false,
		"http://ollama.localhost": false, "http://192.168.1.5:11434/v1": true, "HTTP://gpu.lan": true, "http://127.0.0.1.example.test": true,
		"http://0.0.0.0:8080": true, "http://[fe80::1]/v1": true, "http://localhost.example.test": true, " http://gpu.lan": true,
	} {
		if got := Exposes(address); got != want {
			t.Errorf("Exposes(%q) = %v", address, got)
		}
	}
}
