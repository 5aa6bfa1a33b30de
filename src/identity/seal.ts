import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { type Random, systemRandom } from '../pki/keys.ts'
import {
  formatEnvelope,
  formatVersion,
  type Header,
  headerBytes,
  identityDamagedError,
  parseEnvelope,
} from './envelope.ts'
import { type Identity, identityApiVersion, identitySchema } from './identity.ts'
import { deriveKeys, newKdf, type SealingKey } from './sealing-key.ts'

const tagSize = 16

/** Encrypts an identity. The text can only be decrypted with the key, and any change to it is detected. */
export async function sealIdentity(
  identity: Identity,
  key: SealingKey,
  random: Random = systemRandom,
): Promise<string> {
  const encoded = z.safeEncode(identitySchema, identity)
  if (!encoded.success) throw notValid(encoded.error)
  const plain = JSON.stringify(encoded.data)
  const kdf = newKdf(key.kind, random.bytes(32))
  const { cipherKey, keyCheck } = await deriveKeys(key, kdf)
  const nonce = random.bytes(12)
  const header: Header = {
    apiVersion: identityApiVersion,
    kind: 'SealedIdentity',
    version: formatVersion,
    cipher: 'aes-256-gcm',
    kdf,
    keyCheck: Buffer.from(keyCheck).toString('base64'),
    nonce: Buffer.from(nonce).toString('base64'),
  }
  const cipher = createCipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: tagSize })
  cipher.setAAD(headerBytes(header))
  const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return formatEnvelope({ header, ciphertext })
}

export async function unsealIdentity(text: string, key: SealingKey): Promise<Identity> {
  const { header, ciphertext } = parseEnvelope(text)
  const { cipherKey, keyCheck } = await deriveKeys(key, header.kdf)
  if (!timingSafeEqual(keyCheck, Buffer.from(header.keyCheck, 'base64'))) {
    throw new HyperkubeError('IDENTITY_WRONG_KEY', 'the identity was sealed with another key', {
      hint:
        key.kind === 'file' ? 'use the key file of this cluster: --key FILE' : 'type the passphrase again',
    })
  }
  return parseIdentity(decrypt(header, ciphertext, cipherKey))
}

function decrypt(header: Header, ciphertext: Uint8Array, cipherKey: Uint8Array): string {
  if (ciphertext.length < tagSize) throw identityDamagedError()
  const nonce = Buffer.from(header.nonce, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: tagSize })
  decipher.setAAD(headerBytes(header))
  decipher.setAuthTag(ciphertext.subarray(-tagSize))
  try {
    const plain = Buffer.concat([decipher.update(ciphertext.subarray(0, -tagSize)), decipher.final()])
    return plain.toString('utf8')
  } catch {
    throw identityDamagedError()
  }
}

function parseIdentity(text: string): Identity {
  const parsed = identitySchema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw notValid(parsed.error)
}

/** Builds an error that names the paths of invalid values, but never the values. */
function notValid({ issues }: z.core.$ZodError): HyperkubeError {
  const paths = new Set(issues.map(({ path }) => path.join('.') || 'the document'))
  return new HyperkubeError(
    'IDENTITY_NOT_VALID',
    `the identity has invalid fields: ${[...paths].join(', ')}`,
    {
      hint: 'use the hyperkube release that wrote it, or a newer one; this release: hyperkube version',
    },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
