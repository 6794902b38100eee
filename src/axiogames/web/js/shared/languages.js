/** The languages of the page, each with the file of its texts. */
export const LANGUAGES = [
  { code: "en", name: "English", texts: new URL("../../lang/en.json", import.meta.url) },
  { code: "de", name: "Deutsch", texts: new URL("../../lang/de.json", import.meta.url) },
];
