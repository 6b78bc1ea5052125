package web

import "strings"

// treeNode is a line in the tree of files: a file, or a directory with its items. A directory that contains only
// another directory shares its line.
type treeNode struct {
	Name     string
	File     *changedFile // nil for a directory
	Viewed   bool
	Comments int
	Items    []*treeNode
}

// Tree returns the files as a tree, in their order, each directory once.
func (v reviewView) Tree() []*treeNode {
	root := &treeNode{}
	dirs := map[string]*treeNode{"": root}
	for i := range v.Files {
		f := &v.Files[i]
		parent := dirNode(dirs, f.Dir())
		parent.Items = append(parent.Items, &treeNode{Name: f.Base(), File: f, Viewed: v.Viewed[f.Path],
			Comments: v.PerFile[f.Path]})
	}
	root.join()
	return root.Items
}

// dirNode returns the node of a directory, such as "a/b/", and creates it if it is missing.
func dirNode(dirs map[string]*treeNode, dir string) *treeNode {
	if node := dirs[dir]; node != nil {
		return node
	}
	above := dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
	parent := dirNode(dirs, above)
	node := &treeNode{Name: dir[len(above):]}
	dirs[dir] = node
	parent.Items = append(parent.Items, node)
	return node
}

// join merges each directory with the directory that is its only item.
func (n *treeNode) join() {
	for i, item := range n.Items {
		for item.File == nil && len(item.Items) == 1 && item.Items[0].File == nil {
			item = &treeNode{Name: item.Name + item.Items[0].Name, Items: item.Items[0].Items}
		}
		n.Items[i] = item
		item.join()
	}
}
