
/* Copying for an agent */

// agentText returns the text of the review, or of one comment, for an agent.
async function agentText(query) {
  await Promise.all($$(".editor").map((form) => form.editor.save()));
  await saveMessage();
  const at = new URL(`/review/${watched}/agent`, location.href);
  for (const [name, value] of Object.entries(query)) if (value) at.searchParams.set(name, value);
  return (await checked(await fetch(at))).text();
}

async function copyForAgent(comment) {
  await navigator.clipboard.writeText(await agentText({ comment }));
  announce(comment ? "The comment is copied for an agent." : "The review is copied for an agent.");
}

// announce shows text for 2.5 seconds.
function announce(text) {
  say(text);
  news.textContent = text;
  setTimeout(() => news.textContent === text && news.replaceChildren(), 2500);
}

// copyOnSubmit copies the review before it is submitted. If copying fails, the review is submitted without a copy.
async function copyOnSubmit(form) {
  try {
    await navigator.clipboard.writeText(await agentText({ decision: new FormData(form).get("decision") }));
    sessionStorage.setItem("runr-copied", watched);
  } catch {
    sessionStorage.removeItem("runr-copied");
  }
}

if (sessionStorage.getItem("runr-copied") === watched && $(".handed.sent")) {
  $('.handed [data-do="copy-agent"]').textContent = "Copied for an agent";
  sessionStorage.removeItem("runr-copied");
}
