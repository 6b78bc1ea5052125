package web

import (
	"strings"
	"testing"
)

func TestBlame(t *testing.T) {
	s := newSite(t)
	s.put("old.txt", []byte(strings.Repeat("line\n", 40)))
	s.commit("The first")
	runGit(t, s.dir, "mv", "old.txt", "new.txt")
	s.put("new.txt", []byte(strings.Repeat("line\n", 20)+"two\n"+strings.Repeat("line\n", 20)))
	runGit(t, s.dir, "-c", `user.name=A" onmouseover="alert(1)`, "-c", "user.email=e@x.test", "commit", "-qam",
		"Then \"this\" <b>")
	s.put("new.txt", []byte(strings.Repeat("line\n", 20)+"two\n"+strings.Repeat("line\n", 19)+"end\n"))
	s.put("more.txt", []byte("more\n"))
	runGit(t, s.dir, "rm", "-q", "a.txt")
	s.commit("The last")
	ids := strings.Fields(runGit(t, s.dir, "log", "-3", "--format=%h"))
	first, second, last := ids[2], ids[1], ids[0]

	id := s.request()
	page := s.page("/review/" + id)
	shows(t, section(t, page, "new.txt"), "blame=1", "Show who wrote the lines (b)")
	hides(t, section(t, page, "a.txt"), "blame=1")
	hides(t, page, `<td class="bl"`)
	for view, columns := range map[string]string{"unified": `colspan="5"`, "split": `colspan="7"`} {
		blame := s.page("/review/" + id + "/diff?path=new.txt&blame=1&view=" + view)
		checkHTML(t, blame)
		shows(t, blame, `title="The first · `, "<code>"+first+"</code>", "<code>"+last+"</code>", "The last · ", columns,
			"Hide who wrote the lines", "/lines?blame=1")
		if said, told := strings.Count(blame, "<code>"+first), strings.Count(blame, `title="The first`); said != 1 ||
			told != 3 {
			t.Errorf("%s: a commit is said %d times for %d lines", view, said, told)
		}
	}
	gap := s.page("/review/" + id + "/lines?path=new.txt&old=20&new=20&count=3&blame=1")
	shows(t, gap, "<code>"+first+"</code>", "<code>"+second+"</code>",
		`title="Then &#34;this&#34; &lt;b&gt; · A&#34; onmouseover`, "<b>A&#34; onmouseover")
	checkHTML(t, gap)
	shows(t, s.page("/review/"+id+"/diff?path=more.txt&blame=1"), "<code>"+last+"</code>")
	hides(t, s.page("/review/"+id+"/diff?path=a.txt&blame=1"), `<td class="bl"`, "not known")

	// uncommitted lines have no commit to name
	s.put("new.txt", []byte(strings.Repeat("line\n", 20)+"two\n"+strings.Repeat("line\n", 19)+"ende\n"))
	asked := s.api("POST", "/api/review/sessions", `{"files":["new.txt"]}`).want(200).object()["id"].(string)
	snapshot := s.page("/review/" + asked + "/diff?path=new.txt&blame=1")
	shows(t, snapshot, "not committed", "<code>"+first+"</code>")

	// git's error is shown, and the diff as well
	runGit(t, s.dir, "config", "blame.ignoreRevsFile", "nowhere")
	failed := s.page("/review/" + id + "/diff?path=new.txt&blame=1")
	shows(t, failed, "The authors of the lines are not known: could not open", "nowhere", `<tr class="a">`)
	hides(t, failed, `<td class="bl"`)
}
