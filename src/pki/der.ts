export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** The bytes of the whole element, including tag and length. */
  readonly whole: Uint8Array
}

/** Parses consecutive DER elements. A truncated last element is dropped. */
export function parseElements(bytes: Uint8Array): readonly DerElement[] {
  const found: DerElement[] = []
  let offset = 0
  while (offset + 2 <= bytes.length) {
    const tag = bytes[offset] ?? 0
    const short = bytes[offset + 1] ?? 0
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f
    const start = offset + 2 + lengthBytes
    const long = bytes.subarray(offset + 2, start).reduce((sum, byte) => sum * 256 + byte, 0)
    const end = start + (lengthBytes === 0 ? short : long)
    if (end > bytes.length) break
    found.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(offset, end) })
    offset = end
  }
  return found
}

/** Parses the elements inside the first element. */
export function parseNested(bytes: Uint8Array): readonly DerElement[] {
  return parseElements(parseElements(bytes)[0]?.content ?? new Uint8Array())
}

/** Returns the extensions of a certificate. The key is the object identifier (OID) in hex. */
export function readExtensions(certificate: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const [tbs] = parseNested(certificate)
  const list = parseElements(tbs?.content ?? new Uint8Array()).find(({ tag }) => tag === 0xa3)
  return new Map(
    parseNested(list?.content ?? new Uint8Array()).map(({ content }) => {
      const parts = parseElements(content)
      const id = Buffer.from(parts[0]?.content ?? []).toString('hex')
      return [id, parts.at(-1)?.content ?? new Uint8Array()]
    }),
  )
}
