/** A field of a message: a number, or bytes that only its reader knows to be text or a message. */
export interface Field {
  readonly number: number
  readonly value: number | Uint8Array
}

/** What is in a message of protocol buffers. Fields that nobody asks for are read over; one that is cut is an error. */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = view.getUint8(at++)
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      // Ten bytes hold 64 bits, which is all that there can be.
      if (shift >= 2 ** 63) throw new RangeError('a number does not end')
    }
  }
  const bytes = (length: number): Uint8Array => {
    if (at + length > message.length) throw new RangeError('a field is cut')
    return message.subarray(at, (at += length))
  }
  while (at < message.length) {
    const key = varint()
    yield { number: Math.floor(key / 8), value: valueOf(key % 8, varint, bytes) }
  }
}

function valueOf(
  type: number,
  varint: () => number,
  bytes: (length: number) => Uint8Array,
): number | Uint8Array {
  if (type === 0) return varint()
  if (type === 1) return bytes(8)
  if (type === 2) return bytes(varint())
  if (type === 5) return bytes(4)
  throw new RangeError(`there are no fields of type ${type}`)
}

/** The messages or texts of a field, in their order. */
export function partsOf(message: Uint8Array, number: number): Uint8Array[] {
  return [...fieldsOf(message)].flatMap((field) =>
    field.number === number && field.value instanceof Uint8Array ? [field.value] : [],
  )
}

/** Empty when it is left out, as all texts are that say nothing. */
export function textOf(message: Uint8Array, number: number): string {
  return Buffer.from(partsOf(message, number).at(-1) ?? []).toString('utf8')
}

/** 0 when it is left out, which false is, too. */
export function numberOf(message: Uint8Array, number: number): number {
  const found = [...fieldsOf(message)].findLast((field) => field.number === number)?.value
  return typeof found === 'number' ? found : 0
}
