package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spaceSite returns a change that consists largely of white space, with comments on such lines.
func spaceSite(t *testing.T) (s *site, id string) {
	s = newSite(t)
	text := strings.Repeat("line\n", 40)
	s.put("a space.txt", []byte("one\ntwo\n"))
	s.put("both.txt", []byte("first\n"+text+"last\n"))
	s.put("old.txt", []byte("kept\n"+text))
	s.put("link", []byte("text\n"))
	s.put("last.txt", []byte("z\n"))
	s.put("near.txt", []byte("a\tb\nc"))
	s.commit("before")
	s.put("a space.txt", []byte("one\n\ttwo  \n"))
	s.put("both.txt", []byte("  first\n"+text+"LAST\n"))
	runGit(t, s.dir, "mv", "old.txt", "moved.txt")
	s.put("moved.txt", []byte("kept \n"+text))
	os.Remove(filepath.Join(s.dir, "link"))
	if err := os.Symlink("text", filepath.Join(s.dir, "link")); err != nil {
		t.Fatal(err)
	}
	s.put("last.txt", []byte("zz\n"))
	s.put("near.txt", []byte("  a b\nd"))
	s.put("added.txt", []byte("  new\n"))
	s.commit("after")
	id = s.request()
	s.browser("POST", "/api/review/submissions/"+id+"/submit", `{"decision":"comment","comments":[
		{"file":"a space.txt","startLine":2,"comment":"a tab?"},
		{"file":"both.txt","startLine":1,"comment":"indented now"},
		{"file":"both.txt","startLine":1,"side":"old","comment":"as it was"}]}`).want(200)
	return s, id
}

func TestWhiteSpace(t *testing.T) {
	s, id := spaceSite(t)
	all := s.page("/review/" + id)
	hides(t, all, "Only white space changed", "data-space=", "white space hidden")
	shows(t, section(t, all, "a space.txt"), "a tab?", `<tr class="a">`)
	remembered := s.ask("GET", "/review/"+id, "", s.asPerson()+"; runr-space=ignore").want(200).text
	asked := s.page("/review/" + id + "?space=ignore")
	for _, page := range []string{remembered, asked} {
		checkHTML(t, page)
		shows(t, page, `data-space="ignore"`, "white space hidden", "+9</span>", "a tab?", "indented now", "as it was")
		for name, change := range map[string]string{"both.txt": "LAST", "last.txt": "zz", "added.txt": "new",
			"link": "text"} {
			if part := section(t, page, name); !strings.Contains(part, change) || strings.Contains(part, "Only white space") {
				t.Errorf("%s is shown as\n%s", name, part)
			}
		}
		for _, name := range []string{"a space.txt", "moved.txt"} {
			part := section(t, page, name)
			shows(t, part, "Only white space changed", "space=show")
			hides(t, part, "<table")
		}
		shows(t, section(t, page, "a space.txt"), "a tab?", "which the diff does not show")
		before, table, _ := strings.Cut(section(t, page, "both.txt"), "<table")
		shows(t, before, "indented now", "as it was")
		hides(t, table, `<mark>  </mark>`, `<td class="code">first`)
	}
	shows(t, section(t, remembered, "a space.txt"), `+1</span>`)
	ignore := s.asPerson() + "; runr-space=ignore"
	split := section(t, s.page("/review/"+id+"?space=ignore&view=split"), "near.txt")
	shows(t, split, `<td class="code x">a	b</td>`, `<td class="code x">  a b</td>`)
	one := s.ask("GET", "/review/"+id+"/diff?path=a+space.txt&space=show&fragment=1", "", ignore).want(200).text
	shows(t, one, `<tr class="a">`, "a tab?")
	hides(t, one, "Only white space")
	shows(t, s.ask("GET", "/review/"+id+"/diff?path=a+space.txt", "", ignore).want(200).text, "Only white space changed",
		"a tab?")
	// the lines of a gap have their comments, by the line numbers of both sides
	shows(t, s.ask("GET", "/review/"+id+"/lines?path=both.txt&old=1&new=1&count=3", "", ignore).want(200).text,
		"indented now", "as it was")
}

// The links to the rest of a file keep the white space option of the address.
func TestWhiteSpaceIsCarriedOn(t *testing.T) {
	s := newSite(t)
	var before, after strings.Builder
	for range rowsShown {
		before.WriteString("a\nb\n")
		after.WriteString(" a\nc\n")
	}
	s.put("long.txt", []byte(before.String()))
	s.commit("before")
	s.put("long.txt", []byte(after.String()))
	s.commit("after")
	id := s.request()
	page := s.page("/review/" + id + "/diff?path=long.txt&space=ignore")
	shows(t, page, "Show more of this file", "space=ignore")
	hides(t, page, "<mark> </mark>a")
	if n := strings.Count(page, `<tr class="x">`); n < rowsShown/4 {
		t.Errorf("%d lines are unchanged", n)
	}
}

// If a patch is cut off, the page makes no statement about the files after the cut.
func TestWhiteSpaceBehindACut(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("x", maxPatch)
	s.put("a.bin", []byte("1\n"))
	s.put("b.txt", []byte("b\n"))
	s.put("c.txt", []byte("c\n"))
	s.commit("before")
	s.put("a.bin", []byte(long+"\n"))
	s.put("b.txt", []byte(" b\n"))
	s.put("c.txt", []byte("cc\n"))
	s.commit("after")
	id := s.request()
	page := s.page("/review/" + id + "?space=ignore")
	hides(t, page, "Only white space")
	shows(t, section(t, page, "c.txt"), "data-lazy", "space=ignore")
	shows(t, s.page("/review/"+id+"/diff?path=b.txt&space=ignore"), "Only white space")
	hides(t, s.page("/review/"+id+"/diff?path=a.bin&space=ignore"), "Only white space")
}
