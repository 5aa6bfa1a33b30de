/** One element of DER: what it is, and what is in it. */
export interface Element {
  readonly tag: number
  readonly content: Uint8Array
  /** With tag and length. */
  readonly whole: Uint8Array
}

/** The elements that stand one after another in some bytes; what is cut off is left out. */
export function elements(bytes: Uint8Array): readonly Element[] {
  const found: Element[] = []
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

/** What is inside the first element. */
export function inside(bytes: Uint8Array): readonly Element[] {
  return elements(elements(bytes)[0]?.content ?? new Uint8Array())
}

/** The extensions of a certificate, by the hex of their object identifier. */
export function extensionsOf(certificate: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const [tbs] = inside(certificate)
  const list = elements(tbs?.content ?? new Uint8Array()).find(({ tag }) => tag === 0xa3)
  return new Map(
    inside(list?.content ?? new Uint8Array()).map(({ content }) => {
      const parts = elements(content)
      const id = Buffer.from(parts[0]?.content ?? []).toString('hex')
      return [id, parts.at(-1)?.content ?? new Uint8Array()]
    }),
  )
}
