import { hkdf as hkdfCallback, scrypt as scryptCallback, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { HyperkubeError } from '../kit/errors.ts'
import { type Random, systemRandom } from '../pki/keys.ts'
import { Secret } from '../pki/secret.ts'
import type { Kdf } from './envelope.ts'

/** Key with which an identity is sealed: from a key file or a passphrase. */
export type SealingKey = FileKey | PassphraseKey

export interface FileKey {
  readonly kind: 'file'
  readonly key: Secret
}

export interface PassphraseKey {
  readonly kind: 'passphrase'
  readonly passphrase: Secret
}

const keySize = 32
const comment =
  '# hyperkube: the key of a sealed identity. Anyone with both owns the cluster. Keep it out of git.'

export function makeSealingKey(random: Random = systemRandom): FileKey {
  return fileKey(random.bytes(keySize))
}

/** Formats a key file: a comment line and the key in base64. */
export function formatKeyFile({ key }: FileKey): string {
  return `${comment}\n${Buffer.from(key.reveal()).toString('base64')}\n`
}

export function parseKeyFile(text: string): FileKey {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const [line = ''] = lines
  const bytes = Buffer.from(line.trim(), 'base64')
  if (lines.length > 1 || bytes.toString('base64') !== line.trim())
    throw unreadableKeyError('has an invalid format')
  return fileKey(bytes)
}

export function passphraseKey(passphrase: string): PassphraseKey {
  // Normalize the passphrase, because the same characters typed on another keyboard may be encoded
  // differently.
  const text = passphrase.normalize('NFKC')
  if (text.trim() === '') {
    throw new HyperkubeError('IDENTITY_KEY_EMPTY', 'the passphrase is empty', { hint: 'use several words' })
  }
  return { kind: 'passphrase', passphrase: new Secret('passphrase', text) }
}

function fileKey(bytes: Uint8Array): FileKey {
  if (bytes.every((byte) => byte === 0)) {
    throw new HyperkubeError('IDENTITY_KEY_EMPTY', 'the key is empty', {
      hint: 'restore the key from a backup',
    })
  }
  if (bytes.length !== keySize) throw unreadableKeyError(`has ${bytes.length} bytes instead of ${keySize}`)
  return { kind: 'file', key: new Secret('sealing key', bytes) }
}

function unreadableKeyError(what: string): HyperkubeError {
  return new HyperkubeError('IDENTITY_KEY_NOT_READ', `the key file ${what}`, {
    hint: 'restore the key from a backup',
  })
}

/**
 * Scrypt parameters of new files. Each guess of a passphrase takes 128 MiB of memory. Files with lower values
 * are refused.
 */
const minScryptParameters = { cost: 2 ** 17, blockSize: 8, parallelization: 1 } as const
/**
 * Maximum scrypt parameters. Files with higher values are refused, because a forged header could otherwise
 * cause hours of computation.
 */
const maxScryptParameters = { cost: 2 ** 20, blockSize: 16, parallelization: 4 } as const

const hkdf = promisify(hkdfCallback)
const scrypt = promisify<Uint8Array, Uint8Array, number, ScryptOptions, Buffer>(scryptCallback)

/** Keys that are derived from a sealing key for one file. `keyCheck` detects a wrong sealing key. */
interface DerivedKeys {
  readonly cipherKey: Uint8Array
  readonly keyCheck: Uint8Array
}

export function newKdf(kind: SealingKey['kind'], salt: Uint8Array): Kdf {
  const text = Buffer.from(salt).toString('base64')
  return kind === 'file'
    ? { name: 'hkdf-sha256', salt: text }
    : { name: 'scrypt', ...minScryptParameters, salt: text }
}

export async function deriveKeys(key: SealingKey, kdf: Kdf): Promise<DerivedKeys> {
  const salt = Buffer.from(kdf.salt, 'base64')
  const root = await rootKey(key, kdf, salt)
  const [cipherKey, keyCheck] = await Promise.all([
    hkdf('sha256', root, salt, 'hyperkube sealed identity v1: cipher', 32),
    hkdf('sha256', root, salt, 'hyperkube sealed identity v1: key check', 16),
  ])
  return { cipherKey: new Uint8Array(cipherKey), keyCheck: new Uint8Array(keyCheck) }
}

async function rootKey(key: SealingKey, kdf: Kdf, salt: Uint8Array): Promise<Uint8Array> {
  if (kdf.name === 'hkdf-sha256') {
    return key.kind === 'file' ? requireNonEmpty(key.key) : refuseKind('with a key file, not a passphrase')
  }
  if (key.kind !== 'passphrase') return refuseKind('with a passphrase, not a key file')
  checkCost(kdf)
  const { cost, blockSize, parallelization } = kdf
  const maxmem = 256 * cost * blockSize
  return scrypt(requireNonEmpty(key.passphrase), salt, 32, { cost, blockSize, parallelization, maxmem })
}

function requireNonEmpty(secret: Secret): Uint8Array {
  if (secret.size > 0) return secret.reveal()
  throw new HyperkubeError('IDENTITY_KEY_EMPTY', `the ${secret.name} is empty`)
}

function refuseKind(how: string): never {
  throw new HyperkubeError('IDENTITY_WRONG_KEY', `the identity was sealed ${how}`)
}

function checkCost(kdf: Extract<Kdf, { name: 'scrypt' }>): void {
  const names = ['cost', 'blockSize', 'parallelization'] as const
  const fits = names.every(
    (name) => kdf[name] >= minScryptParameters[name] && kdf[name] <= maxScryptParameters[name],
  )
  if (fits && Number.isInteger(Math.log2(kdf.cost))) return
  const weak = names.some((name) => kdf[name] < minScryptParameters[name])
  throw new HyperkubeError(
    'IDENTITY_KDF_REFUSED',
    `the sealed identity has ${weak ? 'weaker' : 'other'} scrypt parameters than any release of hyperkube writes`,
    { hint: 'it may have been changed to learn the passphrase: restore cluster.identity from a backup' },
  )
}
