/* The message, and leaving */

const message = document.getElementById("message");
let messageTimer = 0;
let messageSaved = message?.defaultValue; // the text that the server has

async function saveMessage() {
  clearTimeout(messageTimer);
  if (!message) return;
  if (message.value === messageSaved) return localStorage.removeItem(messageKey);
  const text = message.value;
  const line = document.getElementById("saved");
  try {
    const { message: now } = await api("PUT", "/message", { message: text, was: messageSaved });
    messageSaved = now;
    if (message.value === text) message.value = now;
    if (message.value === now) localStorage.removeItem(messageKey);
    tellTabs({ message: now });
    line.textContent = "Saved as a draft";
  } catch (err) {
    line.textContent = `Not saved: ${err.message}`;
    throw err;
  }
}

function keepMessage() {
  clearTimeout(messageTimer);
  localStorage.setItem(messageKey, JSON.stringify([messageSaved, message.value]));
  document.getElementById("saved").textContent = "";
  messageTimer = setTimeout(() => saveMessage().catch(() => {}), 700);
}

message?.addEventListener("input", keepMessage);

const finish = document.getElementById("finish");

// Unsaved text is saved, and the review copied, before the form is sent.
finish?.addEventListener("submit", async (event) => {
  if (finish.dataset.flushed) return;
  event.preventDefault();
  try {
    await Promise.all($$(".editor").map((form) => form.editor.save()));
    await saveMessage();
    await copyOnSubmit(finish);
    finish.dataset.flushed = "1";
    finish.requestSubmit();
  } catch (err) {
    document.getElementById("saved").textContent = `Not submitted: ${err.message}`;
  }
});

addEventListener("pagehide", () => {
  for (const form of $$(".editor")) form.editor.save().catch(() => {});
  saveMessage().catch(() => {});
});

// A form is sent only once: a second click does nothing.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  for (const button of $$("button", event.target)) setTimeout(() => (button.disabled = true));
});

