package record

import "testing"

func TestVoice(t *testing.T) {
	for _, test := range []struct {
		actor, want string
		voice       Voice
	}{
		{"Bob <bob@x>", "Bob <bob@x>", Voice{}},
		{"rev", "rev (writer 0123456)", Voice{Writer: "0123456789ab"}},
		{"Bob <bob@x> (host 1)", "Bob <bob@x> (writer 0123456)", Voice{Recorder: "B. <BOB@x>", Writer: "0123456789ab"}},
		{"Bob <bob@x> (writer 1), 0 <eve@x>", "Bob bob@x (writer 1), 0 <eve@x> (writer 0123456, the log of Ann <ann@x>)",
			Voice{Writer: "0123456789ab", LogOf: "Ann <ann@x>"}},
		{"Bob <bob@x>", "Bob <bob@x> (recorded by Eve <eve@x>)", Voice{Recorder: "Eve <eve@x>"}},
	} {
		if got := test.voice.Of(test.actor); got != test.want {
			t.Errorf("%q: %s, want %s", test.actor, got, test.want)
		}
	}
}

// TestTakesBack: a person's words are taken back by that person, in a log of their own or in the one that has them.
func TestTakesBack(t *testing.T) {
	own, shared := Voice{Writer: "b"}, Voice{Writer: "a", LogOf: "Ann <ann@x>"}
	inName := Voice{Writer: "a", Recorder: "Ann <ann@x>"}
	unsigned, otherKey := Voice{Writer: "b", Unproven: true, Unsigned: true}, Voice{Writer: "b", Unproven: true}
	for _, test := range []struct {
		name         string
		now, earlier Voice
		want         bool
	}{
		{"the same log", own, own, true},
		{"another log of one's own", Voice{Writer: "c"}, own, true},
		{"somebody else's log", shared, own, false},
		{"somebody else's log that has both", shared, shared, true},
		{"in one's name", inName, own, false},
		{"in one's name, what was said in it", inName, inName, true},
		{"in person, what was said in one's name", own, inName, true},
		{"signed, what was signed", own, own, true},
		{"signed, what was signed with a key that does not count any more", own, otherKey, true},
		{"signed, what was not", own, unsigned, true},
		{"unsigned, what was not signed", unsigned, unsigned, true},
		{"unsigned, what was signed", unsigned, own, false},
		{"unsigned, what was signed with a key that does not count any more", unsigned, otherKey, false},
		{"signed with a key that does not count, what was signed", otherKey, own, false},
	} {
		if got := test.now.takesBack(test.earlier, "Bob <bob@x>"); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
