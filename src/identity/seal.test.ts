import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { assert, asyncProperty, constantFrom, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { formatError } from '../kit/errors.ts'
import { inspectCertificate } from '../pki/certificates.ts'
import { Secret } from '../pki/secret.ts'
import { createIdentity, type Identity, identitySchema } from './identity.ts'
import { makeSealingKey, parseKeyFile, passphraseKey } from './sealing-key.ts'
import { advanceReplacement, keyNames, findReplacementPhase } from './replace-key.ts'
import { unsealIdentity, sealIdentity } from './seal.ts'
import { encryptionKeys } from './trusted-keys.ts'

// This import loads node:tls completely. Otherwise a test below that inspects hidden properties would load
// node:tls only partially and break the next test file.
await import('node:tls')

const now = new Date('2026-11-15T12:00:00Z')
const password = 'correct horse battery staple'
const identity: Identity = {
  ...(await createIdentity('shop', now)),
  secrets: { registry: new Secret('registry', password) },
}
const key = makeSealingKey()
const text = await sealIdentity(identity, key)

async function failure(sealed: string, by = key): Promise<unknown> {
  return unsealIdentity(sealed, by).then(
    () => 'opened',
    (error: unknown) => error,
  )
}

test('a sealed identity is unsealed unchanged', async () => {
  const opened = await unsealIdentity(text, key)
  expect(z.encode(identitySchema, opened)).toEqual(z.encode(identitySchema, identity))
  expect(opened.secrets['registry']?.revealText()).toBe(password)
  expect(opened.created).toBe('2026-11-15T12:00:00.000Z')
})

test('each identity has its own CAs', async () => {
  const { cas, id } = await createIdentity('shop', now)
  expect(inspectCertificate(cas.etcd.certificate).commonName).toBe('etcd-ca')
  expect(inspectCertificate(cas.frontProxy.certificate).commonName).toBe('front-proxy-ca')
  expect(id).not.toBe(identity.id)
})

test('no output of an identity contains a secret', () => {
  const revealed = Object.values(identity.cas).map(({ privateKey }) => privateKey.revealText().split('\n')[1])
  const encryption = Buffer.from(identity.encryptionKey.reveal())
  const hidden = [...revealed, password, encryption.toString('base64'), encryption.toString('hex')]
  const shown = [
    text,
    Object.values(identity.cas)
      .map(({ privateKey }) => String(privateKey))
      .join(' '),
    JSON.stringify(identity),
    inspect(identity, { depth: null, showHidden: true }),
    inspect(key, { depth: null }),
    Buffer.from(text).toString('latin1'),
  ].join('\n')
  for (const one of hidden) expect(shown).not.toContain(one)
  expect(JSON.stringify(identity)).toMatch(/\[secret registry sha256:[0-9a-f]{4}…\]/)
})

test('a sealed identity with any changed byte is refused without revealing a secret', async () => {
  const bytes = Buffer.from(text, 'latin1')
  const refused = async (index: number, value: number) => {
    const changed = Buffer.from(bytes)
    changed[index] = value
    const error = await failure(changed.toString('utf8'))
    expect(error, `byte ${index} as ${value}`).toMatchObject({
      code: expect.stringMatching(/^IDENTITY_(DAMAGED|VERSION|NOT_SEALED|TRUNCATED)$/),
    })
    expect(error).not.toHaveProperty('cause')
    expect(formatError(error)).not.toContain(text.slice(600, 620))
  }
  for (const [index, byte] of bytes.entries()) await refused(index, byte ^ 1)
  const byte = integer({ min: 1, max: 255 })
  await assert(
    asyncProperty(integer({ min: 0, max: bytes.length - 1 }), byte, async (index, flip) =>
      refused(index, (bytes[index] ?? 0) ^ flip),
    ),
    { numRuns: 1000 },
  )
  const blanks = [...bytes.entries()]
    .filter(([, one]) => one === 0x20 || one === 0x0a)
    .map(([index]) => index)
  await assert(asyncProperty(constantFrom(...blanks), constantFrom(0x09, 0x0d), refused), { numRuns: 100 })
}, 30_000)

/** Changes the file like an attacker, who would also update the checksum. */
function rewritten(change: (envelope: Record<string, unknown>) => Record<string, unknown>): string {
  const { checksum: _, ...content } = change(z.record(z.string(), z.unknown()).parse(JSON.parse(text)))
  const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return `${JSON.stringify({ ...content, checksum }, undefined, 2)}\n`
}

test('a change with a correct checksum is detected by the cipher', async () => {
  expect(await failure(rewritten((envelope) => envelope))).toBe('opened')
  const nonce = Buffer.alloc(12, 7).toString('base64')
  expect(await failure(rewritten((envelope) => ({ ...envelope, nonce })))).toMatchObject({
    code: 'IDENTITY_DAMAGED',
  })
  const flip = (value: unknown) => {
    const bytes = Buffer.from(z.string().parse(value), 'base64')
    bytes[100] = (bytes[100] ?? 0) ^ 1
    return bytes.toString('base64')
  }
  const flipped = rewritten((envelope) => ({ ...envelope, ciphertext: flip(envelope['ciphertext']) }))
  expect(await failure(flipped)).toMatchObject({ code: 'IDENTITY_DAMAGED' })
  const cut = rewritten((envelope) => ({ ...envelope, ciphertext: 'AAAA' }))
  expect(await failure(cut)).toMatchObject({ code: 'IDENTITY_DAMAGED' })
})

test('a truncated file is refused at any length', async () => {
  for (let length = 0; length < text.length; length += length < 700 ? 1 : 97) {
    const error = await failure(text.slice(0, length))
    const code = length === 0 ? 'IDENTITY_EMPTY' : 'IDENTITY_TRUNCATED'
    expect(error).toMatchObject({ code })
  }
  expect(await failure(text.slice(0, -1))).toMatchObject({ code: 'IDENTITY_TRUNCATED' })
  expect(await failure(`${text}x`)).toMatchObject({ code: 'IDENTITY_DAMAGED' })
})

test('each cause of failure has its own code', async () => {
  const code = async (sealed: string, by = key) =>
    z.object({ code: z.string() }).parse(await failure(sealed, by)).code
  expect(await code(text, makeSealingKey())).toBe('IDENTITY_WRONG_KEY')
  expect(await code(rewritten((envelope) => ({ ...envelope, version: 2 })))).toBe('IDENTITY_VERSION')
  expect(await code('{"apiVersion":"hyperkube.dev/v1","kind":"Cluster"}\n')).toBe('IDENTITY_NOT_SEALED')
  expect(await code('hello')).toBe('IDENTITY_DAMAGED')
  expect(await code('[]')).toBe('IDENTITY_DAMAGED')
  await expect(unsealIdentity(text, passphraseKey('x'))).rejects.toMatchObject({ code: 'IDENTITY_WRONG_KEY' })
})

test('CRLF line ends are accepted', async () => {
  expect(await failure(text.replaceAll('\n', '\r\n'))).toBe('opened')
})

test('sealing the same identity twice gives different nonces and key checks', async () => {
  const again = await sealIdentity(identity, key)
  const fields = (sealed: string) =>
    z.object({ nonce: z.string(), keyCheck: z.string() }).parse(JSON.parse(sealed))
  expect(fields(again).nonce).not.toBe(fields(text).nonce)
  expect(fields(again).keyCheck).not.toBe(fields(text).keyCheck)
})

test('only the same passphrase unseals an identity', async () => {
  const sealed = await sealIdentity(identity, passphraseKey(password))
  expect((await unsealIdentity(sealed, passphraseKey(password))).id).toBe(identity.id)
  await expect(unsealIdentity(sealed, passphraseKey('guess'))).rejects.toMatchObject({
    code: 'IDENTITY_WRONG_KEY',
  })
  await expect(unsealIdentity(sealed, key)).rejects.toMatchObject({ code: 'IDENTITY_WRONG_KEY' })
}, 30_000)

test.each([
  ['a lower cost', { cost: 2 ** 16 }],
  ['almost no cost', { cost: 2 }],
  ['no cost', { cost: 0 }],
  ['a negative parallelization', { parallelization: -1 }],
  ['a smaller block size', { blockSize: 1 }],
  ['an excessive cost', { cost: 2 ** 30 }],
  ['a cost that is not a power of two', { cost: 2 ** 17 + 1 }],
])('a header with %s is refused before the passphrase is used', async (_what, change) => {
  const salt = Buffer.alloc(32).toString('base64')
  const kdf = { name: 'scrypt', cost: 2 ** 17, blockSize: 8, parallelization: 1, salt, ...change }
  const sealed = rewritten((envelope) => ({ ...envelope, kdf }))
  await expect(unsealIdentity(sealed, passphraseKey('x'))).rejects.toMatchObject({
    code: 'IDENTITY_KDF_REFUSED',
  })
})

test('an empty sealing key is refused', async () => {
  const empty = { kind: 'file', key: new Secret('sealing key', '') } as const
  await expect(sealIdentity(identity, empty)).rejects.toMatchObject({ code: 'IDENTITY_KEY_EMPTY' })
})

test('an identity that could not be read again is not written', async () => {
  const wrong = { ...identity, secrets: { 'Not A Name': new Secret('x', password) } }
  await expect(sealIdentity(wrong, key)).rejects.toMatchObject({
    code: 'IDENTITY_NOT_VALID',
    message: expect.stringContaining('secrets'),
  })
})

test('a v1 identity with key replacements in progress is unsealed, and a replacement can be completed', async () => {
  const file = async (path: string) => readFile(join(import.meta.dirname, 'testdata', path), 'utf8')
  const opened = await unsealIdentity(await file('v1-replacing.sealed'), parseKeyFile(await file('v1.key')))
  expect(keyNames.map((name) => findReplacementPhase(opened, name))).toEqual([
    'trust',
    'switch',
    'distrust',
    'switch',
    'trust',
  ])
  expect(opened.serviceAccount.replacement).toMatchObject({ since: '2026-11-15T12:00:00.000Z' })
  const [current, next] = encryptionKeys(opened)
  expect([current?.name, next?.name, current?.key.size]).toEqual(['key1', 'key2', 32])
  const ended = await advanceReplacement(await advanceReplacement(opened, 'etcd', now), 'etcd', now)
  expect(findReplacementPhase(ended, 'etcd')).toBeUndefined()
  expect(z.encode(identitySchema, await unsealIdentity(await sealIdentity(ended, key), key))).toEqual(
    z.encode(identitySchema, ended),
  )
})

/** Files from the first version of the format. Every later version must be able to open them. */
test.each([
  ['a key file', 'v1-key-file.sealed'],
  ['a passphrase', 'v1-passphrase.sealed'],
])(
  'a v1 identity sealed with %s is unsealed',
  async (_what, name) => {
    const file = async (path: string) => readFile(join(import.meta.dirname, 'testdata', path), 'utf8')
    const by = name.includes('key') ? parseKeyFile(await file('v1.key')) : passphraseKey('golden caf\u00E9')
    const opened = await unsealIdentity(await file(name), by)
    expect(opened).toMatchObject({
      metadata: { name: 'golden' },
      id: '00010203-0405-4607-8809-0a0b0c0d0e0f',
      created: '2026-11-15T12:00:00.000Z',
      hostKeys: { cp1: [expect.stringMatching(/^ssh-ed25519 /)] },
    })
    expect(opened.secrets['registry']?.revealText()).toBe('not a secret')
    expect(inspectCertificate(opened.cas.kubernetes.certificate).commonName).toBe('kubernetes-ca')
  },
  30_000,
)
