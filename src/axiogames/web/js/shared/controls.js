/** Form controls with labels. Each has an id, so that tests and focus handling can find it. */
import { h } from "./dom.js";

/**
 * A radio group, rendered side by side.
 * @param {string} name
 * @param {string} legend
 * @param {[value: string, label: string][]} values
 * @param {string} chosen
 * @param {(value: string) => void} changed
 */
export function radioGroup(name, legend, values, chosen, changed) {
  return h(
    "fieldset",
    null,
    h("legend", null, legend),
    h(
      "div",
      { class: "choice" },
      values.map(([value, label]) => {
        const radio = h("input", { type: "radio", name, id: `${name}-${value}`, value, checked: value === chosen });
        radio.addEventListener("change", () => radio.checked && changed(value));
        return h("label", null, radio, h("span", null, label));
      }),
    ),
  );
}

/**
 * A select with a label.
 * @param {string} id
 * @param {string} label
 * @param {[value: string, label: string][]} values
 * @param {string} chosen
 * @param {(value: string) => void} changed
 */
export function select(id, label, values, chosen, changed) {
  const options = values.map(([value, text]) => h("option", { value }, text));
  const list = h("select", { id, value: chosen }, options);
  list.addEventListener("change", () => changed(list.value));
  return h("div", { class: "field" }, h("label", { for: id }, label), list);
}

/**
 * A switch.
 * @param {string} id
 * @param {string} label
 * @param {string} help
 * @param {boolean} on
 * @param {(on: boolean) => void} changed
 */
export function toggle(id, label, help, on, changed) {
  const box = h("input", { type: "checkbox", role: "switch", id, checked: on });
  box.addEventListener("change", () => changed(box.checked));
  const described = help ? h("span", { class: "help", id: `${id}-help` }, help) : null;
  if (described) box.setAttribute("aria-describedby", described.id);
  if (described) box.setAttribute("aria-labelledby", `${id}-label`);
  return h(
    "label",
    { class: "switch", for: id },
    h("span", null, h("span", { id: `${id}-label` }, label), described),
    box,
  );
}
