/* Files that come later */

const waiting = [];
let loading = 0;

const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      nearby.unobserve(entry.target);
      waiting.push(entry.target);
    }
    loadNext();
  },
  { rootMargin: "300px 0px 1500px" },
);

function loadNext() {
  while (loading < 3 && waiting.length) {
    const section = waiting.shift();
    if (!section.isConnected || !section.hasAttribute("data-lazy")) continue;
    loading++;
    load(section).finally(() => {
      loading--;
      loadNext();
    });
  }
}

// toLoad is the link to a file's diff that is not here yet.
function toLoad(section) {
  return $('.fb > .load [data-do="load"]', section);
}

// load puts a file's diff where its place was kept. What is in sight stays there when
// a file above it grows.
async function load(section, url = toLoad(section)?.href) {
  if (!url || $(".editor", section)) return;
  section.removeAttribute("data-lazy");
  try {
    const fresh = (await part(url)).querySelector(".file");
    const { bottom } = section.getBoundingClientRect();
    for (const { name, value } of fresh.attributes) section.setAttribute(name, value);
    section.replaceChildren(...fresh.childNodes);
    section.classList.toggle("open", section.classList.contains("viewed"));
    if (bottom < 60) scrollBy(0, section.getBoundingClientRect().bottom - bottom);
  } catch (err) {
    ($(".load", section) ?? section).append(` ${err.message} `);
  }
}

async function more(link) {
  const section = link.closest(".file");
  const line = link.closest(".load");
  const fresh = await part(link.href);
  $("tbody", section).append(...$$("tbody > tr", fresh));
  const next = $(".more", fresh);
  if (next) line.replaceWith(next);
  else line.remove();
}

/* Files viewed */

async function toggleViewed(section) {
  const button = $(".seen", section);
  if (!button) return;
  const viewed = button.getAttribute("aria-pressed") !== "true";
  await api("PUT", "/viewed", { file: section.dataset.path, viewed });
  button.setAttribute("aria-pressed", String(viewed));
  section.classList.toggle("viewed", viewed);
  section.classList.remove("open");
  $(`.tree a[href="#${section.id}"]`)?.classList.toggle("viewed", viewed);
  const progress = document.getElementById("progress");
  if (progress) {
    progress.value += viewed ? 1 : -1;
    document.getElementById("viewed").textContent = progress.value;
  }
  say(viewed ? "viewed" : "not viewed");
  if (viewed && section.getBoundingClientRect().top < 76) section.scrollIntoView();
  if (!viewed) load(section);
}

