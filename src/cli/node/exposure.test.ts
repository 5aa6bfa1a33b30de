import { expect, test } from 'vitest'
import { Secret } from '../../pki/secret.ts'
import { formatIntent, formatResult, formatUnfinishedRotations, readExposure } from './exposure.ts'

const encryptionConfiguration = new Secret(
  'previous encryption configuration',
  'kind: EncryptionConfiguration',
)
const listSecrets = async (): Promise<readonly string[]> => ['shop/web']

test('of a compromised worker, only the Kubernetes CA is rotated', async () => {
  const exposed = await readExposure(['worker'], { from: 'rke1', encryptionConfiguration }, listSecrets)
  expect(exposed).toEqual({ rotations: [['kubernetes']], secrets: ['shop/web'], keptEncryption: undefined })
})

test('of a compromised control plane, all keys are rotated, and the key of tokens last', async () => {
  const exposed = await readExposure(['control-plane'], { from: 'kubeadm' }, listSecrets)
  expect(exposed.rotations).toEqual([expect.arrayContaining(['etcd', 'encryption']), ['service-account']])
  expect(formatUnfinishedRotations(exposed, false, [])).toContain('hyperkube certs rotate-key encryption\n')
  expect(formatResult('cp1', exposed, [], 'cluster.identity')).not.toContain('encryption key of')
})

test('the encryption key of another tool does not prevent the rotation of all other keys', async () => {
  const exposed = await readExposure(
    ['control-plane'],
    { from: 'rke1', encryptionConfiguration },
    listSecrets,
  )
  expect(exposed.rotations.flat()).not.toContain('encryption')
  expect(exposed.rotations.flat()).toEqual(expect.arrayContaining(['kubernetes', 'etcd', 'service-account']))
  // hyperkube would refuse this command.
  expect(formatUnfinishedRotations(exposed, false, [])).not.toContain('rotate-key encryption')
  expect(formatIntent('cp1', exposed)).toContain('the encryption key of rke1 stays')
  expect(formatResult('cp1', exposed, [], 'cluster.identity')).toContain('the encryption key of rke1 stays')
})
