/**
 * What travels over the pipe: DCE RPC 1.1, connection-oriented, of which a bind, requests, responses and faults are here. One
 * message may come in several fragments, each with a header that says how long it is.
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
/** Little ends first, ASCII, IEEE. */
const representation = 0x10
/** As much as each of the two says that it takes at once. */
export const longestFragment = 4280

/** [MS-SCMR] 1.9: the manager of services. */
const svcctl = { id: '81bb7a364498f135ad3298f038001003', version: 2 }
const ndr = { id: '045d888aeb1cc9119fe808002b104860', version: 2 }

export function fragment({ kind, call, body, first, last }: Fragment & { readonly first: boolean }): Buffer {
  const bytes = Buffer.alloc(headerLength + body.length)
  bytes.set([5, 0, kind, (first ? firstFlag : 0) | (last ? lastFlag : 0), representation])
  bytes.writeUInt16LE(bytes.length, 8)
  bytes.writeUInt32LE(call, 12)
  bytes.set(body, headerLength)
  return bytes
}

/** The first fragment in what has come so far, and what comes behind it; nothing while it is not whole. */
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

export function bindBody(): Buffer {
  const bytes = Buffer.alloc(56)
  bytes.writeUInt16LE(longestFragment, 0)
  bytes.writeUInt16LE(longestFragment, 2)
  // One context, number 0, with one way to write values.
  bytes.writeUInt8(1, 8)
  bytes.writeUInt8(1, 14)
  bytes.set(Buffer.from(svcctl.id, 'hex'), 16)
  bytes.writeUInt32LE(svcctl.version, 32)
  bytes.set(Buffer.from(ndr.id, 'hex'), 36)
  bytes.writeUInt32LE(ndr.version, 52)
  return bytes
}

/** Whether the one context that was asked for is accepted, and how long a fragment may be. */
export function readBindAck(body: Buffer): { readonly accepted: boolean; readonly longest: number } {
  // Behind the name of the second address, which is of no use here, at a multiple of four from the header on.
  const results = 4 * Math.ceil((10 + body.readUInt16LE(8)) / 4)
  return { accepted: body.readUInt16LE(results + 4) === 0, longest: body.readUInt16LE(2) }
}

/** A request as fragments that the other side takes. */
export function requestFragments(call: number, procedure: number, stub: Buffer, longest: number): Buffer[] {
  const room = longest - headerLength - 8
  const count = Math.max(1, Math.ceil(stub.length / room))
  return Array.from({ length: count }, (_, index) => {
    const part = stub.subarray(index * room, (index + 1) * room)
    const head = Buffer.alloc(8)
    head.writeUInt32LE(stub.length - index * room, 0)
    head.writeUInt16LE(procedure, 6)
    const body = Buffer.concat([head, part])
    return fragment({ kind: kinds.request, call, body, first: index === 0, last: index === count - 1 })
  })
}
