/* The list of files */

// filterFiles hides the files that do not match the filter, in the list and on the page.
function filterFiles() {
  const wanted = $("#filter").value.toLowerCase();
  const state = $("#filter-state").value;
  for (const item of $$(".tree li.f")) {
    const link = $("a", item);
    const fits = {
      "": () => true,
      unviewed: () => !link.classList.contains("viewed"),
      commented: () => Number($(".n", link)?.textContent) > 0,
    }[state] ?? (() => link.classList.contains(state));
    item.hidden = !(link.title.toLowerCase().includes(wanted) && fits());
    const section = document.getElementById(link.hash.slice(1));
    if (section) section.hidden = item.hidden;
  }
  for (const dir of $$(".tree li:not(.f)").reverse()) dir.hidden = !$("li.f:not([hidden])", dir);
}

$("#filter")?.addEventListener("input", filterFiles);
$("#filter-state")?.addEventListener("change", filterFiles);
$("#filter")?.addEventListener("keydown", (event) => {
  if (event.key === "Enter") goTo(shownFiles()[0]).catch(complain);
});
if (matchMedia("(max-width: 900px)").matches && $(".filelist")) $(".filelist").open = false;

// current marks the file of section in the list as the current one.
function current(section, open = false) {
  const link = section && $(`.tree a[href="#${section.id}"]`);
  for (let dir = open && link?.closest("li details"); dir; dir = dir.parentElement.closest("li details")) dir.open = true;
  if (!link || link.hasAttribute("aria-current")) return;
  $(".tree a[aria-current]")?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  keepInSight(link);
}

let scrolled = 0;

// After scrolling, the current file is the one below the heading at the top of the window.
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
  const link = $(`.tree a[href="#${section.id}"]`);
  if (!link) return;
  link.classList.toggle("viewed", viewed);
  const box = link.previousElementSibling;
  if (box) box.checked = viewed;
}

function watchFiles() {
  for (const section of $$(".file[data-lazy]")) nearby.observe(section);
}

// boxes puts a check box for "viewed" before each file. It runs after the first paint, which thousands of boxes would
// delay by seconds.
function boxes() {
  for (const link of $$(".tree li.f > a")) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = link.classList.contains("viewed");
    box.dataset.do = "tree-viewed";
    box.setAttribute("aria-label", `Viewed: ${link.title}`);
    link.before(box);
  }
}

if (reviewID) setTimeout(boxes, 100);
