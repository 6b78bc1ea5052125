/* Begin */

watchFiles();
for (const section of $$(".file.viewed")) setFolded(section, true);
for (const section of $$(".file:has(.diff .remark)")) tint(section);
current($(".file"));
findPlace().then(restoreDrafts).catch(complain);
if (watched && !document.hidden) listen();
if (panel && location.hash && !document.getElementById(decodeURIComponent(location.hash.slice(1)))) findThread(location.hash.slice(1)).catch(complain);
if (panel && sessionStorage.getItem("runr-threads") === watched && !matchMedia("(max-width: 1100px)").matches) toggleThreads().catch(complain);
if ($(".sent")) history.replaceState(null, "", location.pathname);
