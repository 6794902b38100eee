/** Pages that only say something: not found, offline. */
import { get, onConnectionChange } from "./api.js";
import { initPage } from "./frame.js";

const heading = document.querySelector("h1[data-t]");
await initPage({ title: heading?.getAttribute("data-t") ?? "" });

// The offline page stands in for the one that was asked for, under its address: try it again when we can.
if (document.getElementById("again")) {
  onConnectionChange((up) => up && location.reload());
  await get("/api/bots").then(() => location.reload(), () => {});
}
