import { expect, test } from 'vitest'
import { type Adoption, createIdentity, type Identity } from '../../identity/identity.ts'
import { advanceReplacement } from '../../identity/replace-key.ts'
import { Secret } from '../../pki/secret.ts'
import { formatIntent, formatResult, formatUnfinishedRotations, readExposure } from './exposure.ts'

const encryptionConfiguration = new Secret(
  'previous encryption configuration',
  'kind: EncryptionConfiguration',
)
const now = new Date('2026-11-15T12:00:00Z')
const own = await createIdentity('shop', now)
const withAdoption = (adoption: Pick<Adoption, 'from' | 'encryptionConfiguration'>): Identity => ({
  ...own,
  adoption: { ...adoption, observed: now.toISOString() },
})
const listSecrets = async (): Promise<readonly string[]> => ['shop/web']

test('of a compromised worker, only the Kubernetes CA is rotated', async () => {
  const exposed = await readExposure(
    ['worker'],
    withAdoption({ from: 'rke1', encryptionConfiguration }),
    listSecrets,
  )
  expect(exposed).toEqual({ rotations: [['kubernetes']], secrets: ['shop/web'], keptEncryption: undefined })
})

test('while etcd accepts certificates of nodes, a compromised worker counts as a control plane', async () => {
  let identity: Identity = {
    ...own,
    // The CA of the cluster is also that of etcd, as with RKE1.
    cas: { ...own.cas, etcd: { ...own.cas.kubernetes, name: 'etcd' } },
  }
  const readKeys = async (): Promise<readonly string[]> =>
    (await readExposure(['worker'], identity, listSecrets)).rotations.flat()
  expect(await readKeys()).toEqual(expect.arrayContaining(['kubernetes', 'etcd', 'service-account']))
  for (let phase = 0; phase < 4; phase++) identity = await advanceReplacement(identity, 'kubernetes', now)
  expect(await readKeys()).toContain('etcd')
  for (let phase = 0; phase < 2; phase++) identity = await advanceReplacement(identity, 'etcd', now)
  expect(await readKeys()).toContain('etcd')
  for (let phase = 0; phase < 2; phase++) identity = await advanceReplacement(identity, 'etcd', now)
  expect(await readKeys()).toEqual(['kubernetes'])
})

test('of a compromised control plane, all keys are rotated, and the key of tokens last', async () => {
  const exposed = await readExposure(['control-plane'], withAdoption({ from: 'kubeadm' }), listSecrets)
  expect(exposed.rotations).toEqual([expect.arrayContaining(['etcd', 'encryption']), ['service-account']])
  expect(formatUnfinishedRotations(exposed, false, [])).toContain('hyperkube certs rotate-key encryption\n')
  expect(formatResult('cp1', exposed, [], 'cluster.identity')).not.toContain('encryption key of')
})

test('the encryption key of another tool does not prevent the rotation of all other keys', async () => {
  const exposed = await readExposure(
    ['control-plane'],
    withAdoption({ from: 'rke1', encryptionConfiguration }),
    listSecrets,
  )
  expect(exposed.rotations.flat()).not.toContain('encryption')
  expect(exposed.rotations.flat()).toEqual(expect.arrayContaining(['kubernetes', 'etcd', 'service-account']))
  // hyperkube would refuse this command.
  expect(formatUnfinishedRotations(exposed, false, [])).not.toContain('rotate-key encryption')
  expect(formatIntent('cp1', exposed)).toContain('the encryption key of rke1 stays')
  expect(formatResult('cp1', exposed, [], 'cluster.identity')).toContain('the encryption key of rke1 stays')
})
