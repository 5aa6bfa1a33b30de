import { expect, test } from 'vitest'
import { parseKeyFile } from '../../identity/sealing-key.ts'
import { unsealIdentity } from '../../identity/seal.ts'
import { runHyperkube, type CliResult } from '../testing/run-in-memory.ts'

const clusterFiles = Object.fromEntries(
  (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
)

async function readSecrets(files: CliResult['files']): Promise<Record<string, string>> {
  const key = parseKeyFile(files.get('/home/me/.config/hyperkube/keys/shop.key') ?? '')
  const { secrets } = await unsealIdentity(files.get('cluster.identity') ?? '', key)
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.revealText()]))
}

test('a secret can be set, listed by name and removed, and its value is never printed', async () => {
  const set = await runHyperkube('secret set backup-key --from-file value', {
    ...clusterFiles,
    value: 'TOP SECRET\n',
  })
  expect(set.code).toBe(0)
  expect(await readSecrets(set.files)).toEqual({ 'backup-key': 'TOP SECRET' })
  const list = await runHyperkube('secret list', Object.fromEntries(set.files))
  expect([list.code, list.stdout]).toEqual([0, 'backup-key\n'])
  for (const { stdout, stderr } of [set, list]) expect(stdout + stderr).not.toContain('TOP SECRET')
  expect(set.files.get('cluster.identity')).not.toContain('TOP SECRET')
  const removed = await runHyperkube('secret remove backup-key', Object.fromEntries(set.files))
  expect(await readSecrets(removed.files)).toEqual({})
})

test.each([
  ['secret set', 2, 'USAGE'],
  ['secret set backup-key', 2, 'USAGE'],
  ['secret remove', 2, 'USAGE'],
  ['secret set backup-key --from-file missing', 1, 'SECRET_NOT_READ'],
  ['secret set Backup_Key --from-file cluster.yml', 1, 'SECRET_NAME'],
])('%s is refused', async (words, code, word) => {
  const ran = await runHyperkube(words, clusterFiles)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(word)])
  expect(ran.files.get('cluster.identity')).toBe(clusterFiles['cluster.identity'])
})
