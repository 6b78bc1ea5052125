/* The list of files */

document.getElementById("filter")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const item of $$(".tree li")) {
    const link = $("a", item);
    item.hidden = wanted !== "" && !(link && link.title.toLowerCase().includes(wanted));
  }
});

// current marks the one file that the reader is at.
function current(section) {
  const link = section && $(`.tree a[href="#${section.id}"]`);
  if (!link || link.hasAttribute("aria-current")) return;
  $(".tree a[aria-current]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  keepInSight(link);
}

let scrolled = 0;

// Who scrolls is at the file below what sticks to the top.
addEventListener("scroll", () => {
  cancelAnimationFrame(scrolled);
  scrolled = requestAnimationFrame(() => {
    const files = $(".files")?.getBoundingClientRect();
    if (files) current(document.elementFromPoint(files.left + 40, ceiling() + 40)?.closest(".file"));
  });
}, { passive: true });

function keepInSight(link) {
  const tree = $(".tree");
  if (getComputedStyle(tree).position !== "sticky") return;
  const box = link.getBoundingClientRect();
  const frame = tree.getBoundingClientRect();
  if (box.top < frame.top + 40 || box.bottom > frame.bottom) tree.scrollTop += box.top - frame.top - frame.height / 3;
}

function treeViewed(section, viewed) {
  $(`.tree a[href="#${section.id}"]`)?.classList.toggle("viewed", viewed);
}

function watchFiles() {
  for (const section of $$(".file[data-lazy]")) nearby.observe(section);
}
