/**
 * Build the files that the server serves from the sources in src/axiogames/web: `make bundles`.
 *
 * Every page gets one script and one style sheet. Modules that a page imports on demand become files of their own.
 * All files lie in web/bundles under a name with a hash of their content, so browsers may keep them forever;
 * manifest.json maps the names without a hash to those with one. Equal sources give equal bytes.
 *
 *   node build.mjs [FOLDER]    write to FOLDER instead of web/bundles
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build, transform } from "esbuild";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WEB = join(ROOT, "src/axiogames/web");
const TOOL = join(ROOT, "tools/page");
const TARGET = ["chrome123", "firefox120", "safari17.5"];
/** Smaller files are not worth a compressed variant. */
const MIN_COMPRESSED = 600;
/** Smaller pictures of scripts become part of the script. */
const MAX_INLINED = 2_000;
const COMPRESSED = new Set([".css", ".js", ".json", ".svg", ".wasm"]);
/** The rules have names with hashes already. They stay where they are, beside the built files. */
const RULES = join(WEB, "wasm");
const RULES_FOLDER = /new URL\(\s*"(?:\.\.\/)+wasm\/",\s*import\.meta\.url\s*\)/g;
/** In a source, the address of another file relative to the module. */
const ASSET = /new URL\(\s*"([^"]+)",\s*import\.meta\.url\s*\)/g;

/** Contents of the built files by hashed name. @type {Map<string, Uint8Array>} */
const outputs = new Map();
/** Hashed names by the name without a hash. @type {Map<string, string>} */
const names = new Map();
/** Digests of the files that were read, by path. @type {Map<string, string>} */
const sources = new Map();
/** Assets in progress by path: several bundles may refer to one. @type {Map<string, Promise<string>>} */
const assets = new Map();

const options = {
  bundle: true,
  write: false,
  minify: true,
  format: "esm",
  target: TARGET,
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  absWorkingDir: WEB,
  outdir: "/out",
  entryNames: "[name].[hash]",
  assetNames: "[name].[hash]",
  logLevel: "warning",
};

/** @param {string} name without hash @param {string} hashed @param {Uint8Array} contents */
function emit(name, hashed, contents) {
  if (names.has(name) && names.get(name) !== hashed) throw new Error(`two files are called ${name}`);
  names.set(name, hashed);
  outputs.set(hashed, contents);
}

/** Emit a file under a name with its hash. @param {string} name @param {Uint8Array} contents */
function emitHashed(name, contents) {
  const suffix = extname(name);
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 8).toUpperCase();
  const hashed = `${name.slice(0, -suffix.length)}.${hash}${suffix}`;
  emit(name, hashed, contents);
  return hashed;
}

/** Return the content of a source and record its digest. @param {string} path */
async function readSource(path) {
  const contents = await readFile(path);
  sources.set(relative(ROOT, path).replaceAll("\\", "/"), digest(contents));
  return contents;
}

/** Build a file to which a script refers by its address, and return its hashed name. @param {string} path */
function buildAsset(path) {
  if (!assets.has(path)) {
    assets.set(path, extname(path) === ".css" ? buildStyles(basename(path, ".css"), [path]) : copyAsset(path));
  }
  return assets.get(path);
}

/** Return an expression for the address of a file to which a script refers. @param {string} path */
async function assetAddress(path) {
  if (extname(path) === ".svg") {
    const picture = String(await readSource(path));
    if (picture.length <= MAX_INLINED) return `"data:image/svg+xml,${encodeURIComponent(picture.trim())}"`;
  }
  return `new URL("${await buildAsset(path)}", import.meta.url)`;
}

/** @param {string} path */
async function copyAsset(path) {
  if (extname(path) === ".js") return buildScript(path, basename(path, ".js"));
  const contents = await readSource(path);
  const isJson = extname(path) === ".json";
  return emitHashed(basename(path), isJson ? Buffer.from(JSON.stringify(JSON.parse(contents))) : contents);
}

/**
 * An esbuild plugin. It replaces the addresses of other files by those of the built ones. Modules that are imported
 * on demand import the entry point: it is loaded already, so what they share with it stays in its bundle instead
 * of being split into files that the page would have to load one by one.
 * @param {string} entry
 * @param {Set<string>} lazy paths of the modules on demand
 */
const resolveAssets = (entry, lazy) => ({
  name: "assets",
  setup(bundler) {
    bundler.onLoad({ filter: /\.json$/ }, async ({ path }) => ({ contents: await readSource(path), loader: "json" }));
    bundler.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const text = String(await readSource(path));
      let contents = text.replace(RULES_FOLDER, 'new URL("../wasm/", import.meta.url)');
      for (const [whole, address] of contents.matchAll(ASSET)) {
        if (address.endsWith("/")) continue;
        contents = contents.replace(whole, await assetAddress(resolve(dirname(path), address)));
      }
      if (lazy.has(path)) contents += `\nimport ${JSON.stringify(entry)};`;
      return { contents, loader: "js" };
    });
  },
});

/** Return the paths of the modules that a script imports on demand. @param {string} path */
async function findLazyModules(path) {
  const { metafile } = await build({ ...options, entryPoints: [path], splitting: true });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  return new Set(imports.filter(({ kind }) => kind === "dynamic-import").map((found) => join(WEB, found.path)));
}

/**
 * Bundle a script and everything that it imports, and return the hashed name.
 * @param {string} path
 * @param {string} name
 */
async function buildScript(path, name) {
  const lazy = await findLazyModules(path);
  const { outputFiles, metafile } = await build({
    ...options,
    chunkNames: `${name}.[hash]`,
    entryPoints: [{ in: path, out: name }],
    splitting: true,
    plugins: [resolveAssets(path, lazy)],
  });
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === relative(WEB, path));
  const entryFile = basename(entry[0]);
  // With modules on demand, the entry point itself only imports the chunk that has its code.
  const onlyImports = Object.keys(entry[1].inputs).length === 0 && entry[1].exports.length === 0;
  const [chunk] = onlyImports ? entry[1].imports.filter(({ kind }) => kind === "import-statement") : [];
  const script = chunk ? basename(chunk.path) : entryFile;
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
    const hashed = basename(file);
    if (chunk && hashed === entryFile) continue;
    const contents = outputFiles.find((output) => basename(output.path) === hashed).contents;
    // What only modules on demand share has no name. Two pages may import the same module on demand.
    const own = entryPoint ? basename(entryPoint) : hashed;
    const known = names.has(own) && names.get(own) !== hashed;
    emit(hashed === script ? `${name}.js` : known ? `${name}-${own}` : own, hashed, contents);
  }
  return script;
}

/**
 * Bundle styles, and return the hashed name.
 * @param {string} name
 * @param {string[]} paths
 */
async function buildStyles(name, paths) {
  const contents = paths.map((path) => `@import "${path}";`).join("\n");
  const { outputFiles, metafile } = await build({
    ...options,
    stdin: { contents, loader: "css", resolveDir: WEB, sourcefile: `${name}.css` },
  });
  for (const file of Object.keys(metafile.inputs)) if (file !== `${name}.css`) await readSource(join(WEB, file));
  return emitHashed(`${name}.css`, outputFiles[0].contents);
}

/** Build the files of all pages, and return the names of each page's script and styles. */
async function buildPages() {
  /** @type {Record<string, {script: string, styles?: string[]}>} */
  const heads = JSON.parse(await readSource(join(WEB, "pages.json")));
  const pages = {};
  for (const [page, { script, styles = [] }] of Object.entries(heads)) {
    const path = join(WEB, "js", script);
    const own = basename(script, ".js") === "main" ? basename(dirname(script)) : basename(script, ".js");
    const sheet = styles.length ? basename(styles.at(-1), ".css") : "base";
    const sheets = ["generated/theme.css", "css/shared/base.css", ...styles.map((style) => `css/${style}`)];
    pages[page] = {
      script: names.get(`${own}.js`) ?? (await buildScript(path, own)),
      styles: names.get(`${sheet}.css`) ?? (await buildStyles(sheet, sheets.map((file) => join(WEB, file)))),
    };
  }
  return pages;
}

/** Minify a classic script. @param {string} path @param {Record<string, string>} [define] */
async function minifyScript(path, define = {}) {
  const { code } = await transform(String(await readSource(path)), { minify: true, target: TARGET, charset: "utf8", define });
  return Buffer.from(code);
}

/** @param {Map<string, string>} entries */
const sorted = (entries) => Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** @param {Uint8Array} contents */
const digest = (contents) => createHash("sha256").update(contents).digest("hex").slice(0, 16);

/** @param {Uint8Array} contents */
const compress = (contents) =>
  brotliCompressSync(contents, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length },
  });

/** @param {unknown} data */
const json = (data) => Buffer.from(`${JSON.stringify(data, null, 1)}\n`);

const folder = process.argv[2] ? resolve(process.argv[2]) : join(WEB, "bundles");
const pages = await buildPages();
const beforePaint = emitHashed("before-paint.js", await minifyScript(join(WEB, "js/shared/before-paint.js")));
await buildAsset(join(WEB, "icons/icon.svg"));
const texts = {};
for (const file of (await readdir(join(WEB, "lang"))).sort()) {
  texts[basename(file, ".json")] = await buildAsset(join(WEB, "lang", file));
}

const files = sorted(names);
const version = digest(JSON.stringify([files, pages, texts]));
const rules = (await readdir(RULES)).filter((file) => /\.[0-9A-F]{8}\.(wasm|json)$/.test(file)).sort();
// The name of the service worker has no hash: browsers look for new versions at its address.
const worker = await minifyScript(join(WEB, "sw.js"), {
  VERSION: JSON.stringify(version),
  RULES: JSON.stringify(rules),
  FILES: JSON.stringify(Object.values(files).filter((file) => file !== beforePaint)),
});

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
outputs.set("sw.js", worker);
for (const [name, contents] of outputs) {
  await writeFile(join(folder, name), contents);
  if (COMPRESSED.has(extname(name)) && contents.length >= MIN_COMPRESSED) {
    await writeFile(join(folder, `${name}.br`), compress(contents));
  }
}
for (const file of process.argv[2] ? [] : rules) {
  await writeFile(join(RULES, `${file}.br`), compress(await readFile(join(RULES, file))));
}
await writeFile(join(folder, "manifest.json"), json({ version, pages, texts, files }));
for (const file of ["build.mjs", "package-lock.json"]) await readSource(join(TOOL, file));
const built = {};
for (const name of (await readdir(folder)).sort()) built[name] = digest(await readFile(join(folder, name)));
await writeFile(join(folder, "sources.json"), json({ sources: sorted(sources), built }));
