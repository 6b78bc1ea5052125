package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"
)

// page times the responses of the page's server.
func (b *bench) page(h history, of measured, dir string) {
	cmd := b.command(dir, b.bin, "--json", "serve")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	defer stop(cmd)
	var served struct {
		URL   string `json:"url"`
		Login string `json:"login_url"`
	}
	if err := json.NewDecoder(out).Decode(&served); err != nil {
		log.Fatalf("git-runr serve: %v", err)
	}
	jar, _ := cookiejar.New(nil) // never an error without options
	client := &http.Client{Jar: jar, Timeout: time.Minute}
	fetch(client, served.Login)
	address := strings.TrimSuffix(served.URL, "/")
	listed := h.Reviews / 12 // those of the last month: the others are archived
	for _, p := range []struct{ what, path, want string }{
		{"page: inbox", "/review", h.waitingReview(max(h.Waiting-1, 0))},
		{"page: review", "/review/" + h.Last, "what the reviewer says"},
		{"page: all", "/review?status=all", "/review/"}, // no particular one: the turns before have requested many more
		{"page: all, in the middle", fmt.Sprintf("/review?status=all&page=%d", 1+listed/100), "/review/"},
		{"page: runs", "/runs", "/run/"},
	} {
		b.pageRow(p.what, of, client, address+p.path, p.want)
	}
	b.counted("page: memory of the server", of, "", fmt.Sprintf("%.0f MB", peak(cmd.Process.Pid)), "≤ 256 MB",
		peak(cmd.Process.Pid) <= 256)
}

func (b *bench) pageRow(what string, of measured, client *http.Client, url, want string) {
	if text := fetch(client, url); !strings.Contains(text, want) {
		log.Fatalf("%s does not show %q: %.600s", url, want, text)
	}
	var times []float64
	for range min(b.rounds, 11) {
		start := time.Now()
		fetch(client, url)
		times = append(times, ms(time.Since(start)))
	}
	took := usage{Wall: median(times)}
	b.put(row{what: what, size: of.size, events: of.events, did: duration(took.Wall), aim: "≤ 50 ms",
		held: yes(took.Wall <= 50), took: took})
}

func fetch(client *http.Client, url string) string {
	answer, err := client.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		log.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return string(text)
}
