/** The page with name, credentials, settings and personal data. */
import { get, getMe, invalidateMe, onConnectionChange, patch, post, remove } from "./shared/api.js";
import { navigate, runBusy } from "./shared/busy-button.js";
import { radioGroup, select, toggle } from "./shared/controls.js";
import { dialog } from "./shared/dialog.js";
import { byId, h } from "./shared/dom.js";
import { initPage } from "./shared/frame.js";
import { t } from "./shared/i18n.js";
import { LANGUAGES } from "./shared/languages.js";
import { getSetting, setSetting } from "./shared/settings.js";
import { toast } from "./shared/toast.js";

/** @import {Settings} from "./shared/types.js" */

const SWITCHES = /** @type {const} */ (["confirm", "hold", "sound", "coach"]);

await initPage({ title: "me.title" });
renderSettings(byId("settings"));
// shared/frame.js reports the error.
const refreshForms = () => void renderForms().catch(() => {});
refreshForms();
onConnectionChange((connected) => connected && refreshForms());

onSubmit("name-form", async ({ name }) => {
  /** @type {HTMLInputElement} */ (byId("name")).value = (await patch("/api/me", { name: name.trim() })).name;
  await refreshIdentity("me.name.saved");
});

onSubmit("phrase-form", async ({ old_password }) => {
  const { phrase: hasPhrase, username } = await getMe();
  if (hasPhrase && !(await confirmAction("phrase.again", "phrase.again.why", "phrase.make"))) return;
  const { phrase } = await post("/api/me/phrase", username ? { old_password } : {});
  await refreshIdentity();
  await dialog({ title: t("phrase.yours"), body: phraseBody(phrase), actions: [{ label: t("done"), value: true }] });
});

onSubmit("enter-form", async ({ phrase }) => {
  if (await confirmSignIn()) await signIn({ phrase: phrase.trim() });
});

onSubmit("account-form", async ({ username, password, old_password }) => {
  const { username: oldUsername } = await getMe();
  const proof = oldUsername ? { old_password } : {};
  await post("/api/me/account", { username: username.trim(), password, ...proof });
  await refreshIdentity(oldUsername ? "account.changed" : "account.saved");
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
 * Set the initial value of a field, unless the person has already typed into it.
 * @param {HTMLInputElement} field
 * @param {string} value
 */
function setDefault(field, value) {
  const typed = field.value !== field.defaultValue;
  field.defaultValue = value;
  if (!typed) field.value = value;
}

/** Request and show the changed identity. @param {string} [key] the key of the text that confirms the change */
async function refreshIdentity(key) {
  invalidateMe();
  await renderForms();
  if (key) toast(t(key));
}

/** @param {{phrase: string} | {username: string, password: string}} credentials */
async function signIn(credentials) {
  await post("/api/enter", credentials);
  navigate("/");
}

/** Ask for confirmation if signing in would lose an identity that has tables but no credentials. */
async function confirmSignIn() {
  const { name, username, phrase } = await getMe();
  if (username || phrase || (await get("/api/tables?which=mine")).length === 0) return true;
  return confirmAction("enter.sure", "enter.sure.why", "enter.go", { name });
}

/**
 * Ask for confirmation. The first three parameters are the keys of texts.
 * @param {string} title
 * @param {string} body
 * @param {string} confirm
 * @param {Record<string, string>} [params]
 */
async function confirmAction(title, body, confirm, params) {
  const actions = [
    { label: t("cancel"), value: false },
    { label: t(confirm), value: true, primary: true },
  ];
  return Boolean(await dialog({ title: t(title), body: t(body, params), actions }));
}

/** @param {string} phrase */
function phraseBody(phrase) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(phrase);
      toast(t("copied"));
    } catch {
      getSelection()?.selectAllChildren(phraseElement);
      toast(t("copy.by-hand"));
    }
  };
  const phraseElement = h("p", { id: "phrase", class: "phrase", translate: "no" }, phrase);
  const button = h(
    "button",
    { type: "button", class: "button button-primary", autofocus: true, onclick: copy },
    t("copy"),
  );
  return h("div", { class: "stack" }, phraseElement, h("p", null, t("phrase.once")), button);
}

/**
 * Handle the submission of a form. Errors are shown in the form.
 * @param {string} id
 * @param {(values: Record<string, string>) => Promise<void>} send
 */
function onSubmit(id, send) {
  /** @type {HTMLFormElement} */
  const form = byId(id);
  const errorElement = form.querySelector(".error-text");
  const button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!errorElement || !button) return;
    errorElement.textContent = "";
    const values = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const submit = async () => {
      await send(values);
      // Secrets are cleared as soon as they have been sent.
      for (const input of form.querySelectorAll("[type=password], [name=phrase]")) {
        /** @type {HTMLInputElement} */ (input).value = "";
      }
    };
    void runBusy(button, submit, (text) => void (errorElement.textContent = text));
  });
}

/** @param {Element} parent */
function renderSettings(parent) {
  const available = LANGUAGES.map(({ code, name }) => /** @type {[string, string]} */ ([code, name]));
  /** @type {[string, string][]} */
  const languageOptions = [["auto", t("set.auto")], ...available];
  parent.replaceChildren(
    ...SWITCHES.map((name) =>
      toggle(`set-${name}`, t(`set.${name}`), t(`set.${name}.help`), getSetting(name), (on) => setSetting(name, on)),
    ),
    settingChoice("theme", ["auto", "light", "dark"]),
    settingChoice("motion", ["auto", "full", "reduced"]),
    select("set-language", t("set.language"), languageOptions, getSetting("language"), (code) =>
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
  const label = (/** @type {string} */ value) => t(value === "auto" ? "set.auto" : `set.${name}.${value}`);
  const options = values.map((value) => /** @type {[string, string]} */ ([value, label(value)]));
  return radioGroup(`set-${name}`, t(`set.${name}`), options, getSetting(name), (value) =>
    setSetting(name, /** @type {Settings[Name]} */ (value)),
  );
}
