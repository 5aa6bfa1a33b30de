import { expect, test } from 'vitest'
import { knownSecrets } from '../../identity/known-secrets.ts'
import { secretMask } from '../../kit/mask-secrets.ts'
import { Secret } from '../../pki/secret.ts'
import { identity, made } from '../etcd/testing/fixtures.ts'
import { hyperkube } from '../testing/run-in-memory.ts'

test.each([
  ['support --out cluster.yml', 2, 'cluster.yml is there already'],
  ['support --out nowhere/bundle.tar.gz', 2, 'there is no directory nowhere'],
  ['support --since ever', 2, 'write it as 10m'],
  ['support --limit w9', 1, 'LIMIT_UNKNOWN_HOST'],
])('%s is not right', async (words, code, wrong) => {
  const ran = await hyperkube(words, made)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(wrong)])
})

test('every secret of an identity is known, and taken out wherever it stands', () => {
  const password = 'correct horse'
  const own = { ...identity, secrets: { registry: new Secret('registry', password) } }
  const mask = secretMask(knownSecrets(own))
  const encryption = Buffer.from(identity.encryptionKey.reveal()).toString('base64')
  const [, line = ''] = identity.authorities.etcd.privateKey.revealText().split('\n')
  for (const secret of [password, encryption, line, Buffer.from(password).toString('base64')]) {
    expect(secret.length).toBeGreaterThan(10)
    expect(mask.text(`before ${secret} after`)).toBe('before [removed] after')
  }
})
