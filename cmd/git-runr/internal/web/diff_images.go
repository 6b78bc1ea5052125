package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	_ "image/gif" // so that image.DecodeConfig knows it
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// imageView is one version of an image.
type imageView struct {
	Label         string // before, after
	URL           string // "" if it is not shown
	Width, Height int    // in pixels, 0 if unknown
	Size          string
	Why           string // why it is not shown
}

// Swipes reports whether there are two images to lay over each other.
func (v fileView) Swipes() bool {
	return len(v.Images) == 2 && v.Images[0].URL != "" && v.Images[1].URL != ""
}

// maxImage is the size in bytes of the largest image that is shown.
const maxImage = 8 << 20

// rasterTypes are the image types that are shown with every change, detected by content as net/http does. SVG is text
// that may contain scripts. It is shown only on request, in an element and under a policy that each prevent browsers
// from running scripts and loading anything.
var rasterTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// isImage reports by its name whether the file is an image and not text.
func (f changedFile) isImage() bool {
	return f.Binary && slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"},
		strings.ToLower(path.Ext(f.Path)))
}

// imageBytes returns how many bytes are read to measure the image, or 0 if the file is not an image.
func (f changedFile) imageBytes(sizes fileSizes) (n int64) {
	if !f.isImage() {
		return 0
	}
	for _, size := range []int64{sizes[record.SideOld][f.From()], sizes[record.SideNew][f.Path]} {
		if size <= maxImage {
			n += size
		}
	}
	return n
}

// images returns the versions of an image that browsers can show, or nil if the file is not an image.
func (p *pages) images(ctx context.Context, c comparison, f changedFile, sizes fileSizes) ([]imageView, error) {
	if !f.isImage() && !f.isDrawing() {
		return nil, nil
	}
	var found []imageView
	for _, side := range sidesOf(c, f) {
		size, there := sizes[side.side][side.path]
		if !there {
			continue
		}
		v := imageView{Label: side.label, URL: c.url("raw", "path", side.path, "side", string(side.side)),
			Size: prose.Bytes(size)}
		if size > maxImage {
			v.Why = "too large to show"
		} else {
			data, err := p.repo.Blob(ctx, side.tree, side.path)
			if err != nil {
				return nil, err
			}
			v.Width, v.Height = imageSize(data)
			_, v.Why = imageType(side.path, data)
		}
		if v.Why != "" {
			v.URL = ""
		}
		found = append(found, v)
	}
	return found, nil
}

// maxPixels is the largest image that is shown, in pixels: a small file can unpack to much memory in the browser.
const maxPixels = 64 << 20

// maxDrawing is the size in bytes of the largest SVG that is shown: a small file can keep a browser busy.
const maxDrawing = 512 << 10

func isSVG(name string) bool { return strings.EqualFold(path.Ext(name), ".svg") }

// imageType returns the content type to serve an image with, or the reason why it is not served.
func imageType(name string, data []byte) (kind, why string) {
	kind = http.DetectContentType(data)
	width, height := imageSize(data)
	switch {
	case isSVG(name) && len(data) > maxDrawing:
		return "", "too large to show"
	case isSVG(name):
		return "image/svg+xml", ""
	case !slices.Contains(rasterTypes, kind):
		return "", "not an image that browsers show"
	case width*height > maxPixels:
		return "", "too many pixels to show"
	}
	return kind, ""
}

// imageSize returns the width and height of an image in pixels, or 0 if they are unknown.
func imageSize(data []byte) (width, height int) {
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		return config.Width, config.Height
	}
	return webpSize(data)
}

// webpSize reads the size from the first chunk of a WebP file, which is of one of three kinds.
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0
	}
	little := binary.LittleEndian
	switch string(data[12:16]) {
	case "VP8 ":
		return int(little.Uint16(data[26:]) & 0x3fff), int(little.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := little.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return int(little.Uint32(data[24:])&0xffffff) + 1, int(little.Uint32(data[26:])>>8) + 1
	}
	return 0, 0
}

// raw serves one side of an image, and nothing else.
func (p *pages) raw(w http.ResponseWriter, r *http.Request, one oneFile) error {
	name, tree := one.file.Path, one.to
	if r.FormValue("side") == string(record.SideOld) {
		name, tree = one.file.From(), one.from
	}
	sizes, err := p.repo.FileSizes(r.Context(), tree, []string{name})
	if err != nil {
		return err
	}
	if sizes[name] > maxImage {
		return gitstore.ErrTooLarge
	}
	data, err := p.repo.Blob(r.Context(), tree, name)
	if err != nil {
		return err
	}
	kind, why := imageType(name, data)
	if why != "" {
		return badRequest("%q: %s", name, why)
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); isSVG(name) && dest != "" && dest != "image" {
		return badRequest("%q is shown within a page only", name)
	}
	w.Header().Set("Vary", "Sec-Fetch-Dest")
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	_, err = w.Write(data)
	return err
}
