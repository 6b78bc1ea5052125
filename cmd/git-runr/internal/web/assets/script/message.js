/* The message, and leaving */

const message = document.getElementById("message");
let messageTimer = 0;
let messageSaved = message?.value;

async function saveMessage() {
  clearTimeout(messageTimer);
  if (!message || message.value === messageSaved) return;
  const text = message.value;
  const line = document.getElementById("saved");
  try {
    await api("PUT", "/message", { message: text });
    messageSaved = text;
    if (message.value === text) localStorage.removeItem(messageKey);
    line.textContent = "Saved as a draft";
  } catch (err) {
    line.textContent = `Not saved: ${err.message}`;
    throw err;
  }
}

message?.addEventListener("input", () => {
  clearTimeout(messageTimer);
  localStorage.setItem(messageKey, message.value);
  document.getElementById("saved").textContent = "";
  messageTimer = setTimeout(() => saveMessage().catch(() => {}), 700);
});

const finish = document.getElementById("finish");

// What is still being written is saved and copied before the form is sent.
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

// Only one form is sent once: a second click does nothing.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  for (const button of $$("button", event.target)) setTimeout(() => (button.disabled = true));
});

