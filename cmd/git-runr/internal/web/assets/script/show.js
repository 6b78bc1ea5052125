
/* Other ways to show a file */

// showImages shows the images of the whole page side by side or over each other.
function showImages(look) {
  remember("images", look);
  root.dataset.images = look;
  for (const button of $$('[data-do="images"]')) button.setAttribute("aria-pressed", String(button.dataset.value === look));
}

// Two images over each other have the same scale at every width of the page.
document.addEventListener("load", ({ target }) => {
  const pair = target.closest?.(".pair");
  const all = pair ? $$("img", pair) : [];
  const most = Math.max(...all.map((i) => i.naturalWidth));
  for (const i of all) i.style.setProperty("--share", i.naturalWidth ? `${(100 * i.naturalWidth) / most}%` : "auto");
}, true);

document.addEventListener("input", ({ target }) => {
  if (target.matches(".swipe input")) target.closest(".pair").style.setProperty("--at", `${target.value}%`);
});
