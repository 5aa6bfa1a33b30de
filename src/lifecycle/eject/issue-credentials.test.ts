import { createPrivateKey, X509Certificate } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { describeClient, describeServer, type EjectContent } from './eject-file.ts'
import { completeFiles } from './issue-credentials.ts'

const now = new Date('2026-11-15T00:00:00Z')
let identity: Identity

beforeAll(async () => {
  identity = await createIdentity('shop', now)
})

const credentials = new Map([
  [
    'one/etcd/server',
    describeServer('etcd', 'one', { dns: ['one'], ip: ['10.0.0.1'] }, ['server', 'client']),
  ],
  ['one/admin', describeClient('kubernetes', 'kubernetes-admin', 'kubeadm:cluster-admins')],
])

async function complete(...contents: readonly EjectContent[]): Promise<readonly string[]> {
  const files = contents.map((content, index) => ({ path: `file-${index}`, content }))
  return (await completeFiles({ files, credentials }, identity, now)).map(({ content }) =>
    content.revealText(),
  )
}

test('a certificate of the right CA belongs to its key, is valid for a year and has the names', async () => {
  const [certificate = '', key = '', pair = ''] = await complete(
    { kind: 'certificate', credential: 'one/etcd/server' },
    { kind: 'private-key', credential: 'one/etcd/server' },
    { kind: 'key-pair', credential: 'one/etcd/server' },
  )
  const issued = new X509Certificate(certificate)
  expect(issued.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(issued.verify(new X509Certificate(identity.cas.etcd.certificate).publicKey)).toBe(true)
  expect(inspectCertificate(certificate)).toMatchObject({
    commonName: 'one',
    names: { dns: ['one'], ip: ['10.0.0.1'] },
    usages: ['server', 'client'],
    notAfter: new Date('2027-11-15T00:00:00Z'),
  })
  expect(pair).toBe(certificate + key)
})

test('a kubeconfig contains its credentials, and keys of CAs come from the identity', async () => {
  const access = { cluster: 'shop', server: 'https://10.0.0.1:6443', user: 'kubernetes-admin' }
  const [kubeconfig = '', caKey = ''] = await complete(
    { kind: 'kubeconfig', credential: 'one/admin', access },
    { kind: 'secret', secret: 'kubernetes-ca-key' },
  )
  expect(kubeconfig).toContain('client-key-data')
  expect(kubeconfig).toContain('https://10.0.0.1:6443')
  expect(caKey).toBe(identity.cas.kubernetes.privateKey.revealText())
})

test('an unknown secret is an error, and completed files do not print their content', async () => {
  await expect(complete({ kind: 'secret', secret: 'missing' })).rejects.toMatchObject({
    code: 'EJECT_SECRET_MISSING',
  })
  const [file] = await completeFiles(
    { files: [{ path: 'x', content: { kind: 'secret', secret: 'etcd-ca-key' } }], credentials: new Map() },
    identity,
    now,
  )
  expect(JSON.stringify(file)).not.toContain('PRIVATE')
})
