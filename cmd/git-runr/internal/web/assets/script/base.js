// Keys, live updates and drafts of comments. Without scripts the pages still show everything, and have forms for each
// action.

const root = document.documentElement;
const token = document.body.dataset.token;
const watched = document.body.dataset.watched;
const reviewID = document.querySelector("[data-review]")?.dataset.review;
const compared = document.querySelector("[data-run]")?.dataset; // of a run, whose lines take comments
const commented = reviewID ?? (compared && `${compared.run} ${compared.from}-${compared.to}`);
const news = document.getElementById("news");
const said = document.getElementById("said");

root.classList.add("scripted");

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

function remember(name, value) {
  document.cookie = `runr-${name}=${value}; path=/; max-age=31536000; samesite=strict`;
}

function say(text) {
  said.textContent = text;
}

/* Asking the server */

async function checked(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try {
    message = JSON.parse(text).error ?? text;
  } catch {
    if (text.startsWith("<")) message = "";
  }
  throw new Error(message || `the server answered ${answer.status}`);
}

// asked is fetch with a message if the server does not answer.
async function asked(url, options) {
  try {
    return await fetch(url, options);
  } catch {
    serverAway();
    throw new Error("the server does not answer; your text is kept in this browser until it does");
  }
}

async function api(method, path, body) {
  const answer = await asked(`/api/review/drafts/${encodeURIComponent(reviewID)}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
    keepalive: true,
  });
  return (await checked(answer)).json();
}

function elements(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

async function part(url) {
  const at = new URL(url, location.href);
  at.searchParams.set("fragment", "1");
  at.searchParams.set("view", splitNow() ? "split" : "unified");
  if (!at.searchParams.has("space")) at.searchParams.set("space", root.dataset.space ?? "show");
  return elements(await (await checked(await asked(at))).text());
}

function splitNow() {
  return Boolean($('.views [data-do="split"][aria-current]'));
}
