/** Pages without data: not found, offline, privacy. */
import { get, onConnectionChange } from "./api.js";
import { initPage } from "./frame.js";

const heading = document.querySelector("h1[data-t]");
await initPage({ title: heading?.getAttribute("data-t") ?? "" });

// The offline page is served under the URL of the requested page. Reload once the server answers.
if (document.getElementById("again")) {
  onConnectionChange((connected) => connected && location.reload());
  await get("/api/bots").then(() => location.reload(), () => {});
}
