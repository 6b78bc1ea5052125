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
    line.textContent = "Saved as a draft";
  } catch (err) {
    line.textContent = `Not saved: ${err.message}`;
  }
}

message?.addEventListener("input", () => {
  clearTimeout(messageTimer);
  document.getElementById("saved").textContent = "";
  messageTimer = setTimeout(saveMessage, 700);
});

const finish = document.getElementById("finish");

finish?.addEventListener("submit", async (event) => {
  const open = $$(".editor").filter((form) => form.editor.area.value !== form.editor.saved);
  if (!open.length || finish.dataset.flushed) return;
  event.preventDefault();
  try {
    await Promise.all(open.map((form) => form.editor.save()));
    finish.dataset.flushed = "1";
    finish.requestSubmit();
  } catch (err) {
    document.getElementById("saved").textContent = `Not submitted: ${err.message}`;
  }
});

addEventListener("pagehide", () => {
  for (const form of $$(".editor")) form.editor.save().catch(() => {});
  saveMessage();
});

// Only one form is sent once: a second click does nothing.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  for (const button of $$("button", event.target)) setTimeout(() => (button.disabled = true));
});

