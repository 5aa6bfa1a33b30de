import { HyperkubeError } from '../kit/errors.ts'
import { type Random, systemRandom } from '../pki/random.ts'
import { Secret } from '../pki/secret.ts'

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
    throw unreadableKeyError('is not a key file')
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
    throw new HyperkubeError('IDENTITY_KEY_EMPTY', 'the key is empty', { hint: 'take it from a backup' })
  }
  if (bytes.length !== keySize) throw unreadableKeyError(`holds ${bytes.length} bytes instead of ${keySize}`)
  return { kind: 'file', key: new Secret('sealing key', bytes) }
}

function unreadableKeyError(what: string): HyperkubeError {
  return new HyperkubeError('IDENTITY_KEY_NOT_READ', `the key file ${what}`, {
    hint: 'take it from a backup',
  })
}
