/* The list of files */

document.getElementById("filter")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const item of $$(".tree li")) {
    const link = $("a", item);
    item.hidden = wanted !== "" && !(link && link.title.toLowerCase().includes(wanted));
  }
});

const here = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const link = $(`.tree a[href="#${entry.target.id}"]`);
      link?.classList.toggle("here", entry.isIntersecting);
      if (entry.isIntersecting) keepInSight(link);
    }
  },
  { rootMargin: "-60px 0px -85% 0px" },
);

function keepInSight(link) {
  const tree = $(".tree");
  if (!link || getComputedStyle(tree).position !== "sticky") return;
  const box = link.getBoundingClientRect();
  const frame = tree.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) tree.scrollTop += box.top - frame.top - frame.height / 3;
}

function watchFiles() {
  for (const section of $$(".file[data-lazy]")) nearby.observe(section);
  if ($(".tree")) for (const section of $$(".file")) here.observe(section);
}

