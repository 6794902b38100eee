/** The files of the rules: a module for each board layout, and the data of each variant. */
import index from "../../wasm/index.json" with { type: "json" };

/** @import {VariantData} from "./types.js" */

const FOLDER = new URL("../../wasm/", import.meta.url);

/** @type {Record<string, {data: string, module: string, rules: string}>} */
const variants = index.variants;

/** @typedef {{data: VariantData, module: WebAssembly.Module, rules: string}} RulesFiles */

/**
 * Return the name of a variant.
 * @param {string} game
 * @param {number} players
 * @param {string[]} options
 */
export const variantName = (game, players, options) => [game, players, ...[...options].sort()].join("-");

/** Return the digest of the rules of a variant, or undefined if there is no such variant. @param {string} name */
export const rulesDigest = (name) => variants[name]?.rules;

/** @type {Map<string, Promise<RulesFiles>>} */
const loaded = new Map();

/**
 * Load the rules of a variant.
 * @param {string} name
 * @returns {Promise<RulesFiles>}
 */
export function loadRules(name) {
  const known = loaded.get(name);
  if (known) return known;
  const files = fetchFiles(name);
  loaded.set(name, files);
  files.catch(() => loaded.delete(name));
  return files;
}

/** @param {string} name @returns {Promise<RulesFiles>} */
async function fetchFiles(name) {
  const { data, module, rules } = variants[name];
  const [decoded, compiled] = await Promise.all([
    fetch(new URL(data, FOLDER)).then((response) => response.json()),
    WebAssembly.compileStreaming(fetch(new URL(module, FOLDER))),
  ]);
  return { data: decoded, module: compiled, rules };
}
