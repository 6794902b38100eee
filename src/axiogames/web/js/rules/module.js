/**
 * A WebAssembly module of rules: its memory, its records and its functions.
 *
 * The module describes itself in a custom section: the parameters of each exported function, and the fields of each
 * record. Functions take arrays in the module's memory and numbers. Compiled code allocates nothing, so all arrays are
 * allocated here. They live as long as the module.
 */

/** @import {ArrayType, Description, FieldType, TypedArray} from "./types.js" */

const SECTION = "rules";
const PAGE_BYTES = 1 << 16;
const ALIGNMENT = 16;
/** The most results that a function has. */
const MAX_RESULTS = 4;

const ELEMENTS = {
  bool: Uint8Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};

const product = (/** @type {readonly number[]} */ shape) => shape.reduce((size, length) => size * length, 1);

/** An array of numbers in the memory of a module. */
export class NumberArray {
  /** @type {TypedArray | null} */
  #view = null;

  /**
   * @param {WebAssembly.Memory} memory
   * @param {ArrayType} type
   * @param {number} pointer
   * @param {readonly number[]} shape
   */
  constructor(memory, type, pointer, shape) {
    this.memory = memory;
    this.type = type;
    this.pointer = pointer;
    this.shape = shape;
  }

  /** Return the first rows of the array. @param {number} count */
  first(count) {
    return new NumberArray(this.memory, this.type, this.pointer, [count, ...this.shape.slice(1)]);
  }

  /** The numbers. Do not keep them across a call that allocates: growing the memory detaches them. */
  get values() {
    if (this.#view?.buffer !== this.memory.buffer) {
      this.#view = new ELEMENTS[this.type](this.memory.buffer, this.pointer, product(this.shape));
    }
    return /** @type {TypedArray} */ (this.#view);
  }
}

/** Records in the memory of a module, such as the states of games. */
export class RecordArray {
  /** @type {Map<string, NumberArray>} */
  #fields = new Map();

  /**
   * @param {WebAssembly.Memory} memory
   * @param {{size: number, fields: Record<string, FieldType>}} type
   * @param {number} pointer
   * @param {number} count
   */
  constructor(memory, type, pointer, count) {
    this.memory = memory;
    this.type = type;
    this.pointer = pointer;
    this.shape = [count];
  }

  /** The bytes of all records. Do not keep them across a call that allocates. */
  get bytes() {
    return new Uint8Array(this.memory.buffer, this.pointer, this.type.size * this.shape[0]);
  }

  /** Return one record. @param {number} index */
  at(index) {
    return new RecordArray(this.memory, this.type, this.pointer + index * this.type.size, 1);
  }

  /** Return whether the records have a field. @param {string} name */
  has(name) {
    return name in this.type.fields;
  }

  /** Return the numbers of a field of the first record. @param {string} name */
  field(name) {
    let field = this.#fields.get(name);
    if (!field) {
      const [type, offset, shape] = this.type.fields[name];
      field = new NumberArray(this.memory, type, this.pointer + offset, shape);
      this.#fields.set(name, field);
    }
    return field.values;
  }

  /** Return the first number of a field of the first record. @param {string} name */
  get(name) {
    return Number(this.field(name)[0]);
  }
}

/** An instance of a module. */
export class RulesModule {
  #top;
  /** @type {NumberArray} */
  #results;
  /** @type {WebAssembly.Memory} */
  memory;
  /** @type {Description} */
  description;

  /**
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Instance} instance
   */
  constructor(module, instance) {
    const [section] = WebAssembly.Module.customSections(module, SECTION);
    this.description = JSON.parse(new TextDecoder().decode(section));
    const { memory, __heap_base: heap, ...functions } = instance.exports;
    this.memory = /** @type {WebAssembly.Memory} */ (memory);
    this.#top = align(/** @type {WebAssembly.Global} */ (heap).value);
    this.#results = this.array("float64", MAX_RESULTS);
    /** The functions, which take the arguments that `description.exports` names. */
    this.functions = Object.fromEntries(
      Object.entries(this.description.exports).map(([name, { parameters, results }]) => [
        name,
        this.#wrapped(/** @type {Function} */ (functions[name]), parameters, results),
      ]),
    );
  }

  /**
   * Allocate an array of zeros.
   * @param {ArrayType} type
   * @param {...number} shape
   */
  array(type, ...shape) {
    return new NumberArray(this.memory, type, this.#allocate(product(shape) * ELEMENTS[type].BYTES_PER_ELEMENT), shape);
  }

  /**
   * Allocate records of zeros.
   * @param {string} name a type of the module's description
   * @param {number} [count]
   */
  records(name, count = 1) {
    const type = this.description.records[name];
    return new RecordArray(this.memory, type, this.#allocate(type.size * count), count);
  }

  /** @param {number} bytes */
  #allocate(bytes) {
    const pointer = this.#top;
    this.#top = align(pointer + bytes);
    const missing = this.#top - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE_BYTES));
    return pointer;
  }

  /**
   * Return a function that passes arrays as pointer and lengths.
   * @param {Function} exported
   * @param {[name: string, type: string][]} parameters
   * @param {string[]} results
   * @returns {(...values: (NumberArray | RecordArray | number | boolean)[]) => any}
   */
  #wrapped(exported, parameters, results) {
    return (...values) => {
      if (values.length !== parameters.length) {
        throw new TypeError(`${values.length} arguments for ${parameters.map(([name]) => name).join(", ")}`);
      }
      const passed = values.flatMap((value) => (typeof value === "object" ? [value.pointer, ...value.shape] : [Number(value)]));
      if (results.length < 2) return exported(...passed);
      exported(...passed, this.#results.pointer);
      return [...this.#results.values.subarray(0, results.length)];
    };
  }
}

const align = (/** @type {number} */ pointer) => Math.ceil(pointer / ALIGNMENT) * ALIGNMENT;

/**
 * Instantiate a module.
 * @param {BufferSource | WebAssembly.Module} source
 */
export async function instantiateRules(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  return new RulesModule(module, await WebAssembly.instantiate(module, {}));
}
