// Package nearest finds the word that a misspelt one probably means.
package nearest

// To returns the candidate that word probably means, or "". That is the one with the fewest changed, missing, extra
// or swapped letters, at most a third of the word. For a word of one or two letters it returns "", because everything
// is near.
func To(word string, candidates []string) string {
	if len(word) < 3 || len(word) > 100 {
		return ""
	}
	best, limit := "", max(1, len(word)/3)
	for _, c := range candidates {
		if d := editDistance(word, c); d <= limit && c != word {
			best, limit = c, d-1
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, substitutions and swaps of neighbours between a and b, in
// bytes.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			rows[i][j] = cheapestEdit(rows, a, b, i, j)
		}
	}
	return rows[len(a)][len(b)]
}

func cheapestEdit(rows [][]int, a, b string, i, j int) int {
	cost := 1
	if a[i-1] == b[j-1] {
		cost = 0
	}
	d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
	if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
		d = min(d, rows[i-2][j-2]+1)
	}
	return d
}
