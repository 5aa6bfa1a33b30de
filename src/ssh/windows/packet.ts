/**
 * Request types of SFTP version 3, as in OpenSSH (draft-ietf-secsh-filexfer-02). Only types that hyperkube
 * uses are listed.
 */
export const sftpRequests = {
  init: 1,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  openDirectory: 11,
  readDirectory: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  extended: 200,
} as const

export const sftpReplies = {
  version: 2,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attributes: 105,
} as const

export const statusCodes = { ok: 0, end: 1, noSuchFile: 2, denied: 3 } as const

export const openFlags = { read: 0x01, write: 0x02, create: 0x08, truncate: 0x10 } as const

type Field = number | bigint | string | Buffer

/**
 * Encodes a packet. Numbers take four bytes and bigints eight; strings and buffers are prefixed with their
 * length.
 */
export function encodePacket(type: number, ...fields: readonly Field[]): Buffer {
  const body = Buffer.concat([Buffer.from([type]), ...fields.map(encodeField)])
  return Buffer.concat([uint32(body.length), body])
}

function encodeField(field: Field): Buffer {
  if (typeof field === 'number') return uint32(field)
  if (typeof field === 'bigint') {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(field)
    return bytes
  }
  const bytes = typeof field === 'string' ? Buffer.from(field, 'utf8') : field
  return Buffer.concat([uint32(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Reads the fields of a packet in order. */
export class PacketFields {
  readonly type: number
  #rest: Buffer

  constructor(body: Buffer) {
    this.type = body.readUInt8(0)
    this.#rest = body.subarray(1)
  }

  number(): number {
    return this.#take(4).readUInt32BE()
  }

  bigNumber(): bigint {
    return this.#take(8).readBigUInt64BE()
  }

  bytes(): Buffer {
    return this.#take(this.number())
  }

  text(): string {
    return this.bytes().toString('utf8')
  }

  /** Skips the attributes of a file. */
  skipAttributes(): void {
    const flags = this.number()
    if ((flags & 0x01) !== 0) this.bigNumber()
    if ((flags & 0x02) !== 0) this.#take(8)
    if ((flags & 0x04) !== 0) this.#take(4)
    if ((flags & 0x08) !== 0) this.#take(8)
    if ((flags & 0x8000_0000) === 0) return
    for (let left = this.number(); left > 0; left--) {
      this.bytes()
      this.bytes()
    }
  }

  #take(length: number): Buffer {
    if (length > this.#rest.length) throw new Error('an sftp packet is shorter than its length field')
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

/** Maximum packet length in bytes. The longest response contains 256 KiB of a file. */
const maxPacketLength = 1 << 20

/** Returns a function that assembles packets from chunks and calls `onPacket` for each. */
export function createPacketReader(onPacket: (fields: PacketFields) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= 4) {
      const length = pending.readUInt32BE()
      if (length === 0 || length > maxPacketLength) throw new Error('the server does not speak sftp')
      if (pending.length < 4 + length) return
      const body = pending.subarray(4, 4 + length)
      pending = pending.subarray(4 + length)
      onPacket(new PacketFields(body))
    }
  }
}
