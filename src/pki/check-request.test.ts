import { webcrypto } from 'node:crypto'
import type { Extension, JsonName } from '@peculiar/x509'
import { assert, asyncProperty, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { createCa } from './ca.ts'
import { day } from './lifetime.ts'
import { makeRequest } from './request.ts'
import { signRequest } from './sign.ts'
import type { CertificateSpec } from '../contract/certificate-spec.ts'
import { loadX509 } from './x509.ts'

const now = new Date()
const x509 = await loadX509()
const ca = await createCa('kubernetes', 30 * day, now)
const spec: CertificateSpec = {
  subject: { commonName: 'system:node:w1', organizations: ['system:nodes'] },
  names: { dns: ['w1'], ip: ['10.0.0.1', 'fd00::1'] },
  usages: ['server', 'client'],
  lifetime: day,
}
const rightName: JsonName = [{ O: ['system:nodes'] }, { CN: ['system:node:w1'] }]
const ours = await makeRequest('kubelet key', spec.subject, spec.names)

interface Forgery {
  readonly name?: JsonName
  readonly extensions?: Extension[]
  readonly algorithm?: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams
  readonly hash?: string
}

/** Builds an arbitrary request, as a malicious host could send it. */
async function forged({
  name = rightName,
  extensions = [],
  algorithm,
  hash = 'SHA-256',
}: Forgery): Promise<string> {
  const chosen = algorithm ?? { name: 'ECDSA', namedCurve: 'P-256' }
  const keys = await webcrypto.subtle.generateKey(chosen, true, ['sign', 'verify'])
  const signingAlgorithm = { name: chosen.name, hash }
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name,
    keys,
    signingAlgorithm,
    extensions,
  })
  return request.toString('pem')
}

async function refusal(request: string): Promise<unknown> {
  return signRequest(ca, request, spec, now).then(
    () => 'signed',
    (error: unknown) => error,
  )
}

test('a request for the content of the spec, or for less, is signed', async () => {
  expect(await signRequest(ca, ours.request, spec, now)).toContain('BEGIN CERTIFICATE')
  expect(await refusal(await forged({}))).toBe('signed')
  expect(await refusal(await forged({ name: [{ CN: ['system:node:w1'] }] }))).toBe('signed')
  const spelt = new x509.SubjectAlternativeNameExtension([
    { type: 'dns', value: 'W1' },
    { type: 'ip', value: 'fd00:0::1' },
  ])
  expect(await refusal(await forged({ extensions: [spelt] }))).toBe('signed')
})

test.each<[string, JsonName, string]>([
  ['another node', [{ O: ['system:nodes'] }, { CN: ['system:node:cp1'] }], 'CN=system:node:cp1'],
  ['a second common name', [...rightName, { CN: ['admin'] }], 'CN=admin'],
  ['a group', [...rightName, { O: ['system:masters'] }], 'O=system:masters'],
  ['a group in the same RDN', [{ O: ['system:nodes', 'system:masters'] }], 'O=system:masters'],
  ['an organizational unit', [...rightName, { OU: ['x'] }], 'OU=x'],
  ['the name as a group', [{ O: ['system:node:w1'] }], 'O=system:node:w1'],
])('a subject with %s is refused', async (_what, name, excess) => {
  expect(await refusal(await forged({ name }))).toMatchObject({
    code: 'PKI_REQUEST_EXCEEDS_PLAN',
    message: expect.stringContaining(excess),
    hint: expect.any(String),
  })
})

test.each([
  ['dns', 'kubernetes.default', 'dns:kubernetes.default'],
  ['dns', '*.w1', 'dns:*.w1'],
  ['dns', '10.0.0.1', 'dns:10.0.0.1'],
  ['ip', '10.0.0.2', 'ip:10.0.0.2'],
  ['ip', 'fd00::2', 'ip:fd00::2'],
  ['email', 'root@w1', 'email:root@w1'],
  ['url', 'spiffe://w1/x', 'url:spiffe://w1/x'],
] as const)('an additional name is refused: %s %s', async (type, value, excess) => {
  const names = new x509.SubjectAlternativeNameExtension([
    { type: 'dns', value: 'w1' },
    { type, value },
  ])
  expect(await refusal(await forged({ extensions: [names] }))).toMatchObject({
    code: 'PKI_REQUEST_EXCEEDS_PLAN',
    message: expect.stringContaining(excess),
  })
})

test.each<[string, Extension[]]>([
  ['a CA certificate', [new x509.BasicConstraintsExtension(true, undefined, true)]],
  ['extended key usages', [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.codeSigning])]],
  [
    'duplicate names',
    [
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'w1' }]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'w1' }]),
    ],
  ],
])('a request for %s is refused', async (_what, extensions) => {
  expect(await refusal(await forged({ extensions }))).toMatchObject({ code: 'PKI_REQUEST_EXCEEDS_PLAN' })
})

test.each([
  ['P-384', { name: 'ECDSA', namedCurve: 'P-384' }],
  [
    'RSA',
    {
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: 'SHA-256',
    },
  ],
])('a %s key is refused', async (_what, algorithm) => {
  expect(await refusal(await forged({ algorithm }))).toMatchObject({ code: 'PKI_REQUEST_KEY' })
})

test('a signature with a weak digest is refused', async () => {
  expect(await refusal(await forged({ hash: 'SHA-1' }))).toMatchObject({ code: 'PKI_REQUEST_SIGNATURE' })
})

test('a request with the public key of another request is refused', async () => {
  const der = Buffer.from(new x509.Pkcs10CertificateRequest(ours.request).rawData)
  const theirs = await makeRequest('other', spec.subject, spec.names)
  const otherKey = Buffer.from(new x509.Pkcs10CertificateRequest(theirs.request).publicKey.rawData)
  const ourKey = Buffer.from(new x509.Pkcs10CertificateRequest(ours.request).publicKey.rawData)
  otherKey.copy(der, der.indexOf(ourKey))
  expect(await refusal(pemOf(der))).toMatchObject({ code: 'PKI_REQUEST_SIGNATURE' })
})

test('a request with any changed byte is refused with a PKI_REQUEST code', async () => {
  const der = Buffer.from(new x509.Pkcs10CertificateRequest(ours.request).rawData)
  await assert(
    asyncProperty(
      integer({ min: 0, max: der.length - 1 }),
      integer({ min: 1, max: 255 }),
      async (index, flip) => {
        const changed = Buffer.from(der)
        changed[index] = (changed[index] ?? 0) ^ flip
        expect(await refusal(pemOf(changed))).toMatchObject({ code: expect.stringMatching(/^PKI_REQUEST_/) })
      },
    ),
    { numRuns: 400 },
  )
})

test.each([
  ['empty text', ''],
  ['other text', 'hello'],
  ['a certificate', ca.certificate],
  ['two requests', ours.request + ours.request],
  ['bare base64', ours.request.replaceAll(/-----.*-----/g, '')],
  [
    'a request of one megabyte',
    `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(1_000_000)}\n-----END CERTIFICATE REQUEST-----`,
  ],
])('%s is not a valid request', async (_what, text) => {
  expect(await refusal(text)).toMatchObject({ code: 'PKI_REQUEST_NOT_READ' })
})

test('control characters in a request do not reach the terminal', async () => {
  const name: JsonName = [{ CN: ['\u001B[2J'] }]
  expect(String(await refusal(await forged({ name })))).not.toContain('\u001B')
})

function pemOf(der: Uint8Array): string {
  const body = Buffer.from(der).toString('base64')
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`
}
