package mcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"
)

// What clients can read beside the tools.
const (
	diffTemplate    = "runr://review/{id}/diff{?file,cursor}"
	findingTemplate = "runr://review/{id}/finding/{finding}"
)

func diffURI(review string) string { return "runr://review/" + url.PathEscape(review) + "/diff" }

// pageURI is a page of a change, or of a file of it, as the template has it.
func pageURI(review, file, cursor string) string {
	query := ""
	for _, arg := range [][2]string{{"file", file}, {"cursor", cursor}} {
		if arg[1] != "" {
			query += "&" + arg[0] + "=" + strings.ReplaceAll(url.QueryEscape(arg[1]), "+", "%20")
		}
	}
	return diffURI(review) + strings.Replace(query, "&", "?", 1)
}

// plainURI is a URI of a change in the template's order and with all escaped that it wants so;
// any other is as it was.
func plainURI(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.Scheme != "runr" || u.Host != "review" {
		return given
	}
	id, isDiff := strings.CutSuffix(strings.TrimPrefix(u.Path, "/"), "/diff")
	query, err := url.ParseQuery(strings.NewReplacer("+", "%2B", ";", "%3B").Replace(u.RawQuery))
	file, cursor := query.Get("file"), query.Get("cursor")
	delete(query, "file")
	delete(query, "cursor")
	if !isDiff || err != nil || len(query) > 0 || id == "" {
		return given
	}
	return pageURI(id, file, cursor)
}

func findingURI(review, finding string) string {
	return "runr://review/" + url.PathEscape(review) + "/finding/" + url.PathEscape(finding)
}

// addResources adds the change of a review and the code around a finding.
func (s *Server) addResources() {
	s.addResource(&sdk.ResourceTemplate{
		Name: "diff", Title: "The change under review", MIMEType: "text/x-diff", URITemplate: diffTemplate,
		Description: "The patch of a review, or of one file of it. Where its last line says that there is more, cursor asks for it.",
	}, func(ctx context.Context, c call, in map[string]string) (string, error) {
		doc, err := c.diff(ctx, diffArgs{which{in["id"]}, in["file"], paged{in["cursor"]}})
		if err == nil && doc.Next != "" {
			doc.Patch += "[There is more: " + pageURI(doc.ID, in["file"], doc.Next) + "]\n"
		}
		return doc.Patch, err
	})
	s.addResource(&sdk.ResourceTemplate{
		Name: "finding", Title: "The code around a finding", MIMEType: "text/plain", URITemplate: findingTemplate,
		Description: "The lines that a finding or comment of a review is about, with those around them, as its reviewer saw them.",
	}, func(ctx context.Context, c call, in map[string]string) (string, error) {
		return c.code(ctx, in["id"], in["finding"])
	})
}

func (s *Server) addResource(t *sdk.ResourceTemplate, read func(context.Context, call, map[string]string) (string, error)) {
	template := uritemplate.MustNew(t.URITemplate)
	s.sdk.AddResourceTemplate(t, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		in := map[string]string{}
		for name, value := range template.Match(req.Params.URI) {
			in[name] = value.String()
		}
		project, err := s.Open(ctx)
		if err != nil {
			return nil, protocolError(err)
		}
		defer project.Close()
		text, err := read(ctx, call{Project: project}, in)
		if absent(err) {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		if err != nil {
			return nil, protocolError(err)
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: t.MIMEType, Text: text}}}, nil
	})
}

// protocolError is err where the protocol has no place for it in a result.
func protocolError(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: explain(err).Error()}
}
