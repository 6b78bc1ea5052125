package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// webpImage returns the beginning of a WebP file of a kind, which contains its size.
func webpImage(kind string, width, height int) []byte {
	head := append([]byte("RIFF\x20\x00\x00\x00WEBP"+kind), 0x0a, 0, 0, 0)
	switch w, h := width-1, height-1; kind {
	case "VP8 ":
		head = append(head, 0, 0, 0, 0x9d, 0x01, 0x2a, byte(width), byte(width>>8), byte(height), byte(height>>8))
	case "VP8L":
		bits := w | h<<14
		head = append(head, 0x2f, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24))
	default:
		head = append(head, 0, 0, 0, 0, byte(w), byte(w>>8), byte(w>>16), byte(h), byte(h>>8), byte(h>>16))
	}
	return append(head, make([]byte, 8)...)
}

// encoded returns files of an image in the formats that the page shows, except PNG. Of WebP they are only the
// beginning, which contains the size.
func encoded(t testing.TB, width, height int) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, width, height), []color.Color{color.White, color.Black})
	var jpg, animated bytes.Buffer
	if err := jpeg.Encode(&jpg, picture, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&animated, picture, nil); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"photo.JPG": jpg.Bytes(), "moving.gif": animated.Bytes(),
		"a.webp": webpImage("VP8 ", width, height), "b.webp": webpImage("VP8L", width, height),
		"c.webp": webpImage("VP8X", width, height),
	}
}

func TestImages(t *testing.T) {
	s := newSite(t)
	s.put("same.png", pngImage(t, 4))
	s.put("gone.png", pngImage(t, 5))
	s.put("broken.png", []byte("no\x00 image"))
	s.put("large.png", append(pngImage(t, 6), make([]byte, maxImage)...))
	for name, data := range encoded(t, 300, 20) {
		s.put(name, data)
	}
	s.commit("before")
	s.put("same.png", pngImage(t, 8))
	os.Remove(filepath.Join(s.dir, "gone.png"))
	s.put("added.png", pngImage(t, 7))
	s.put("broken.png", pngImage(t, 9))
	s.put("large.png", pngImage(t, 6))
	s.put("vast.webp", webpImage("VP8L", 16000, 16000))
	for name, data := range encoded(t, 20, 300) {
		s.put(name, data)
	}
	s.commit("after")
	id := s.request()
	page := s.page("/review/" + id)
	checkHTML(t, page)
	part := func(name string) string { return section(t, page, name) }
	shows(t, part("same.png"), `width="4" height="4"`, `width="8" height="4"`, "4 × 4", "8 × 4",
		fmt.Sprint(len(pngImage(t, 4))), " B<", "Side by side", "Swipe", "Full size", `type="range"`)
	hides(t, part("same.png"), "All lines")
	shows(t, part("gone.png"), "before", "5 × 4", "side=old")
	shows(t, part("added.png"), "after", "7 × 4", "side=new")
	hides(t, part("gone.png")+part("added.png"), "Swipe", "All lines")
	for name := range encoded(t, 1, 1) {
		shows(t, part(name), "300 × 20", "20 × 300", "Swipe")
	}
	shows(t, part("broken.png"), "not an image that browsers show", "9 × 4")
	shows(t, part("large.png"), "too large to show", "8.0 MiB", "6 × 4")
	shows(t, part("vast.webp"), "too many pixels to show")
	hides(t, part("broken.png")+part("large.png")+part("vast.webp"), "Swipe")
	if n := strings.Count(part("broken.png"), "<img"); n != 1 {
		t.Errorf("%d images", n)
	}
	for _, path := range []string{"broken.png&side=old", "large.png&side=old", "vast.webp"} {
		if status := s.ask("GET", "/review/"+id+"/raw?path="+path, "", s.asPerson()).StatusCode; status != 400 &&
			status != 413 {
			t.Errorf("%s: status %d", path, status)
		}
	}
	for _, path := range []string{"../x", "/etc/passwd", "%00", "", "a/../../x", "gone", "broken.png/x"} {
		s.ask("GET", "/review/"+id+"/raw?side=new&path="+path, "", s.asPerson()).want(404)
		s.ask("GET", "/review/"+id+"/raw?side=old&path="+path, "", s.asPerson()).want(404)
	}
	s.ask("GET", "/review/"+id+"/raw?path=a.webp", "").want(401)
	kept := s.ask("GET", "/review/"+id, "", s.asPerson()+"; runr-images=swipe").want(200).text
	shows(t, kept, `data-images="swipe"`, `data-value="swipe" aria-pressed="true"`)
}

// Images are read to be measured, but only up to a limit per answer.
func TestManyImages(t *testing.T) {
	s := newSite(t)
	for i := range 6 {
		s.put(fmt.Sprintf("%d.png", i), append(pngImage(t, 8), make([]byte, firstPictures/2)...))
	}
	s.commit("images")
	page := s.page("/review/" + s.request())
	if n := strings.Count(page, "<img src=\"/review"); n != 2 {
		t.Errorf("%d images are shown at once", n)
	}
	shows(t, section(t, page, "5.png"), "data-lazy", "Show the diff")
}

func FuzzImageSize(f *testing.F) {
	for _, data := range encoded(f, 30, 40) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, why := imageType("a.png", data)
		if width, height := imageSize(data); width < 0 || height < 0 || why == "" && width*height > maxPixels {
			t.Errorf("%d × %d", width, height)
		}
	})
}
