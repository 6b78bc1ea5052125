/* Begin */

watchFiles();
for (const section of $$(".file.viewed")) setFolded(section, true);
for (const section of $$(".file:has(.diff .remark)")) tint(section);
current($(".file"));
findPlace().then(restoreDrafts).catch(complain);
if (watched && !document.hidden) listen();
if (location.hash && !document.getElementById(decodeURIComponent(location.hash.slice(1)))) {
  const link = $$('[data-do="jump"]').find((a) => new URL(a.href).hash === location.hash);
  if (link) jump(link);
}
if ($(".sent")) history.replaceState(null, "", location.pathname);
