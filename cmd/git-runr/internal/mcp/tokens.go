package mcp

// maxAnswer is the most tokens of an answer, its text and its document together, as tokens
// estimates them, which is at most 3 in 100 too few: no answer has 20,000.
const maxAnswer = 19_000

// maxHalf is the most tokens of the text, and of the document, where both say the same.
const maxHalf = maxAnswer / 2

// tokens is how many tokens a model reads a text as, of what is common rather too many than too
// few: a third more of prose and code, 1.0 to 1.4 times as many of hashes, base64 and bytes in hex.
// A limit of bytes that holds for those would cut prose at a third of what a model can be given.
func tokens(text string) int {
	fifths := 0
	for i := 0; i < len(text); {
		kind, from := kindOf(text[i]), i
		for i < len(text) && kindOf(text[i]) == kind {
			i++
		}
		switch n := i - from; {
		case kind == 'w':
			fifths += 5 * wordTokens(text[from:i])
		case kind == ' ' && n == 1: // belongs to the word behind it
		case kind == ' ' || kind == '\n':
			fifths += 5
		case kind == '!':
			fifths += 5 * ((n + 1) / 2)
		case kind == 'e':
			fifths += 6 * n
		default:
			fifths += 2 * n
		}
	}
	return (fifths + 4) / 5
}

// kindOf tells word, blank, line feed and sign apart, 'e' (a character of four bytes begins) and 'u'
// (another byte of what is no ASCII).
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return 'w'
	case c == ' ' || c == '\t':
		return ' '
	case c == '\n' || c == '\r':
		return '\n'
	case c >= 0xf0:
		return 'e'
	case c >= 0x80:
		return 'u'
	}
	return '!'
}

// maxPlain is how long a word may be that is in some language, in bytes.
const maxPlain = 24

// wordTokens is tokens of letters and digits: one for three digits, one for four letters, anew where
// capitals begin. What mixes them, or is longer than words are, has no words in it.
func wordTokens(word string) int {
	n, digits, letters, run := 0, 0, 0, 0
	for i := range len(word) {
		if c := word[i]; c <= '9' {
			digits++
			continue
		} else if letters++; c <= 'Z' && i > 0 && word[i-1] > 'Z' {
			n, run = n+(run+3)/4, 0
		}
		run++
	}
	switch {
	case digits > 0 && letters > 0 || len(word) > maxPlain:
		return (len(word)*4 + 4) / 5
	case digits > 0:
		return (digits + 2) / 3
	}
	return n + (run+3)/4
}
