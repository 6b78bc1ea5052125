package agent

import (
	"testing"

	"github.com/git-runr/git-runr/loop/spend"
)

func TestOwnAnswer(t *testing.T) {
	lines := "warming up {\n" + `{"type":"item","item":{"type":"talk","text":"hm"}}` + "\r\n" +
		`{"type":"item","item":{"type":"agent_message","text":"well"}}
{"type":"usage","u":{"in":10,"out":2},"cost":0.25}
{"type":"item","item":{"type":"talk","text":"bye"}}
{"type":"usage","u":{"in":5,"out":1},"cost":0.5}
not json {"a"
`
	for _, tc := range []struct{ name, output, at, text, problem string }{
		{"a line", lines, "item.text", "bye", ""},
		{"a line of a kind", lines, "item.text where item.type=agent_message", "well", ""},
		{"none", lines, "result", "", `its output has no answer at "result"`},
		{"empty", `{"result":" \n"}`, "result", "", `its answer at "result" is empty`},
		{"null", `{"result":null}`, "result", "", `its output has no answer at "result"`},
		{"over several lines", "{\n  \"message\": {\n    \"content\": [{\"text\": \"fine\"}]\n  }\n}\n",
			"message.content.0.text", "fine", ""},
		{"no such item", `{"a":[1]}`, "a.1", "", `its output has no answer at "a.1"`},
		{"no such object", `{"a":"x"}`, "a.b", "", `its output has no answer at "a.b"`},
		{"an object", `{"review":{"verdict":"PASS"}}`, "review", `{"verdict":"PASS"}`, ""},
		{"nothing", "", "result", "", `its output has no answer at "result"`},
		{"broken after it", `{"result":"fine"}` + "\n" + `{"result": "I was wrong`, "result", "",
			`the JSON that may hold its answer at "result" cannot be read: unexpected EOF`},
		{"broken before it", `{"type": "half` + "\n" + `{"result":"fine"}`, "result", "fine", ""},
		{"words after it", `{"result":"fine"}` + "\n{done} in 3 s\n", "result", "fine", ""},
		{"a key twice", `{"result":"no","result":"fine"}`, "result", "",
			`the JSON that may hold its answer at "result" cannot be read: duplicate key "result"`},
		{"a key twice before it", `{"a":1,"a":2}{"result":"fine"}`, "result", "fine", ""},
	} {
		got := Own{Answer: tc.at}.answer([]byte(tc.output))
		if got.Text != tc.text || got.Detail != tc.problem || (got.Problem == "") != (tc.problem == "") {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
	own := Own{Usage: map[string]string{"input": "u.in where type=usage", "output": "u.out", "cost": "cost",
		"cached": "item"}}
	if got, want := own.usage([]byte(lines)), (spend.Usage{Input: 15, Output: 3, Cost: 0.75}); got != want {
		t.Errorf("usage %+v, want %+v", got, want)
	}
}
