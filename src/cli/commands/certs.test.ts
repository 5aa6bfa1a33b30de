import { expect, test } from 'vitest'
import { createIdentity } from '../../identity/identity.ts'
import { formatKeyFile, makeSealingKey, parseKeyFile } from '../../identity/sealing-key.ts'
import { unsealIdentity, sealIdentity } from '../../identity/seal.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const clusterFile = buildClusterFile(
  '{ name: cp1, address: 192.168.1.11, roles: [control-plane] }',
  '{ name: w1, address: 192.168.1.21, roles: [worker] }',
)
const files = { 'cluster.yml': clusterFile }

test.each([
  ['certs', 'needs a subcommand: list, renew, rotate-ca, rotate-key'],
  ['certs rotate', 'has no subcommand rotate'],
  ['certs rotate-ca kube', 'Allowed choices are all, kubernetes, etcd, front-proxy'],
  ['certs rotate-ca etcd front-proxy', 'too many arguments'],
  ['certs rotate-key', "missing required argument 'key'"],
  ['certs rotate-key etcd', 'Allowed choices are service-account, encryption, identity'],
])('%s is a usage error', async (words, problem) => {
  const { code, stderr } = await runHyperkube(words, files)
  expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
})

test.each(['certs list w9', 'certs renew w9'])('%s: an unknown host is a usage error', async (words) => {
  const { code, stderr } = await runHyperkube(words, files)
  expect([code, stderr]).toEqual([2, expect.stringContaining('LIMIT_UNKNOWN_HOST')])
})

test.each(['certs list', 'certs rotate-ca', 'certs rotate-key encryption'])(
  '%s needs the identity',
  async (words) => {
    const { code, stderr } = await runHyperkube(words, files)
    expect([code, stderr]).toEqual([1, expect.stringContaining('IDENTITY_NOT_READ')])
  },
)

test('rotate-key identity seals the identity with a new key and keeps the previous key file', async () => {
  const identity = await createIdentity('shop', new Date('2026-11-15T00:00:00Z'))
  const previous = makeSealingKey()
  const keyFile = '/home/me/.config/hyperkube/keys/shop.key'
  const before = {
    ...files,
    'cluster.identity': await sealIdentity(identity, previous),
    [keyFile]: formatKeyFile(previous),
  }
  const ran = await runHyperkube('certs rotate-key identity', before)
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(`mv ${keyFile}.new ${keyFile}`)])
  const sealed = ran.files.get('cluster.identity') ?? ''
  expect(ran.files.get(keyFile)).toBe(formatKeyFile(previous))
  await expect(unsealIdentity(sealed, previous)).rejects.toMatchObject({ code: 'IDENTITY_WRONG_KEY' })
  const next = parseKeyFile(ran.files.get(`${keyFile}.new`) ?? '')
  expect((await unsealIdentity(sealed, next)).id).toBe(identity.id)
  // A run that is interrupted before it writes the identity leaves a new key file. The next run uses the key
  // in this file.
  const again = await runHyperkube('certs rotate-key identity', {
    ...before,
    [`${keyFile}.new`]: formatKeyFile(next),
  })
  expect((await unsealIdentity(again.files.get('cluster.identity') ?? '', next)).id).toBe(identity.id)
})
