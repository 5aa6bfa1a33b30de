import { expect, test } from 'vitest'
import { knownSecrets } from '../../identity/secret-files.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { Secret } from '../../pki/secret.ts'
import { clusterFiles, clusterIdentity } from '../etcd/testing/fixtures.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

test.each([
  ['support-bundle --out cluster.yml', 2, 'cluster.yml already exists'],
  ['support-bundle --out nowhere/bundle.tar.gz', 2, 'the directory nowhere does not exist'],
  ['support-bundle --since ever', 2, 'expected a duration or a time such as 10m'],
  ['support-bundle --limit w9', 2, 'LIMIT_UNKNOWN_HOST'],
])('%s is a usage error', async (words, code, problem) => {
  const ran = await runHyperkube(words, clusterFiles)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(problem)])
})

test('the secret mask removes every secret of the identity from a text', () => {
  const password = 'correct horse'
  const own = { ...clusterIdentity, secrets: { registry: new Secret('registry', password) } }
  const mask = createSecretMask(knownSecrets(own))
  const encryption = Buffer.from(clusterIdentity.encryptionKey.reveal()).toString('base64')
  const [, line = ''] = clusterIdentity.cas.etcd.privateKey.revealText().split('\n')
  for (const secret of [password, encryption, line, Buffer.from(password).toString('base64')]) {
    expect(secret.length).toBeGreaterThan(10)
    expect(mask.text(`before ${secret} after`)).toBe('before [removed] after')
  }
})
