/** Who you are here, on which devices, and how you like it. */
import { forgetMe, get, me, onConnection, patch, post, remove } from "../shell/api.js";
import { byId, h } from "../shell/dom.js";
import { frame } from "../shell/frame.js";
import { t } from "../shell/i18n.js";
import { dialog, toast } from "../shell/say.js";
import { go } from "../shell/act.js";
import { onSubmit } from "./forms.js";
import { showSettings } from "./settings.js";

await frame({ title: "me.title" });
showSettings(byId("settings"));
// Why not, if that fails, is said by the frame of the page.
const refresh = () => void show().catch(() => {});
refresh();
onConnection((up) => up && refresh());

onSubmit("name-form", async ({ name }) => {
  /** @type {HTMLInputElement} */ (byId("name")).value = (await patch("/api/me", { name: name.trim() })).name;
  await changed("me.name.saved");
});

onSubmit("phrase-form", async ({ old_password }) => {
  const { phrase: old, username } = await me();
  if (old && !(await sure("phrase.again", "phrase.again.why", "phrase.make"))) return;
  const { phrase } = await post("/api/me/phrase", username ? { old_password } : {});
  await changed();
  await dialog({ title: t("phrase.yours"), body: phraseToKeep(phrase), actions: [{ label: t("done"), value: true }] });
});

onSubmit("enter-form", async ({ phrase }) => {
  if (await mayBecomeAnother()) await become({ phrase: phrase.trim() });
});

onSubmit("account-form", async ({ username, password, old_password }) => {
  const { username: before } = await me();
  const old = before ? { old_password } : {};
  await post("/api/me/account", { username: username.trim(), password, ...old });
  await changed(before ? "account.changed" : "account.saved");
});

onSubmit("login-form", async ({ username, password }) => {
  if (await mayBecomeAnother()) await become({ username: username.trim(), password });
});

onSubmit("leave-form", async () => {
  const { phrase, username } = await me();
  const everywhere = await dialog({
    title: t("leave.title"),
    body: t(phrase || username ? "leave.way-back" : "leave.lost"),
    actions: [
      { label: t("leave.everywhere"), value: true },
      { label: t("leave.here"), value: false },
    ],
  });
  if (everywhere === null) return;
  await post("/api/me/leave", { everywhere });
  go("/");
});

onSubmit("export-form", async () => {
  const text = JSON.stringify(await get("/api/me/export"), null, 1);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: address, download: `${(await me()).name}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
});

onSubmit("delete-form", async ({ password }) => {
  const { name, username } = await me();
  if (!(await sure("delete.sure", "delete.why", "delete.yes", { name }))) return;
  await remove("/api/me", username ? { password } : { confirm: true });
  go("/");
});

async function show() {
  const { name, username, phrase } = await me();
  fill(byId("name"), name);
  fill(byId("account-username"), username ?? "");
  for (const field of ["phrase-old", "account-old", "delete-password"]) {
    byId(`${field}-field`).hidden = !username;
    /** @type {HTMLInputElement} */ (byId(field)).required = Boolean(username);
  }
  const label = byId("account-form").querySelector("[for=account-password]");
  if (label) label.textContent = t(username ? "account.new" : "account.password");
  byId("phrase-state").textContent = t(phrase ? "phrase.set" : "phrase.none");
  byId("account-state").textContent = username ? t("account.set", { username }) : t("account.none");
}

/**
 * What somebody typed while the page was still asking stays.
 * @param {HTMLInputElement} field
 * @param {string} value
 */
function fill(field, value) {
  const typed = field.value !== field.defaultValue;
  field.defaultValue = value;
  if (!typed) field.value = value;
}

/** @param {string} [word] says what is done */
async function changed(word) {
  forgetMe();
  await show();
  if (word) toast(t(word));
}

/** @param {{phrase: string} | {username: string, password: string}} secret */
async function become(secret) {
  await post("/api/enter", secret);
  go("/");
}

/** Whoever has something to lose and no way back to it should know before becoming somebody else. */
async function mayBecomeAnother() {
  const { name, username, phrase } = await me();
  if (username || phrase || (await get("/api/tables?which=mine")).length === 0) return true;
  return sure("enter.sure", "enter.sure.why", "enter.go", { name });
}

/**
 * @param {string} title
 * @param {string} why
 * @param {string} yes
 * @param {Record<string, string>} [params]
 */
async function sure(title, why, yes, params) {
  const actions = [
    { label: t("cancel"), value: false },
    { label: t(yes), value: true, primary: true },
  ];
  return Boolean(await dialog({ title: t(title), body: t(why, params), actions }));
}

/** @param {string} phrase */
function phraseToKeep(phrase) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(phrase);
      toast(t("copied"));
    } catch {
      getSelection()?.selectAllChildren(shown);
      toast(t("copy.by-hand"));
    }
  };
  const shown = h("p", { id: "phrase", class: "phrase", translate: "no" }, phrase);
  const button = h("button", { type: "button", class: "button button-primary", autofocus: true, onclick: copy }, t("copy"));
  return h("div", { class: "stack" }, shown, h("p", null, t("phrase.once")), button);
}
