/* Moving about */

function currentFile() {
  const inside = document.activeElement?.closest?.(".file");
  const seen = (section) => {
    const box = section.getBoundingClientRect();
    return box.bottom > 100 && box.top < innerHeight;
  };
  if (inside && seen(inside)) return inside;
  return $$(".file").find(seen);
}

function goFile(step) {
  const files = $$(".file");
  const top = (section) => section.getBoundingClientRect().top;
  const next = step > 0 ? files.find((f) => top(f) > 60) : files.findLast((f) => top(f) < 50);
  if (!next) return;
  next.scrollIntoView();
  $(".path, h1", next)?.focus({ preventScroll: true });
}

function goRemark(step) {
  const remarks = $$(".remark").filter((r) => !r.hidden);
  const at = remarks.indexOf(document.activeElement?.closest?.(".remark"));
  let next = remarks[at + step];
  if (at < 0) {
    const top = (r) => r.getBoundingClientRect().top;
    next = step > 0 ? remarks.find((r) => top(r) > 100) : remarks.findLast((r) => top(r) < 80);
  }
  next?.scrollIntoView({ block: "center" });
  next?.focus({ preventScroll: true });
}

function switchView(to) {
  remember("view", to);
  const at = new URL(location.href);
  at.searchParams.delete("view");
  at.searchParams.delete("sent");
  const file = currentFile();
  at.hash = file && file.getBoundingClientRect().top < innerHeight / 2 && scrollY > 200 ? file.id : "";
  if (at.href === location.href) location.reload();
  else {
    location.assign(at);
    if (at.pathname + at.search === location.pathname + location.search) location.reload();
  }
}

async function jump(link) {
  const id = decodeURIComponent(new URL(link.href).hash.slice(1));
  let target = document.getElementById(id);
  const section = document.getElementById(link.dataset.file);
  if (section && toLoad(section)) {
    await load(section);
    target = document.getElementById(id);
  }
  if (!target) return location.assign(link.href);
  target.closest(".file")?.classList.add("open");
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}

