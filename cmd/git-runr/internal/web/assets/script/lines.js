/* Lines */

// lineOf is the side and number of the line that a cell of a diff belongs to.
function lineOf(cell) {
  const row = cell.closest("tr");
  const table = row.closest("table");
  const number = (i) => Number(row.cells[i]?.textContent || 0);
  if (table.classList.contains("whole")) return { side: row.closest(".file").dataset.side, line: number(0) };
  if (table.classList.contains("split")) {
    const left = cell.cellIndex < 3;
    return { side: left ? "old" : "new", line: number(left ? 0 : 3) };
  }
  if (row.classList.contains("d")) return { side: "old", line: number(0) };
  return { side: "new", line: number(1) };
}

// cellOn is a cell of the row that stands for a side, for lineOf.
function cellOn(row, side) {
  const split = row.closest("table").classList.contains("split");
  return row.cells[split && side === "new" ? 3 : 0];
}

function isLine(row) {
  return row && !row.matches(".hunk, .notes, .writing");
}

// chosen is the range of lines that a comment would be about.
let chosen = null;

function choose(table, side, from, to) {
  unchoose();
  chosen = { table, side, start: Math.min(from, to), end: Math.max(from, to), from, rows: [] };
  for (const row of table.rows) {
    if (!isLine(row)) continue;
    const at = lineOf(cellOn(row, side));
    if (at.side === side && at.line >= chosen.start && at.line <= chosen.end) {
      row.classList.add("on");
      chosen.rows.push(row);
    }
  }
}

function unchoose() {
  for (const row of chosen?.rows ?? []) row.classList.remove("on");
  chosen = null;
}

let cursor = null;

function moveCursor(table, step, extend) {
  const rows = [...table.rows].filter(isLine);
  let i = cursor?.isConnected && table.contains(cursor) ? rows.indexOf(cursor) + step : firstSeen(rows);
  i = Math.max(0, Math.min(rows.length - 1, i));
  cursor?.classList.remove("cursor");
  cursor = rows[i];
  cursor.classList.add("cursor");
  cursor.scrollIntoView({ block: "nearest" });
  const cell = cursor.cells[table.classList.contains("split") && !cursor.cells[3].classList.contains("e") ? 3 : 0];
  const at = lineOf(cell);
  if (extend && chosen?.table === table && chosen.side === at.side) choose(table, at.side, chosen.from, at.line);
  else choose(table, at.side, at.line, at.line);
  say(`line ${at.line}${at.side === "old" ? " before" : ""}: ${cursor.cells[cell.cellIndex + (table.classList.contains("unified") ? 3 : table.classList.contains("split") ? 2 : 1)].textContent}`);
}

function firstSeen(rows) {
  return Math.max(0, rows.findIndex((row) => row.getBoundingClientRect().top > 100));
}

