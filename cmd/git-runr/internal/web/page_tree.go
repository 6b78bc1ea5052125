package web

import "strings"

// treeNode is a line in the list of files: a file, or a directory with what is in it. A
// directory that has nothing in it but another one stands on the line of that.
type treeNode struct {
	Name     string
	File     *changedFile // nil of a directory
	Viewed   bool
	Comments int
	Items    []*treeNode
}

// Tree is the list of files, in their order, each directory once.
func (v reviewView) Tree() []*treeNode {
	root := &treeNode{}
	dirs := map[string]*treeNode{"": root}
	for i := range v.Files {
		f := &v.Files[i]
		parent := dirNode(dirs, f.Dir())
		parent.Items = append(parent.Items, &treeNode{Name: f.Base(), File: f, Viewed: v.Viewed[f.Path], Comments: v.PerFile[f.Path]})
	}
	root.join()
	return root.Items
}

// dirNode is the node of a directory, such as "a/b/", made where it is not there yet.
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

// join puts directories that stand alone in another one on its line.
func (n *treeNode) join() {
	for i, item := range n.Items {
		for item.File == nil && len(item.Items) == 1 && item.Items[0].File == nil {
			item = &treeNode{Name: item.Name + item.Items[0].Name, Items: item.Items[0].Items}
		}
		n.Items[i] = item
		item.join()
	}
}
