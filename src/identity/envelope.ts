import { createHash } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { identityApiVersion } from './identity.ts'

export const formatVersion = 1

const bytes = (count: number) =>
  z.base64().refine((text) => Buffer.from(text, 'base64').length === count, `must be ${count} bytes`)

const salt = bytes(32)

/** Scrypt parameters. They determine how costly it is to guess the passphrase. */
const scrypt = z.strictObject({
  name: z.literal('scrypt'),
  cost: z.int(),
  blockSize: z.int(),
  parallelization: z.int(),
  salt,
})

const header = z.strictObject({
  apiVersion: z.literal(identityApiVersion),
  kind: z.literal('SealedIdentity'),
  version: z.literal(formatVersion),
  cipher: z.literal('aes-256-gcm'),
  kdf: z.discriminatedUnion('name', [z.strictObject({ name: z.literal('hkdf-sha256'), salt }), scrypt]),
  /**
   * Value derived from the sealing key, to distinguish a wrong key from a damaged file. It reveals nothing
   * about the key.
   */
  keyCheck: bytes(16),
  nonce: bytes(12),
})
export type Header = z.infer<typeof header>
export type Kdf = Header['kdf']

const envelope = header.extend({
  ciphertext: z.base64(),
  /**
   * SHA-256 of the other fields, to distinguish a damaged file from a wrong key. Deliberate changes are
   * detected by the cipher's authentication tag.
   */
  checksum: z.string().regex(/^[0-9a-f]{64}$/),
})

export interface Sealed {
  readonly header: Header
  /** Encrypted identity, followed by the authentication tag. */
  readonly ciphertext: Uint8Array
}

/**
 * Returns the header as bytes. The cipher authenticates them together with the ciphertext (associated data).
 */
export function headerBytes(head: Header): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(header.parse(head)))
}

export function formatEnvelope({ header: head, ciphertext }: Sealed): string {
  const content = { ...header.parse(head), ciphertext: Buffer.from(ciphertext).toString('base64') }
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return `${JSON.stringify({ ...content, checksum }, undefined, 2)}\n`
}

/**
 * Parses a sealed identity. The text must be exactly what formatEnvelope writes, so any other spelling or
 * whitespace counts as damage.
 */
export function parseEnvelope(text: string): Sealed {
  // Git may have converted line endings on Windows, so they are converted back.
  const plain = text.replaceAll('\r\n', '\n')
  const value = parseJson(plain)
  checkVersion(value)
  const parsed = envelope.safeParse(value)
  if (!parsed.success) throw identityDamagedError()
  const { ciphertext, checksum: _, ...head } = parsed.data
  const sealed = { header: head, ciphertext: new Uint8Array(Buffer.from(ciphertext, 'base64')) }
  if (formatEnvelope(sealed) !== plain) throw identityDamagedError()
  return sealed
}

function parseJson(text: string): unknown {
  if (text.trim() === '') {
    throw new HyperkubeError('IDENTITY_EMPTY', 'the sealed identity is empty', { hint: restore })
  }
  // A complete file ends with a brace and a line end. If more text follows them, the file is damaged but not
  // truncated.
  if (text.startsWith('{') && !text.endsWith('}\n') && !text.includes('\n}\n')) {
    throw new HyperkubeError('IDENTITY_TRUNCATED', 'the end of the sealed identity is missing', {
      hint: restore,
    })
  }
  try {
    return JSON.parse(text)
  } catch {
    // The error of JSON.parse is dropped, because its message may quote the file.
    throw identityDamagedError()
  }
}

const versioned = z.object({ apiVersion: z.string(), kind: z.string(), version: z.unknown().optional() })

function checkVersion(value: unknown): void {
  const { success, data } = versioned.safeParse(value)
  if (!success) throw identityDamagedError()
  if (data.kind !== 'SealedIdentity') {
    throw new HyperkubeError('IDENTITY_NOT_SEALED', 'this is not a sealed identity', {
      hint: 'check that cluster.identity is the right file',
    })
  }
  if (data.apiVersion !== identityApiVersion || data.version !== formatVersion) {
    throw new HyperkubeError(
      'IDENTITY_VERSION',
      'the sealed identity has a format version that this hyperkube cannot read',
      {
        hint: 'use the hyperkube release that wrote it, or a newer one; this release: hyperkube version',
      },
    )
  }
}

const restore =
  'restore cluster.identity from git or another backup, or from a snapshot: hyperkube etcd snapshot unpack FILE'

export function identityDamagedError(): HyperkubeError {
  return new HyperkubeError('IDENTITY_DAMAGED', 'the sealed identity was changed after it was written', {
    hint: restore,
  })
}
