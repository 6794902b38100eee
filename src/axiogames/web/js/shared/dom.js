/** Build and find elements. Strings become text nodes, never markup, so names may contain any characters. */

/** @import {Child, Props} from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";

/** Properties of form controls whose attribute is only the initial value. */
const PROPERTIES = new Set(["value", "checked", "selected", "indeterminate", "open"]);

/**
 * @param {Element} element
 * @param {Props | null | undefined} props
 * @param {(Child | Child[])[]} children
 */
function applyProps(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.replace(/^on/, ""), /** @type {EventListener} */ (value));
    } else if (name === "style") {
      const style = /** @type {HTMLElement} */ (element).style;
      for (const [key, entry] of Object.entries(/** @type {object} */ (value))) style.setProperty(key, String(entry));
    } else if (PROPERTIES.has(name) && name in element) {
      Reflect.set(element, name, value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  appendChildren(element, ...children);
}

/**
 * Append children. null, undefined and false are skipped.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function appendChildren(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/**
 * Build an HTML element. Functions among the props become event listeners: `h("button", {onclick: save}, "Save")`.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  // The value of a select can be set only after its options have been added.
  const { value, ...rest } = props ?? {};
  applyProps(element, rest, children);
  if (value !== undefined) applyProps(element, { value }, []);
  return element;
}

/**
 * Build an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  applyProps(element, props, children);
  return /** @type {SVGElementTagNameMap[Tag]} */ (element);
}

/**
 * Return the element with an id. Throws if the page has none.
 * @template {Element} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}`);
  return /** @type {Kind} */ (/** @type {unknown} */ (found));
}

/** @type {WeakMap<Element, string>} */
const renderedItems = new WeakMap();

/**
 * Update a keyed list. Unchanged items keep their element and with it the focus.
 * @template Item
 * @param {Element} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} key
 * @param {(item: Item) => Element} build
 */
export function updateList(parent, items, key, build) {
  const existing = new Map([...parent.children].map((element) => [element.getAttribute("data-key"), element]));
  const elements = items.map((item) => {
    const state = JSON.stringify(item);
    const rendered = existing.get(key(item));
    if (rendered && renderedItems.get(rendered) === state) return rendered;
    const element = build(item);
    element.setAttribute("data-key", key(item));
    renderedItems.set(element, state);
    return element;
  });
  if (elements.length === parent.children.length && elements.every((element, i) => element === parent.children[i]))
    return;
  parent.replaceChildren(...elements);
}
