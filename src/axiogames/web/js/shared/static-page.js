/** Pages that only say something: not found, offline. */
import { get, onConnection } from "./api.js";
import { frame } from "./frame.js";

const heading = document.querySelector("h1[data-t]");
await frame({ title: heading?.getAttribute("data-t") ?? "" });

// The offline page stands in for the one that was asked for, under its address: try it again when we can.
if (document.getElementById("again")) {
  onConnection((up) => up && location.reload());
  await get("/api/bots").then(() => location.reload(), () => {});
}
