import {
  type Arbitrary,
  array,
  constantFrom,
  integer,
  nat,
  oneof,
  readConfigureGlobal,
  record,
  uint8Array,
} from 'fast-check'

/** For tests with hostile inputs: the seed of all mutations. Each test prints it. */
export const mutationSeed = 20_261_117

/** Options of a property with at least 1,000 mutations. `npm run test:full` runs more of them. */
export const mutationRuns = {
  seed: mutationSeed,
  numRuns: Math.max(1000, readConfigureGlobal()?.numRuns ?? 0),
}

export function printMutations(what: string, outcomes: ReadonlyMap<string, number>): void {
  const counts = [...outcomes].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  process.stdout.write(`${what}: seed ${mutationSeed}, ${counts}\n`)
}

type Edit = (bytes: Buffer) => Buffer

/** Positions are fractions, because the length of the text is not known when edits are generated. */
const fraction = nat(1_000_000).map((parts) => parts / 1_000_001)

const edits: Arbitrary<Edit> = oneof(
  { weight: 6, arbitrary: record({ at: fraction, bit: nat(7) }).map(flipBit) },
  {
    weight: 3,
    arbitrary: record({ at: fraction, byte: constantFrom(0, 1, 2, 0x30, 0x7f, 0x80, 0xff) }).map(setByte),
  },
  record({ at: fraction, length: integer({ min: 1, max: 600 }) }).map(removeRange),
  record({ at: fraction, bytes: uint8Array({ minLength: 1, maxLength: 600 }) }).map(insertBytes),
  record({ at: fraction, to: fraction, length: integer({ min: 1, max: 1024 }) }).map(copyRange),
  fraction.map(truncate),
)

/** Generates changes of bytes: flipped bits, and removed, inserted, copied and truncated parts. */
export const byteMutation: Arbitrary<Edit> = oneof(
  { weight: 2, arbitrary: edits },
  array(edits, { minLength: 1, maxLength: 4 }).map(combineEdits),
)

function combineEdits(all: readonly Edit[]): Edit {
  return (bytes) => all.reduce((text, edit) => edit(text), bytes)
}

function flipBit({ at, bit }: { readonly at: number; readonly bit: number }): Edit {
  return (bytes) => replaceByte(bytes, at, (byte) => byte ^ (1 << bit))
}

function setByte({ at, byte }: { readonly at: number; readonly byte: number }): Edit {
  return (bytes) => replaceByte(bytes, at, () => byte)
}

function replaceByte(bytes: Buffer, at: number, change: (byte: number) => number): Buffer {
  if (bytes.length === 0) return bytes
  const copy = Buffer.from(bytes)
  const index = Math.floor(at * copy.length)
  copy.writeUInt8(change(copy.readUInt8(index)), index)
  return copy
}

function removeRange({ at, length }: { readonly at: number; readonly length: number }): Edit {
  return (bytes) => {
    const start = Math.floor(at * bytes.length)
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)])
  }
}

function insertBytes({ at, bytes: more }: { readonly at: number; readonly bytes: Uint8Array }): Edit {
  return (bytes) => insertAt(bytes, at, more)
}

function copyRange(range: { readonly at: number; readonly to: number; readonly length: number }): Edit {
  return (bytes) => {
    const start = Math.floor(range.at * bytes.length)
    return insertAt(bytes, range.to, bytes.subarray(start, start + range.length))
  }
}

function insertAt(bytes: Buffer, at: number, more: Uint8Array): Buffer {
  const start = Math.floor(at * bytes.length)
  return Buffer.concat([bytes.subarray(0, start), more, bytes.subarray(start)])
}

function truncate(at: number): Edit {
  return (bytes) => bytes.subarray(0, Math.floor(at * bytes.length))
}
