import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { runProgram } from '../kit/command.ts'
import { makeRequest } from '../pki/request.ts'
import { Secret } from '../pki/secret.ts'
import { signRequest } from '../pki/sign.ts'
import { createIdentity, identitySchema } from './identity.ts'
import { type ExistingCa, importIdentity } from './import-identity.ts'
import { sealIdentity, unsealIdentity } from './seal.ts'
import { makeSealingKey, parseKeyFile } from './sealing-key.ts'
import { knownSecrets } from './secret-files.ts'

const directory = await mkdtemp(join(tmpdir(), 'hyperkube-import-'))
afterAll(async () => rm(directory, { recursive: true, force: true }))

/** Config with which openssl writes names as PrintableString, as kubeadm does. */
const config = `[req]
distinguished_name = name
string_mask = pkix
prompt = no
x509_extensions = ca
[name]
CN = kubernetes
[ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,digitalSignature,keyEncipherment
`
await writeFile(join(directory, 'config'), config)

async function createOpensslCa(name: string, algorithm: readonly string[]): Promise<ExistingCa> {
  const [key, certificate] = [join(directory, `${name}.key`), join(directory, `${name}.crt`)]
  const options = ['-config', join(directory, 'config'), '-keyout', key, '-out', certificate]
  await runProgram(['openssl', 'req', '-x509', '-nodes', '-days', '30', ...algorithm, ...options])
  return {
    certificate: await readFile(certificate, 'utf8'),
    privateKey: new Secret(`${name} key`, await readFile(key, 'utf8')),
  }
}

const rsa = await createOpensslCa('rsa', ['-newkey', 'rsa:2048'])
const curve = await createOpensslCa('ec', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1'])
const other = await createOpensslCa('other', ['-newkey', 'rsa:2048'])
// The certificates above become valid when openssl creates them.
const now = new Date()
const encryption = 'kind: EncryptionConfiguration\nresources: []\n# c2VjcmV0IGtleSBvZiBldGNk\n'
const keys = {
  kubernetes: rsa,
  etcd: curve,
  frontProxy: other,
  serviceAccountKey: other.privateKey,
  encryptionConfiguration: new Secret('encryption', encryption),
}
const options = { name: 'shop', from: 'kubeadm', hosts: ['cp1', 'w1'], now } as const

test('an imported identity survives sealing and keeps every key of the cluster', async () => {
  const key = makeSealingKey()
  const imported = await importIdentity(keys, options)
  const opened = await unsealIdentity(await sealIdentity(imported, key), key)
  expect(z.encode(identitySchema, opened)).toEqual(z.encode(identitySchema, imported))
  const read = (certificate: string) => new X509Certificate(certificate).fingerprint256
  expect(read(opened.cas.kubernetes.certificate)).toBe(read(rsa.certificate))
  expect(read(opened.cas.etcd.certificate)).toBe(read(curve.certificate))
  expect(opened.serviceAccount.privateKey.revealText()).toContain('BEGIN PRIVATE KEY')
  expect(opened.adoption).toMatchObject({
    from: 'kubeadm',
    observed: now.toISOString(),
    hosts: ['cp1', 'w1'],
  })
  expect(opened.adoption?.encryptionConfiguration?.revealText()).toBe(encryption)
  expect(knownSecrets(opened)).toContain('# c2VjcmV0IGtleSBvZiBldGNk')
})

test('the keys of PKCS#1 files are converted', async () => {
  const file = join(directory, 'pkcs1.key')
  await runProgram(['openssl', 'rsa', '-traditional', '-in', join(directory, 'rsa.key'), '-out', file])
  const text = await readFile(file, 'utf8')
  expect(text).toContain('BEGIN RSA PRIVATE KEY')
  const privateKey = new Secret('key', text)
  const kubernetes = { ...rsa, privateKey }
  const imported = await importIdentity({ ...keys, kubernetes, serviceAccountKey: privateKey }, options)
  expect(imported.cas.kubernetes.privateKey.revealText()).toContain('BEGIN PRIVATE KEY')
  expect(imported.serviceAccount.publicKey).toContain('BEGIN PUBLIC KEY')
})

test.each([
  ['RSA', rsa],
  ['ECDSA P-384', curve],
])('certificates signed with an imported %s CA verify, and name the issuer byte by byte', async (_, ca) => {
  const imported = await importIdentity({ ...keys, kubernetes: ca }, options)
  const spec = {
    subject: { commonName: 'kube-apiserver', organizations: [] },
    names: { dns: ['cp1'], ip: [] },
    usages: ['server' as const],
    lifetime: 86_400_000,
  }
  const { request } = await makeRequest('key', spec.subject, spec.names)
  const signed = await signRequest(imported.cas.kubernetes, request, spec, now)
  const [leaf, issuer] = [new X509Certificate(signed), new X509Certificate(ca.certificate)]
  expect(leaf.verify(issuer.publicKey)).toBe(true)
  expect(leaf.checkIssued(issuer)).toBe(true)
  const [leafFile, caFile] = [join(directory, 'leaf'), join(directory, 'ca')]
  await Promise.all([writeFile(leafFile, signed), writeFile(caFile, ca.certificate)])
  await runProgram(['openssl', 'verify', '-CAfile', caFile, '-purpose', 'sslserver', leafFile])
  // Go compares the encoded names, so a UTF8String must not replace a PrintableString.
  const printableName = Buffer.concat([Buffer.from([0x13, 10]), Buffer.from('kubernetes')])
  expect(leaf.raw.includes(printableName)).toBe(true)
})

test('a key of another CA is refused, and so is text that is not a key', async () => {
  const mixed = { ...keys, kubernetes: { ...rsa, privateKey: other.privateKey } }
  await expect(importIdentity(mixed, options)).rejects.toMatchObject({ code: 'ADOPT_KEY_MISMATCH' })
  const invalid = { ...keys, serviceAccountKey: new Secret('service account key', 'no key') }
  await expect(importIdentity(invalid, options)).rejects.toMatchObject({
    code: 'ADOPT_KEY_NOT_READ',
    message: 'service account key is not a private key in PEM',
  })
})

test('a certificate of a server cannot become a CA', async () => {
  const identity = await createIdentity('shop', now)
  const spec = {
    subject: { commonName: 'a', organizations: [] },
    names: { dns: ['a'], ip: [] },
    usages: ['server' as const],
    lifetime: 86_400_000,
  }
  const { request, privateKey } = await makeRequest('key', spec.subject, spec.names)
  const certificate = await signRequest(identity.cas.kubernetes, request, spec, now)
  const changed = { ...keys, etcd: { certificate, privateKey } }
  await expect(importIdentity(changed, options)).rejects.toMatchObject({ code: 'ADOPT_KEY_MISMATCH' })
})

test('a v1 identity of an adopted cluster is unsealed', async () => {
  const read = async (name: string) => readFile(join(import.meta.dirname, 'testdata', name), 'utf8')
  const opened = await unsealIdentity(await read('v1-adopted.sealed'), parseKeyFile(await read('v1.key')))
  expect(opened.adoption).toMatchObject({ from: 'rke1', observed: '2026-11-18T08:00:00.000Z' })
  expect(opened.adoption?.encryptionConfiguration?.revealText()).toContain('EncryptionConfiguration')
})
