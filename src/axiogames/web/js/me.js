/** The page with name, credentials, settings and personal data. */
import { invalidateMe, get, getMe, onConnectionChange, patch, post, remove } from "./shared/api.js";
import { runBusy, navigate } from "./shared/busy-button.js";
import { radioGroup, select, toggle } from "./shared/controls.js";
import { byId, h } from "./shared/dom.js";
import { initPage } from "./shared/frame.js";
import { languages, t } from "./shared/i18n.js";
import { setSetting, getSetting } from "./shared/settings.js";
import { dialog } from "./shared/dialog.js";
import { toast } from "./shared/toast.js";

/** @import {Settings} from "./shared/types.js" */

const SWITCHES = /** @type {const} */ (["confirm", "hold", "sound", "coach"]);

await initPage({ title: "me.title" });
renderSettings(byId("settings"));
// The frame of the page reports why it failed.
const refreshForms = () => void renderForms().catch(() => {});
refreshForms();
onConnectionChange((up) => up && refreshForms());

onSubmit("name-form", async ({ name }) => {
  /** @type {HTMLInputElement} */ (byId("name")).value = (await patch("/api/me", { name: name.trim() })).name;
  await reload("me.name.saved");
});

onSubmit("phrase-form", async ({ old_password }) => {
  const { phrase: old, username } = await getMe();
  if (old && !(await confirmAction("phrase.again", "phrase.again.why", "phrase.make"))) return;
  const { phrase } = await post("/api/me/phrase", username ? { old_password } : {});
  await reload();
  await dialog({ title: t("phrase.yours"), body: phraseBody(phrase), actions: [{ label: t("done"), value: true }] });
});

onSubmit("enter-form", async ({ phrase }) => {
  if (await confirmSignIn()) await signIn({ phrase: phrase.trim() });
});

onSubmit("account-form", async ({ username, password, old_password }) => {
  const { username: before } = await getMe();
  const old = before ? { old_password } : {};
  await post("/api/me/account", { username: username.trim(), password, ...old });
  await reload(before ? "account.changed" : "account.saved");
});

onSubmit("login-form", async ({ username, password }) => {
  if (await confirmSignIn()) await signIn({ username: username.trim(), password });
});

onSubmit("leave-form", async () => {
  const { phrase, username } = await getMe();
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
  navigate("/");
});

onSubmit("export-form", async () => {
  const text = JSON.stringify(await get("/api/me/export"), null, 1);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: address, download: `${(await getMe()).name}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
});

onSubmit("delete-form", async ({ password }) => {
  const { name, username } = await getMe();
  if (!(await confirmAction("delete.sure", "delete.why", "delete.yes", { name }))) return;
  await remove("/api/me", username ? { password } : { confirm: true });
  navigate("/");
});

async function renderForms() {
  const { name, username, phrase } = await getMe();
  setDefault(byId("name"), name);
  setDefault(byId("account-username"), username ?? "");
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
 * Set the initial value of a field, unless the person has typed already.
 * @param {HTMLInputElement} field
 * @param {string} value
 */
function setDefault(field, value) {
  const typed = field.value !== field.defaultValue;
  field.defaultValue = value;
  if (!typed) field.value = value;
}

/** @param {string} [word] the key of the text that confirms the change */
async function reload(word) {
  invalidateMe();
  await renderForms();
  if (word) toast(t(word));
}

/** @param {{phrase: string} | {username: string, password: string}} secret */
async function signIn(secret) {
  await post("/api/enter", secret);
  navigate("/");
}

/** Ask for confirmation if signing in would lose an identity with tables and without credentials. */
async function confirmSignIn() {
  const { name, username, phrase } = await getMe();
  if (username || phrase || (await get("/api/tables?which=mine")).length === 0) return true;
  return confirmAction("enter.sure", "enter.sure.why", "enter.go", { name });
}

/**
 * @param {string} title
 * @param {string} why
 * @param {string} yes
 * @param {Record<string, string>} [params]
 */
async function confirmAction(title, why, yes, params) {
  const actions = [
    { label: t("cancel"), value: false },
    { label: t(yes), value: true, primary: true },
  ];
  return Boolean(await dialog({ title: t(title), body: t(why, params), actions }));
}

/** @param {string} phrase */
function phraseBody(phrase) {
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
  const button = h(
    "button",
    { type: "button", class: "button button-primary", autofocus: true, onclick: copy },
    t("copy"),
  );
  return h("div", { class: "stack" }, shown, h("p", null, t("phrase.once")), button);
}

/**
 * Handle the submission of a form. Errors are shown in the form.
 * @param {string} id
 * @param {(values: Record<string, string>) => Promise<void>} send
 */
function onSubmit(id, send) {
  /** @type {HTMLFormElement} */
  const form = byId(id);
  const problem = form.querySelector(".error-text");
  const button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!problem || !button) return;
    problem.textContent = "";
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const work = async () => {
      await send(values);
      // Secrets are cleared as soon as they have been sent.
      for (const secret of form.querySelectorAll("[type=password], [name=phrase]")) {
        /** @type {HTMLInputElement} */ (secret).value = "";
      }
    };
    void runBusy(button, work, (text) => void (problem.textContent = text));
  });
}

/** @param {Element} parent */
function renderSettings(parent) {
  const named = languages().map(({ code, name }) => /** @type {[string, string]} */ ([code, name]));
  parent.replaceChildren(
    ...SWITCHES.map((name) =>
      toggle(`set-${name}`, t(`set.${name}`), t(`set.${name}.help`), getSetting(name), (on) => setSetting(name, on)),
    ),
    settingChoice("theme", ["auto", "light", "dark"]),
    settingChoice("motion", ["auto", "full", "reduced"]),
    select("set-language", t("set.language"), [["auto", t("set.auto")], ...named], getSetting("language"), (code) =>
      setSetting("language", code),
    ),
  );
}

/**
 * @template {"theme" | "motion"} Name
 * @param {Name} name
 * @param {Settings[Name][]} values
 */
function settingChoice(name, values) {
  const word = (/** @type {string} */ value) => t(value === "auto" ? "set.auto" : `set.${name}.${value}`);
  const labelled = values.map((value) => /** @type {[string, string]} */ ([value, word(value)]));
  return radioGroup(`set-${name}`, t(`set.${name}`), labelled, getSetting(name), (value) =>
    setSetting(name, /** @type {Settings[Name]} */ (value)),
  );
}
