/** How long a move may take. */
import { t } from "../shell/i18n.js";

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What can be chosen, in seconds; null is as long as it takes. */
export const TIMES = [null, MINUTE, 2 * MINUTE, 5 * MINUTE, DAY, 3 * DAY];

/** @param {number | null} seconds */
export function timeName(seconds) {
  if (seconds === null) return t("time.none");
  return seconds >= DAY ? t("time.days", { n: seconds / DAY }) : t("time.minutes", { n: Math.round(seconds / MINUTE) });
}
