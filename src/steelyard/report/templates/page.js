// What a pointer can ask of the page: values under it, order and choice of rows, one condition for
// all charts, copies and pictures to keep. Without it everything is there to read. Texts of the
// study are only ever set as text. What is chosen is kept behind a "?" in the fragment of the
// address: #trials?attempts.System=fast&attempts.sort=5.
(() => {
"use strict";
const all = (css, of = document) => [...of.querySelectorAll(css)];
const make = (tag, text, attributes = {}) => {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
const button = (text, act, attributes = {}) => {
  const made = make("button", text, { type: "button", ...attributes });
  made.addEventListener("click", act);
  return made;
};

// What is chosen, in the address.
const fragment = () => decodeURIComponent(location.hash.slice(1).split("?")[0]);
const chosen = () => new URLSearchParams(location.hash.split("?").slice(1).join("?"));
let state = chosen();
const show = [];
const keep = (key, value) => {
  if (value) state.set(key, value); else state.delete(key);
  const query = state.toString();
  const hash = "#" + encodeURIComponent(fragment()) + (query ? "?" + query : "");
  history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
};
const arrive = () => {
  const target = document.getElementById(fragment());
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", () => {
  if (location.hash.includes("?")) { state = chosen(); show.forEach((each) => each()); } else keep("");
  arrive();
});

// Rows of tables: order, choice, copy.
const figure = (text) => {
  const found = /^[<>≤≥]?\s*([−+-]?[\d,]*\.?\d+)/.exec(text.trim());
  return found ? Number(found[1].replace(/,/g, "").replace("−", "-")) : NaN;
};
const words = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
const value = (cell) => Number(cell.dataset.value ?? figure(words(cell)));
const order = (a, b) => {
  const one = value(a), other = value(b);
  if (isNaN(one) !== isNaN(other)) return isNaN(one) ? 1 : -1;
  if (isNaN(one)) return words(a).localeCompare(words(b));
  return one - other || 0;
};
const field = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) && isNaN(Number(text)) ? "'" + text : text;
  return /[",\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
};
const plain = (cell) => field(cell.dataset.value ?? words(cell).replace(/^−(?=\d)/, "-").replace(/^–$/, ""));
const copy = async (text, at) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const was = at.textContent;
  at.textContent = "Copied";
  setTimeout(() => { at.textContent = was; }, 1500);
};
const known = new Set();
const key_of = (table) => {
  const base = table.closest("[id]")?.id || "table";
  let key = base;
  for (let n = 2; known.has(key); n++) key = base + n;
  known.add(key);
  return key;
};
const equip = (table) => {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells], key = key_of(table);
  const rows = [...body.rows], names = heads.map(words), selects = new Map();
  if (rows.length < 2 || rows.some((row) => row.cells.length !== heads.length)) return;
  const tools = make("p", "", { class: "tools" });
  const count = make("span", "", { role: "status" });
  const search = make("input", "", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
  const update = () => {
    const wanted = (state.get(key + ".q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    search.value = state.get(key + ".q") || "";
    let left = 0;
    for (const row of rows) {
      const text = wanted.length ? words(row).toLowerCase() : "";
      row.hidden = !wanted.every((word) => text.includes(word))
        || [...selects].some(([at, box]) => box.value && words(row.cells[at]) !== box.value);
      left += !row.hidden;
    }
    count.textContent = left < rows.length ? `${left} of ${rows.length}` : "";
    const [, column, down] = /^(\d+)(d?)$/.exec(state.get(key + ".sort") || "") || [];
    const by = column === undefined ? rows : [...rows].sort((a, b) => order(a.cells[column], b.cells[column]));
    if (down) by.reverse();
    body.append(...by);
    heads.forEach((head, at) => {
      if (String(at) === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  heads.forEach((head, at) => {
    if (!names[at]) return;
    head.replaceChildren(button(names[at], () => {
      const now = state.get(key + ".sort");
      keep(key + ".sort", now === `${at}` ? `${at}d` : now === `${at}d` ? "" : `${at}`);
      update();
    }));
    const texts = [...new Set(rows.map((row) => words(row.cells[at])))];
    const repeats = texts.length > 1 && texts.length <= 12 && texts.length < rows.length;
    if (!table.classList.contains("sortable") || head.classList.contains("number") || rows[0].cells[at].classList.contains("long") || !repeats) return;
    const box = make("select", "", { "aria-label": names[at] });
    box.append(make("option", names[at] + ": all", { value: "" }), ...texts.map((text) => make("option", text, { value: text })));
    box.addEventListener("change", () => { keep(`${key}.${names[at]}`, box.value); update(); });
    selects.set(at, box);
  });
  search.addEventListener("input", () => { keep(key + ".q", search.value); update(); });
  if (rows.length >= 8) tools.append(search, ...selects.values());
  const head = heads.map((each, at) => field(each.dataset.head || names[at]));
  tools.append(count, button("Copy as CSV", (event) => copy([head.join(","), ...[...body.rows]
    .filter((row) => !row.hidden).map((row) => [...row.cells].map(plain).join(","))].join("\n") + "\n", event.target)));
  (table.closest(".scroll") || table).before(tools);
  const again = () => {
    for (const [at, box] of selects) box.value = state.get(`${key}.${names[at]}`) || "";
    update();
  };
  show.push(again);
  if ([...state.keys()].some((each) => each.startsWith(key + "."))) again();
};
all("main table:not(.effect)").filter((table) => table.tHead && table.tBodies[0]).forEach(equip);

// One condition for all groups of charts.
const groups = new Map();
for (const part of all("details[name]")) groups.set(part.name, [...(groups.get(part.name) || []), part]);
const label = (part) => words(part.querySelector("summary"));
const switches = [];
const choose = (text) => {
  for (const parts of groups.values()) {
    const wanted = parts.find((part) => label(part) === text);
    if (wanted) parts.forEach((part) => { part.open = part === wanted; });
  }
  for (const [part, key] of switches) key.setAttribute("aria-pressed", part.open);
};
for (const parts of groups.values()) {
  if (parts.length < 2) continue;
  const row = make("p", "", { class: "switch", role: "group", "aria-label": "Condition" });
  for (const part of parts) {
    const key = button(label(part), () => { keep("condition", label(part)); choose(label(part)); });
    part.classList.add("switched");
    switches.push([part, key]);
    row.append(key);
  }
  parts[0].before(row);
}
show.push(() => choose(state.get("condition")));
choose(state.get("condition"));

// Pictures to keep, as on white paper.
const picture = (drawing) => {
  const copied = drawing.cloneNode(true), [, , width, height] = drawing.getAttribute("viewBox").split(" ");
  for (const part of [copied, ...all("*", copied)]) for (const { name, value: set } of [...part.attributes]) {
    if (set.includes("var(")) part.setAttribute(name, set.replace(/var\(--[\w-]+,\s*([^)]+)\)/g, "$1"));
  }
  copied.removeAttribute("style");
  copied.setAttribute("width", width);
  copied.setAttribute("height", height);
  copied.insertAdjacentHTML("afterbegin", '<rect width="100%" height="100%" fill="#fff"/>');
  return new Blob([new XMLSerializer().serializeToString(copied)], { type: "image/svg+xml" });
};
const save = (blob, name) => {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const save_png = (drawing, name) => {
  const image = new Image(), [, , width, height] = drawing.getAttribute("viewBox").split(" ");
  image.onload = () => {
    const canvas = make("canvas", "", { width: 3 * width, height: 3 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 3 * width, 3 * height);
    canvas.toBlob((blob) => save(blob, name));
    URL.revokeObjectURL(image.src);
  };
  image.src = URL.createObjectURL(picture(drawing));
};
for (const chart of all(".chart")) {
  const seen = () => all("svg.drawing", chart).find((each) => each.getClientRects().length);
  const line = chart.querySelector(".save") || chart.appendChild(make("p", "", { class: "save" }));
  const name = line.dataset.name || "chart";
  line.prepend(button("SVG", () => save(picture(seen()), name + ".svg")), button("PNG", () => save_png(seen(), name + ".png")));
}

// Values under the pointer: of the nearest mark, else of the lines at this place.
const tip = make("div", "", { class: "tip", role: "status" });
tip.hidden = true;
document.body.append(tip);
const table_of = (text) => text.trim().split("\n").map((line) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((each) => (each[1] ?? each[2]).replace(/""/g, '"')));
const STEPS = { ns: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]], B: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]] };
const told = (text, unit) => {
  const [, base, rest] = /^(ns|B)(\/s)?$/.exec(unit) || [];
  const [size, named] = base ? STEPS[base].find(([least]) => Math.abs(text) >= least) || [1, base] : [1, unit];
  return `${Number((text / size).toPrecision(3)).toLocaleString("en")} ${named}${rest || ""}`.replace("-", "−");
};
const prepared = new WeakMap();
const prepare = (drawing) => {
  const marks = all("title", drawing).filter((each) => each.parentNode !== drawing).map((each) => [each.parentNode, each.textContent]);
  all("title", drawing).forEach((each) => { if (each.parentNode !== drawing) each.remove(); });
  const title = drawing.querySelector("title");
  if (title) {
    drawing.setAttribute("aria-label", title.textContent);
    drawing.setAttribute("aria-describedby", title.id.replace(/-title$/, "-words"));
    drawing.removeAttribute("aria-labelledby");
    title.remove();
  }
  const [from, width, low, high, column] = (drawing.dataset.across || "").split(" ").map(Number);
  const link = drawing.closest(".chart")?.querySelector("a[download]");
  const rows = width && link ? table_of(decodeURIComponent(link.href.slice(link.href.indexOf(",") + 1))) : [];
  const found = { marks, from, width, low, high, column, head: rows.shift(), rows, log: "log" in drawing.dataset };
  prepared.set(drawing, found);
  return found;
};
const at_place = (its, share) => {
  const here = its.low + share * (its.high - its.low), systems = new Map();
  for (const row of its.rows) {
    const x = Number(row[its.column]), far = Math.abs((its.log ? Math.log10(x) : x) - here);
    if (!systems.has(row[0]) || far < systems.get(row[0])[0]) systems.set(row[0], [far, row]);
  }
  return [...systems.values()].map(([, row]) => row[0] + ": " + its.head.flatMap((head, at) => {
    const [, name, unit] = /^(.*), ([^,]*)$/.exec(head) || [null, head, ""];
    return at && row[at] && !isNaN(row[at]) ? [name + " " + told(Number(row[at]), unit).trim()] : [];
  }).join(", ")).join("\n");
};
const under = (event) => {
  const drawing = event.target.closest?.("svg.drawing, svg.mark");
  if (!drawing) return "";
  const its = prepared.get(drawing) || prepare(drawing);
  let best = 18, text = "";
  for (const [mark, said] of its.marks) {
    const box = mark.getBoundingClientRect();
    const far = Math.hypot(Math.max(box.left - event.clientX, 0, event.clientX - box.right),
      Math.max(box.top - event.clientY, 0, event.clientY - box.bottom));
    if (far < best) [best, text] = [far, said];
  }
  if (text || !its.rows.length) return text;
  const box = drawing.getBoundingClientRect(), scale = drawing.viewBox.baseVal.width / box.width;
  const share = ((event.clientX - box.left) * scale - its.from) / its.width;
  return share >= 0 && share <= 1 ? at_place(its, share) : "";
};
const point = (event) => {
  const text = under(event);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, room)) + "px";
  tip.style.top = (event.clientY > innerHeight - tip.offsetHeight - 24 ? event.clientY - tip.offsetHeight - 12 : event.clientY + 16) + "px";
};
addEventListener("pointermove", point);
addEventListener("pointerdown", point);
addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
if (location.hash.includes("?") || fragment()) arrive();
})();
