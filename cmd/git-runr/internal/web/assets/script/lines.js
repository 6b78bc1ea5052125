
/* Lines */

// lineOf returns the side and number of the line of a cell in a diff. For a line on both sides it returns the side that
// the cursor prefers.
function lineOf(cell) {
  const row = cell.closest("tr");
  const table = row.closest("table");
  const number = (i) => Number(row.cells[i]?.textContent || 0);
  if (table.classList.contains("whole")) return { side: row.closest(".file").dataset.side, line: number(0) };
  if (table.classList.contains("split")) {
    const left = cell.cellIndex < 3;
    return { side: left ? "old" : "new", line: number(left ? 0 : 3) };
  }
  if (row.classList.contains("d") || (cell.cellIndex === 0 && number(0))) return { side: "old", line: number(0) };
  return { side: "new", line: number(1) };
}

// cellOn returns the cell with the line number of a row on a side, or on the other side if the row has none there.
function cellOn(row, side) {
  const kind = row.closest("table").classList;
  const [old, fresh] = kind.contains("whole") ? [0, 0] : kind.contains("split") ? [0, 3] : [0, 1];
  const wanted = row.cells[side === "old" ? old : fresh];
  if (wanted.textContent) return wanted;
  return row.cells[side === "old" ? fresh : old];
}

// codeOn returns the cell with the text for the cell of a line number.
function codeOn(cell) {
  const row = cell.closest("tr");
  if (!row.closest("table").classList.contains("split")) return $(".code", row);
  return row.cells[cell.cellIndex + 2];
}

function isLine(row) {
  return row && !row.matches(".hunk, .notes, .writing");
}

const linesOf = (section) => $$(":scope > .fb > .diff > tbody > tr", section).filter(isLine);

// chosen is the selected range of lines; a new comment is about it.
let chosen = null;

// choose selects the lines between two rows on a side.
function choose(side, from, to) {
  unchoose();
  let [first, last] = [from, to];
  if (from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_PRECEDING) [first, last] = [to, from];
  const rows = [];
  const numbers = [];
  for (let row = first; row; row = row === last ? null : row.nextElementSibling) {
    if (!isLine(row)) continue;
    const at = lineOf(cellOn(row, side));
    if (at.side !== side) continue;
    rows.push(row);
    numbers.push(at.line);
    row.classList.add("on");
  }
  chosen = { table: from.closest("table"), side, start: Math.min(...numbers), end: Math.max(...numbers), from, rows };
}

function unchoose() {
  for (const row of chosen?.rows ?? []) row.classList.remove("on");
  chosen = null;
}

// tint marks the lines that have comments.
function tint(section) {
  for (const row of $$("tr.noted", section)) row.classList.remove("noted");
  const spans = $$(".diff .remark[data-start]", section).filter((r) => Number(r.dataset.start));
  if (!spans.length) return;
  for (const row of linesOf(section)) {
    const ats = ["old", "new"].map((side) => lineOf(cellOn(row, side)));
    const noted = spans.some(({ dataset: d }) => ats.some((at) => at.side === (d.side || "new") && at.line >= d.start && at.line <= d.end));
    row.classList.toggle("noted", noted);
  }
}

/* Lines by mouse */

let drag = null;

document.addEventListener("pointerdown", (event) => {
  drag = null;
  const cell = commented && event.button === 0 && event.pointerType !== "touch" && event.target.closest("td.ln");
  if (!cell || !lineOf(cell).line || event.shiftKey) return;
  drag = { row: cell.parentElement, side: lineOf(cell).side, far: false };
});

document.addEventListener("pointermove", (event) => {
  const row = drag && event.buttons === 1 && event.target.closest?.("tr");
  if (!row || row.parentElement !== drag.row.parentElement || !isLine(row) || (row === drag.row && !drag.far)) return;
  if (!drag.far) getSelection().removeAllRanges();
  drag.far = true;
  event.preventDefault();
  choose(drag.side, drag.row, row);
});

document.addEventListener("selectstart", (event) => drag && event.preventDefault());

document.addEventListener("pointerup", () => {
  const far = drag?.far;
  setTimeout(() => (drag = null)); // after the click event
  if (!far) return;
  cursorTo(chosen.rows.at(-1), { keep: true });
  write();
});

// cursorByClick puts the cursor on the line whose text was clicked, unless text is being selected.
function cursorByClick(cell) {
  if (!getSelection().isCollapsed) return;
  const row = cell.closest("tr");
  if (!isLine(row)) return;
  const { side, line } = lineOf(cell);
  if (line) preferred = side;
  cursorTo(row, { block: null });
}

function chooseByClick(cell, extend) {
  if (drag?.far) return;
  const { side, line } = lineOf(cell);
  const row = cell.parentElement;
  if (!line) return;
  if (extend) getSelection().removeAllRanges();
  const from = extend && chosen?.table === row.closest("table") && chosen.side === side ? chosen.from : row;
  preferred = side;
  cursorTo(row, { keep: true });
  choose(side, from, row);
  write();
}
