/**
 * Length of a PDU header in connection-oriented DCE RPC 1.1. A message may have several fragments; each
 * header contains the length of its fragment.
 */
export const headerLength = 16

export const kinds = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12, bindNak: 13 } as const

export interface Fragment {
  readonly kind: number
  readonly last: boolean
  readonly call: number
  readonly body: Buffer
}

const firstFlag = 1
const lastFlag = 2
/** Data representation: little-endian integers, ASCII characters, IEEE floating point. */
const representation = 0x10
/** Maximum fragment length that this client announces. */
export const maxFragmentLength = 4280

/** UUID of the interface of the Service Control Manager, from [MS-SCMR] 1.9. */
const svcctl = { id: '81bb7a364498f135ad3298f038001003', version: 2 }
const ndr = { id: '045d888aeb1cc9119fe808002b104860', version: 2 }

export function buildFragment({
  kind,
  call,
  body,
  first,
  last,
}: Fragment & { readonly first: boolean }): Buffer {
  const bytes = Buffer.alloc(headerLength + body.length)
  bytes.set([5, 0, kind, (first ? firstFlag : 0) | (last ? lastFlag : 0), representation])
  bytes.writeUInt16LE(bytes.length, 8)
  bytes.writeUInt32LE(call, 12)
  bytes.set(body, headerLength)
  return bytes
}

/** Returns the first fragment and the bytes after it, or undefined while the fragment is incomplete. */
export function readFragment(
  bytes: Buffer,
): { readonly fragment: Fragment; readonly rest: Buffer } | undefined {
  if (bytes.length < headerLength) return undefined
  const length = bytes.readUInt16LE(8)
  if (bytes[0] !== 5 || bytes[4] !== representation || length < headerLength)
    throw new RangeError('these are no words of the manager of services')
  if (bytes.length < length) return undefined
  return {
    fragment: {
      kind: bytes.readUInt8(2),
      last: (bytes.readUInt8(3) & lastFlag) !== 0,
      call: bytes.readUInt32LE(12),
      body: bytes.subarray(headerLength, length),
    },
    rest: bytes.subarray(length),
  }
}

export function buildBindBody(): Buffer {
  const bytes = Buffer.alloc(56)
  bytes.writeUInt16LE(maxFragmentLength, 0)
  bytes.writeUInt16LE(maxFragmentLength, 2)
  // One presentation context, number 0, with one transfer syntax.
  bytes.writeUInt8(1, 8)
  bytes.writeUInt8(1, 14)
  bytes.set(Buffer.from(svcctl.id, 'hex'), 16)
  bytes.writeUInt32LE(svcctl.version, 32)
  bytes.set(Buffer.from(ndr.id, 'hex'), 36)
  bytes.writeUInt32LE(ndr.version, 52)
  return bytes
}

/** Returns whether the server accepted the presentation context, and its maximum fragment length. */
export function readBindAck(body: Buffer): { readonly accepted: boolean; readonly maxLength: number } {
  // The results begin after the secondary address, which is ignored, at the next multiple of four.
  const results = 4 * Math.ceil((10 + body.readUInt16LE(8)) / 4)
  return { accepted: body.readUInt16LE(results + 4) === 0, maxLength: body.readUInt16LE(2) }
}

/** Splits a request into fragments of at most `maxLength` bytes. */
export function buildRequestFragments(
  call: number,
  procedure: number,
  stub: Buffer,
  maxLength: number,
): Buffer[] {
  const capacity = maxLength - headerLength - 8
  const count = Math.max(1, Math.ceil(stub.length / capacity))
  return Array.from({ length: count }, (_, index) => {
    const part = stub.subarray(index * capacity, (index + 1) * capacity)
    const head = Buffer.alloc(8)
    head.writeUInt32LE(stub.length - index * capacity, 0)
    head.writeUInt16LE(procedure, 6)
    const body = Buffer.concat([head, part])
    return buildFragment({ kind: kinds.request, call, body, first: index === 0, last: index === count - 1 })
  })
}
