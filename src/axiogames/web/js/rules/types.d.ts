/** Types of the rules in WebAssembly. */

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

export type ArrayType =
  | "bool"
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int32"
  | "uint32"
  | "int64"
  | "uint64"
  | "float32"
  | "float64";

/** Element type, offset in bytes, and shape; a single number has no dimension. */
export type FieldType = [type: ArrayType, offset: number, shape: number[]];

/** The custom section of a module. */
export type Description = {
  layout: string;
  exports: Record<string, { parameters: [name: string, type: string][]; results: string[] }>;
  records: Record<string, { size: number; fields: Record<string, FieldType> }>;
};

/** The data of a game for a number of players and options, in base64. */
export type VariantData = {
  game: string;
  players: number;
  options: string[];
  layout: string;
  constants: string;
  opening: string;
  weights: string;
};
