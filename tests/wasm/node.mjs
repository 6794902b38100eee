// `node node.mjs`: read a task as JSON from standard input, play it and write the digests as JSON.
import { readFileSync } from "node:fs";
import { instantiateRules } from "../../src/axiogames/web/js/rules/module.js";
import { playGoldens } from "./driver.js";

const { module, data, seeds, strong } = JSON.parse(readFileSync(0, "utf8"));
const rules = await instantiateRules(readFileSync(module));
console.log(JSON.stringify(await playGoldens(rules, data, seeds, strong)));
