/** All settings; each takes effect at once. */
import { choice, select, toggle } from "../shell/controls.js";
import { languages, t } from "../shell/i18n.js";
import { setSetting, setting } from "../shell/settings.js";

/** @param {Element} parent */
export function showSettings(parent) {
  const switches = /** @type {const} */ (["confirm", "hold", "sound", "coach"]).map((name) =>
    toggle(`set-${name}`, t(`set.${name}`), t(`set.${name}.help`), setting(name), (on) => setSetting(name, on)),
  );
  const themes = /** @type {const} */ (["auto", "light", "dark"]);
  const motions = /** @type {const} */ (["auto", "full", "reduced"]);
  parent.replaceChildren(
    ...switches,
    choice("set-theme", t("set.theme"), labelled("theme", themes), setting("theme"), (value) =>
      setSetting("theme", themes.find((one) => one === value) ?? "auto"),
    ),
    choice("set-motion", t("set.motion"), labelled("motion", motions), setting("motion"), (value) =>
      setSetting("motion", motions.find((one) => one === value) ?? "auto"),
    ),
    select(
      "set-language",
      t("set.language"),
      [["auto", t("set.auto")], ...languages().map(({ code, name }) => /** @type {[string, string]} */ ([code, name]))],
      setting("language"),
      (value) => setSetting("language", value),
    ),
  );
}

/**
 * @param {string} name
 * @param {readonly string[]} values
 */
function labelled(name, values) {
  return values.map((value) => /** @type {[string, string]} */ ([value, t(value === "auto" ? "set.auto" : `set.${name}.${value}`)]));
}
