/* Navigation of a review. All content is in the page; the script shows the parts that belong to a move. */
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const articles = all("article");
const scrubber = document.getElementById("scrubber");
const cursor = document.getElementById("cursor");
const strips = all(".strip");
const timed = all(".picture [data-from]");
const candidateTiles = all(".picture [data-candidate]");
const peek = document.getElementById("peek");
let at = 0;

function go(ply, scroll) {
  at = Math.min(Math.max(ply, 1), articles.length);
  for (const article of articles) article.hidden = Number(article.dataset.ply) !== at;
  for (const part of timed) {
    const { from, to } = part.dataset;
    part.toggleAttribute("hidden", !(Number(from) < at && (to === undefined || at <= Number(to))));
  }
  for (const row of all(".moves tbody tr")) {
    if (Number(row.dataset.ply) === at) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  scrubber.value = String(at);
  scrubber.setAttribute("aria-valuetext", articles[at - 1].dataset.label);
  const strip = strips[at - 1];
  cursor.removeAttribute("hidden");
  cursor.setAttribute("x", String(Number(strip.getAttribute("x")) + Number(strip.getAttribute("width")) / 2 - 1.5));
  for (const side of ["y", "height"]) cursor.setAttribute(side, strip.getAttribute(side));
  document.getElementById("previous").disabled = at === 1;
  document.getElementById("following").disabled = at === articles.length;
  peek.textContent = articles[at - 1].dataset.label;
  show(articles[at - 1].dataset.made);
  if (scroll) document.getElementById("viewer").scrollIntoView({ block: "nearest" });
}

/* Show the tile of a candidate of the current move on the board. */
function show(candidate) {
  for (const part of candidateTiles) {
    const { ply, candidate: number } = part.dataset;
    part.toggleAttribute("hidden", Number(ply) !== at || number !== candidate);
  }
  for (const button of all("button[data-candidate]", articles[at - 1])) {
    button.setAttribute("aria-pressed", String(button.dataset.candidate === candidate));
  }
}

function nextMistake() {
  const later = articles.filter(({ dataset }) => Number(dataset.ply) > at && dataset.wrong);
  const first = later[0] ?? articles.find(({ dataset }) => dataset.wrong);
  if (first) go(Number(first.dataset.ply));
}

scrubber.addEventListener("input", () => go(Number(scrubber.value)));
document.getElementById("previous").addEventListener("click", () => go(at - 1));
document.getElementById("following").addEventListener("click", () => go(at + 1));
document.getElementById("mistake").addEventListener("click", nextMistake);
for (const strip of strips) {
  strip.addEventListener("click", () => go(Number(strip.dataset.ply)));
  strip.addEventListener("pointerenter", () => (peek.textContent = articles[strip.dataset.ply - 1].dataset.label));
}
document.getElementById("graph").addEventListener("pointerleave", () => go(at));
for (const button of all("button[data-candidate]")) {
  button.addEventListener("click", () => show(button.dataset.candidate));
  button.addEventListener("pointerenter", () => show(button.dataset.candidate));
}
for (const link of all("[data-go]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    go(Number(link.dataset.go), true);
  });
}
for (const row of all(".moves tbody tr")) row.addEventListener("click", () => go(Number(row.dataset.ply), true));
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target === scrubber) return;
  const keys = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(1), End: () => go(Infinity) };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
go(Number(location.hash.slice(1)) || 1);
