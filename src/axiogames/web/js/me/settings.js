/** All settings; each takes effect at once. */
import { choice, select, toggle } from "../shell/controls.js";
import { languages, t } from "../shell/i18n.js";
import { setSetting, setting } from "../shell/settings.js";

/** @import {Settings} from "../shell/types.js" */

const SWITCHES = /** @type {const} */ (["confirm", "hold", "sound", "coach"]);

/** @param {Element} parent */
export function showSettings(parent) {
  const named = languages().map(({ code, name }) => /** @type {[string, string]} */ ([code, name]));
  parent.replaceChildren(
    ...SWITCHES.map((name) =>
      toggle(`set-${name}`, t(`set.${name}`), t(`set.${name}.help`), setting(name), (on) => setSetting(name, on)),
    ),
    oneOf("theme", ["auto", "light", "dark"]),
    oneOf("motion", ["auto", "full", "reduced"]),
    select("set-language", t("set.language"), [["auto", t("set.auto")], ...named], setting("language"), (code) =>
      setSetting("language", code),
    ),
  );
}

/**
 * @template {"theme" | "motion"} Name
 * @param {Name} name
 * @param {Settings[Name][]} values
 */
function oneOf(name, values) {
  const word = (/** @type {string} */ value) => t(value === "auto" ? "set.auto" : `set.${name}.${value}`);
  const labelled = values.map((value) => /** @type {[string, string]} */ ([value, word(value)]));
  return choice(`set-${name}`, t(`set.${name}`), labelled, setting(name), (value) =>
    setSetting(name, /** @type {Settings[Name]} */ (value)),
  );
}
