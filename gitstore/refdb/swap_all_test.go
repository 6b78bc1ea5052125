package refdb

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// TestSwapAll checks that refs move together from their expected values, or none of them moves.
func TestSwapAll(t *testing.T) {
	const aa, bb, cc = "refs/runr/log/aa", "refs/runr/log/bb", "refs/runr/log/cc"
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			ids := testCommits(t, repo, 3)
			stand := func(want map[string]odb.ID) {
				t.Helper()
				have, err := repo.Refs(ctx, "refs/runr/log/")
				if err != nil || !maps.Equal(have, want) {
					t.Errorf("%v, %v: want %v", have, err, want)
				}
			}
			if err := repo.SwapAll(ctx, []Moved{{aa, ids[0], ""}, {bb, ids[0], ""}}); err != nil {
				t.Fatal(err)
			}
			stand(map[string]odb.ID{aa: ids[0], bb: ids[0]})
			for name, moves := range map[string][]Moved{
				"another old":     {{aa, ids[1], ids[0]}, {bb, ids[1], ids[2]}},
				"is there":        {{aa, ids[1], ids[0]}, {bb, ids[1], ""}},
				"is not there":    {{aa, ids[1], ids[0]}, {cc, ids[1], ids[0]}},
				"no such object":  {{aa, ids[1], ids[0]}, {bb, repo.objects.ZeroID()[1:] + "1", ids[0]}},
				"name in the way": {{aa, ids[1], ids[0]}, {bb + "/x", ids[1], ""}},
			} {
				if err := repo.SwapAll(ctx, moves); err == nil {
					t.Errorf("%s: moved", name)
				}
				stand(map[string]odb.ID{aa: ids[0], bb: ids[0]})
			}
			if err := repo.SwapAll(ctx, []Moved{{aa, ids[1], ids[0]}, {cc, ids[2], ""}}); err != nil {
				t.Error(err)
			}
			stand(map[string]odb.ID{aa: ids[1], bb: ids[0], cc: ids[2]})

			unlock, err := repo.dir.Lock(ctx, "refs") // the holder may remove a lock file
			if err != nil {
				t.Fatal(err)
			}
			defer unlock()
			brief, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			if err := repo.SwapAll(brief, []Moved{{aa, ids[2], ids[1]}}); err == nil {
				t.Error("moved beside another writer")
			}
			stand(map[string]odb.ID{aa: ids[1], bb: ids[0], cc: ids[2]})
		})
	}
}
