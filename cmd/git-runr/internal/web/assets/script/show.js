
/* Other ways to show a file */

// showImages lays images side by side or over each other, all of the page at once.
function showImages(look) {
  remember("images", look);
  root.dataset.images = look;
  for (const button of $$('[data-do="images"]')) button.setAttribute("aria-pressed", String(button.dataset.value === look));
}

document.addEventListener("input", ({ target }) => {
  if (target.matches(".swipe input")) target.closest(".pair").style.setProperty("--at", `${target.value}%`);
});
