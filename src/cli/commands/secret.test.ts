import { expect, test } from 'vitest'
import { parseKeyFile } from '../../identity/sealing-key.ts'
import { open } from '../../identity/seal.ts'
import { hyperkube, type Ran } from '../testing/run-in-memory.ts'

const made = Object.fromEntries((await hyperkube('init --name shop --host 10.0.0.1=control-plane')).files)

async function secretsIn(files: Ran['files']): Promise<Record<string, string>> {
  const key = parseKeyFile(files.get('/home/me/.config/hyperkube/keys/shop.key') ?? '')
  const { secrets } = await open(files.get('cluster.identity') ?? '', key)
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.revealText()]))
}

test('a secret is put into the identity, named and taken out, and never shown', async () => {
  const set = await hyperkube('secret set backup-key --from-file value', { ...made, value: 'TOP SECRET\n' })
  expect(set.code).toBe(0)
  expect(await secretsIn(set.files)).toEqual({ 'backup-key': 'TOP SECRET' })
  const list = await hyperkube('secret list', Object.fromEntries(set.files))
  expect([list.code, list.stdout]).toEqual([0, 'backup-key\n'])
  for (const { stdout, stderr } of [set, list]) expect(stdout + stderr).not.toContain('TOP SECRET')
  expect(set.files.get('cluster.identity')).not.toContain('TOP SECRET')
  const removed = await hyperkube('secret remove backup-key', Object.fromEntries(set.files))
  expect(await secretsIn(removed.files)).toEqual({})
})

test.each([
  ['secret set', 2, 'USAGE'],
  ['secret set backup-key', 2, 'USAGE'],
  ['secret remove', 2, 'USAGE'],
  ['secret set backup-key --from-file gone', 1, 'SECRET_NOT_READ'],
  ['secret set Backup_Key --from-file cluster.yml', 1, 'SECRET_NAME'],
])('%s is refused', async (words, code, word) => {
  const ran = await hyperkube(words, made)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(word)])
  expect(ran.files.get('cluster.identity')).toBe(made['cluster.identity'])
})
