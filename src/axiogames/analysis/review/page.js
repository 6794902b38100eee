/* Navigation of a review. All content is in the page; the script shows the parts that belong to a move. */
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
/* The details of each move. */
const articles = all("article");
const scrubber = document.getElementById("scrubber");
const cursor = document.getElementById("cursor");
/* A transparent strip of the graph for each move, as a pointer target. */
const strips = all(".strip");
/* Parts of the picture that appear after the move `data-from` and disappear after the move `data-to`. */
const boardParts = all(".picture [data-from]");
const candidateTiles = all(".picture [data-candidate]");
const moveLabel = document.getElementById("move-label");
let currentPly = 0;

/* Show a move, or the nearest one if there is no such move. */
function goTo(ply, scroll = false) {
  currentPly = Math.min(Math.max(ply, 1), articles.length);
  const article = articles[currentPly - 1];
  for (const other of articles) other.hidden = other !== article;
  for (const part of boardParts) {
    const { from, to } = part.dataset;
    part.toggleAttribute("hidden", !(Number(from) < currentPly && (to === undefined || currentPly <= Number(to))));
  }
  for (const row of all(".moves tbody tr")) {
    if (Number(row.dataset.ply) === currentPly) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  scrubber.value = String(currentPly);
  scrubber.setAttribute("aria-valuetext", article.dataset.label);
  const strip = strips[currentPly - 1];
  cursor.removeAttribute("hidden");
  cursor.setAttribute("x", String(Number(strip.getAttribute("x")) + Number(strip.getAttribute("width")) / 2 - 1.5));
  for (const side of ["y", "height"]) cursor.setAttribute(side, strip.getAttribute(side));
  document.getElementById("previous").disabled = currentPly === 1;
  document.getElementById("following").disabled = currentPly === articles.length;
  moveLabel.textContent = article.dataset.label;
  showCandidate(article.dataset.chosen);
  if (scroll) document.getElementById("viewer").scrollIntoView({ block: "nearest" });
}

/* Show a candidate of the current move on the board. */
function showCandidate(index) {
  for (const part of candidateTiles) {
    const { ply, candidate } = part.dataset;
    part.toggleAttribute("hidden", Number(ply) !== currentPly || candidate !== index);
  }
  for (const button of all("button[data-candidate]", articles[currentPly - 1])) {
    button.setAttribute("aria-pressed", String(button.dataset.candidate === index));
  }
}

/* Go to the next mistake; after the last one, to the first. */
function goToNextMistake() {
  const later = articles.filter(({ dataset }) => Number(dataset.ply) > currentPly && dataset.wrong);
  const first = later[0] ?? articles.find(({ dataset }) => dataset.wrong);
  if (first) goTo(Number(first.dataset.ply));
}

scrubber.addEventListener("input", () => goTo(Number(scrubber.value)));
document.getElementById("previous").addEventListener("click", () => goTo(currentPly - 1));
document.getElementById("following").addEventListener("click", () => goTo(currentPly + 1));
document.getElementById("mistake").addEventListener("click", goToNextMistake);
for (const strip of strips) {
  strip.addEventListener("click", () => goTo(Number(strip.dataset.ply)));
  strip.addEventListener("pointerenter", () => (moveLabel.textContent = articles[strip.dataset.ply - 1].dataset.label));
}
document.getElementById("graph").addEventListener("pointerleave", () => goTo(currentPly));
for (const button of all("button[data-candidate]")) {
  button.addEventListener("click", () => showCandidate(button.dataset.candidate));
  button.addEventListener("pointerenter", () => showCandidate(button.dataset.candidate));
}
for (const link of all("[data-go]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(Number(link.dataset.go), true);
  });
}
for (const row of all(".moves tbody tr")) row.addEventListener("click", () => goTo(Number(row.dataset.ply), true));
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target === scrubber) return;
  const keys = {
    ArrowLeft: () => goTo(currentPly - 1),
    ArrowRight: () => goTo(currentPly + 1),
    Home: () => goTo(1),
    End: () => goTo(Infinity),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
goTo(Number(location.hash.slice(1)) || 1);
