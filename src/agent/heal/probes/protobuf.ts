/** A field of a message: a number, or bytes that contain text or a nested message. */
export interface Field {
  readonly number: number
  readonly value: number | Uint8Array
}

/** Yields the fields of a protocol buffers message. Throws if the message is truncated. */
export function* readFields(message: Uint8Array): Generator<Field> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = view.getUint8(at++)
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      // A varint has at most ten bytes, enough for 64 bits.
      if (shift >= 2 ** 63) throw new RangeError('a number does not end')
    }
  }
  const bytes = (length: number): Uint8Array => {
    if (at + length > message.length) throw new RangeError('a field is cut')
    return message.subarray(at, (at += length))
  }
  while (at < message.length) {
    const key = varint()
    yield { number: Math.floor(key / 8), value: readValue(key % 8, varint, bytes) }
  }
}

function readValue(
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

/** Returns all values of a repeated field that contains text or messages, in order. */
export function readBytesFields(message: Uint8Array, number: number): Uint8Array[] {
  return [...readFields(message)].flatMap((field) =>
    field.number === number && field.value instanceof Uint8Array ? [field.value] : [],
  )
}

/** Returns an empty text if the message does not contain the field. */
export function readTextField(message: Uint8Array, number: number): string {
  return Buffer.from(readBytesFields(message, number).at(-1) ?? []).toString('utf8')
}

/** Returns 0 if the message does not contain the field, which is also the encoding of false. */
export function readNumberField(message: Uint8Array, number: number): number {
  const found = [...readFields(message)].findLast((field) => field.number === number)?.value
  return typeof found === 'number' ? found : 0
}
