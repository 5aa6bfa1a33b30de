import { expect, test } from 'vitest'
import { runHyperkube, createInMemoryContext } from '../testing/run-in-memory.ts'
import { loadIdentity } from '../../workspace/load-identity.ts'

const key = '/home/me/.config/hyperkube/keys/shop.key'
const { files: createdFiles } = await runHyperkube('init --name shop --host 10.0.0.1=control-plane')
const { files: other } = await runHyperkube('init --name other --host 10.0.0.1=control-plane')
const all = Object.fromEntries(createdFiles)
const otherKey = other.get('/home/me/.config/hyperkube/keys/other.key') ?? ''

async function load(files: Readonly<Record<string, string | undefined>>, flag?: string) {
  const existing = Object.entries(files).flatMap(([path, text]) => (text === undefined ? [] : [[path, text]]))
  const { context } = createInMemoryContext(Object.fromEntries(existing))
  return loadIdentity(context, { file: 'cluster.yml', ...(flag === undefined ? {} : { key: flag }) })
}

test('the identity is loaded with the default key file or with --key', async () => {
  expect((await load(all)).metadata.name).toBe('shop')
  expect((await load({ ...all, [key]: undefined, '/safe/x': all[key] }, '/safe/x')).metadata.name).toBe(
    'shop',
  )
})

test.each([
  [
    'a missing cluster.yml',
    { 'cluster.yml': undefined },
    'SPEC_NOT_READ',
    'cluster.yml does not exist',
    'hyperkube init',
  ],
  [
    'an invalid cluster.yml',
    { 'cluster.yml': 'x: y' },
    'SPEC_NOT_VALID',
    'cluster.yml has errors',
    'show the errors: hyperkube validate -f cluster.yml',
  ],
  [
    'a missing identity',
    { 'cluster.identity': undefined },
    'IDENTITY_NOT_READ',
    'cluster.identity does not exist',
    'for a new cluster: hyperkube init',
  ],
  [
    'a missing key file',
    { [key]: undefined },
    'IDENTITY_KEY_NOT_READ',
    `${key} does not exist`,
    '--key FILE',
  ],
  [
    'the key of another cluster',
    { [key]: otherKey },
    'IDENTITY_WRONG_KEY',
    `${key} is not the key of cluster.identity`,
    'run the same command with the right key: --key FILE',
  ],
  ['an invalid key file', { [key]: 'x' }, 'IDENTITY_KEY_NOT_READ', 'has an invalid format', 'backup'],
  [
    'a damaged identity',
    { 'cluster.identity': all['cluster.identity']?.replace('aes', 'AES') },
    'IDENTITY_DAMAGED',
    'cluster.identity: the sealed identity was changed',
    'backup',
  ],
  [
    'the identity of another cluster',
    { 'cluster.identity': other.get('cluster.identity'), [key]: otherKey },
    'IDENTITY_MISMATCH',
    'cluster.identity belongs to the cluster other, not to shop',
    'set metadata.name in cluster.yml to other',
  ],
])('%s is an error with a hint', async (_what, change, code, message, hint) => {
  await expect(load({ ...all, ...change })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
    hint: expect.stringContaining(hint),
  })
})
