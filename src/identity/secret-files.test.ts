import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { Secret } from '../pki/secret.ts'
import { createIdentity, type Identity } from './identity.ts'
import { secretFiles } from './secret-files.ts'

const now = new Date('2026-11-18T08:00:00Z')
const identity = await createIdentity('shop', now)

function listProviders(changes: Partial<Identity>): unknown {
  const text =
    secretFiles({ ...identity, ...changes })
      .get('encryption-configuration')
      ?.revealText() ?? ''
  const document: { resources: { providers: object[] }[] } = parse(text)
  return document.resources[0]?.providers.map((provider) => Object.keys(provider)[0])
}

test('Secrets of an adopted cluster stay readable for its previous API servers until the commit', () => {
  const adoption = { from: 'kubeadm', observed: now.toISOString() } as const
  expect(listProviders({})).toEqual(['secretbox', 'identity'])
  expect(listProviders({ adoption })).toEqual(['identity', 'secretbox'])
  expect(listProviders({ adoption: { ...adoption, committed: now.toISOString() } })).toEqual([
    'secretbox',
    'identity',
  ])
})

test('an adopted cluster keeps its own encryption configuration', () => {
  const encryptionConfiguration = new Secret('encryption', 'kind: EncryptionConfiguration\n')
  const adoption = { from: 'kubeadm', observed: now.toISOString(), encryptionConfiguration } as const
  for (const committed of [{}, { committed: now.toISOString() }]) {
    const files = secretFiles({ ...identity, adoption: { ...adoption, ...committed } })
    expect(files.get('encryption-configuration')).toBe(encryptionConfiguration)
  }
})
