/** Form controls with labels. Each has an id, so that tests and focus handling can find it. */
import { h } from "./dom.js";

/**
 * Build a radio group whose buttons stand side by side.
 * @param {string} name
 * @param {string} legend
 * @param {[value: string, label: string][]} options
 * @param {string} selected
 * @param {(value: string) => void} onChange
 */
export function radioGroup(name, legend, options, selected, onChange) {
  return h(
    "fieldset",
    null,
    h("legend", null, legend),
    h(
      "div",
      { class: "choice" },
      options.map(([value, label]) => {
        const radio = h("input", { type: "radio", name, id: `${name}-${value}`, value, checked: value === selected });
        radio.addEventListener("change", () => radio.checked && onChange(value));
        return h("label", null, radio, h("span", null, label));
      }),
    ),
  );
}

/**
 * Build a select with a label.
 * @param {string} id
 * @param {string} label
 * @param {[value: string, label: string][]} options
 * @param {string} selected
 * @param {(value: string) => void} onChange
 */
export function select(id, label, options, selected, onChange) {
  const elements = options.map(([value, text]) => h("option", { value }, text));
  const list = h("select", { id, value: selected }, elements);
  list.addEventListener("change", () => onChange(list.value));
  return h("div", { class: "field" }, h("label", { for: id }, label), list);
}

/**
 * Build a switch.
 * @param {string} id
 * @param {string} label
 * @param {string} help
 * @param {boolean} checked
 * @param {(checked: boolean) => void} onChange
 */
export function toggle(id, label, help, checked, onChange) {
  const box = h("input", { type: "checkbox", role: "switch", id, checked });
  box.addEventListener("change", () => onChange(box.checked));
  const description = help ? h("span", { class: "help", id: `${id}-help` }, help) : null;
  if (description) {
    box.setAttribute("aria-describedby", description.id);
    box.setAttribute("aria-labelledby", `${id}-label`);
  }
  return h(
    "label",
    { class: "switch", for: id },
    h("span", null, h("span", { id: `${id}-label` }, label), description),
    box,
  );
}
