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

/**
 * Tags that requests may contain: boolean, integer, bit string, octet string, null, object identifier, three
 * kinds of text, sequence, set, attributes, and four kinds of names (e-mail, DNS, URI, IP).
 */
const requestTags = new Set([
  ...[0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x30, 0x31],
  ...[0xa0, 0x81, 0x82, 0x86, 0x87],
])
const octetString = 0x04
const constructedBit = 0x20

/**
 * True if the bytes are exactly consecutive DER elements of a request, at every level and inside of octet
 * strings. Parsers may read anything else in different ways, so two of them could disagree about the content.
 */
export function isStrictRequestDer(bytes: Uint8Array, depth = 16): boolean {
  const elements = parseElements(bytes)
  const size = elements.reduce((sum, { whole }) => sum + whole.length, 0)
  return depth > 0 && size === bytes.length && elements.every((element) => isStrictElement(element, depth))
}

function isStrictElement({ tag, content, whole }: DerElement, depth: number): boolean {
  if (!requestTags.has(tag) || whole.length - content.length !== 1 + countLengthBytes(content.length))
    return false
  const isNested = (tag & constructedBit) !== 0 || tag === octetString
  return !isNested || isStrictRequestDer(content, depth - 1)
}

/** Number of bytes of the shortest encoding of a length, which DER requires. */
function countLengthBytes(length: number): number {
  return length < 0x80 ? 1 : 1 + Math.ceil(length.toString(16).length / 2)
}
