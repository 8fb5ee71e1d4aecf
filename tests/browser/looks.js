// What looks.py asks of an open page, in terms of how the browser laid it out.

const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Red, green, blue up to 255, and opacity up to 1, of any colour that CSS can write.
function rgba(text) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}

function over(top, under) {
  return [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat([1]);
}

// The first ground that covers what is behind it; else that of a page without any.
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const own = rgba(getComputedStyle(at).backgroundColor);
    if (own[3] === 1) return own;
  }
  return rgba("Canvas");
}

function luminance(colour) {
  const [r, g, b] = colour
    .slice(0, 3)
    .map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function isSeen(element) {
  return element.getClientRects().length > 0 && !element.closest("[aria-hidden=true]");
}

// What stands for a value in a chart: it has the colour of a system, or says its value. An area
// without an outline only goes with a line.
function dataMarks() {
  const colours = ["fill", "stroke"].map((part) => `svg [${part}*="--system"]`).join(", ");
  const saying = [...document.querySelectorAll("svg.drawing title")]
    .map((title) => title.parentNode)
    .filter((mark) => mark.tagName !== "svg");
  const drawn = [...document.querySelectorAll(`${colours}, svg.mark g *`), ...saying];
  return [...new Set(drawn)].filter(
    (mark) =>
      mark.getClientRects().length &&
      !["title", "text", "g"].includes(mark.tagName) &&
      !(getComputedStyle(mark).stroke === "none" && mark.getBoundingClientRect().width > 40),
  );
}

// Marks whose best part has a contrast below `least`.
function faintMarks(least) {
  const faint = new Set();
  for (const mark of dataMarks()) {
    const style = getComputedStyle(mark);
    const under = ground(mark.ownerSVGElement);
    const seen = ["fill", "stroke"]
      .filter((part) => style[part] !== "none")
      .map((part) => {
        const colour = rgba(style[part]);
        colour[3] *= style[`${part}Opacity`] * style.opacity;
        return contrast(over(colour, under), under);
      });
    const best = Math.max(...seen);
    if (seen.length && best < least) faint.add(`${style.fill}, ${style.stroke}: ${best.toFixed(2)}`);
  }
  return [...faint];
}

// Pairs of texts of one drawing that lie over each other.
function overlappingLabels() {
  const pairs = [];
  for (const drawing of document.querySelectorAll("svg")) {
    const labels = [...drawing.querySelectorAll("text")]
      .filter((label) => label.textContent.trim() && isSeen(label))
      .map((label) => [label.textContent.trim(), label.getBoundingClientRect()]);
    labels.forEach(([one, a], place) => {
      for (const [other, b] of labels.slice(place + 1)) {
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (x > 1 && y > 3) pairs.push(`${one} | ${other}`);
      }
    });
  }
  return pairs;
}

function linksToNowhere() {
  return [...document.querySelectorAll('a[href^="#"]')]
    .map((link) => decodeURIComponent(link.getAttribute("href").slice(1)))
    .filter((to) => to && !document.getElementById(to));
}

// Folded parts of which nothing is shown.
function folded() {
  return [...document.querySelectorAll("details")]
    .filter((part) => part.getClientRects().length)
    .filter((part) => ![...part.children].some((own) => own.tagName !== "SUMMARY" && own.checkVisibility()))
    .map((part) => part.querySelector("summary").textContent.trim());
}
