import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatherCredentials } from './credentials.ts'
import type { Hop, KeyFile } from './hop.ts'

const { signal } = new AbortController()
let directory = ''

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-keys-'))
  const plain = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'plain' })
  const locked = ssh2.utils.generateKeyPairSync('ed25519', {
    passphrase: 'secret',
    cipher: 'aes256-ctr',
    rounds: 1,
  })
  const files = {
    plain: plain.private,
    locked: locked.private,
    'only.pub': plain.public,
    odd: 'no key at all',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
})
afterAll(async () => rm(directory, { recursive: true }))

function hop(names: readonly string[], from: KeyFile['from'] = 'settings'): Hop {
  const keys = names.map((name) => ({ path: join(directory, name), from }))
  return { name: 'cp1', alias: 'a', address: 'a', port: 22, user: 'ada', keys, onlyKeys: true }
}

test('a key is offered with its path and fingerprint as label', async () => {
  const { offers, encrypted, broken } = await gatherCredentials(hop(['plain']), undefined, signal)
  expect(offers.map(({ label }) => label)).toEqual([expect.stringMatching(/\/plain \(SHA256:[\w+/]{43}\)$/)])
  expect([encrypted, broken]).toEqual([[], []])
})

test('an encrypted key is not offered', async () => {
  const { offers, encrypted } = await gatherCredentials(hop(['locked']), undefined, signal)
  expect([offers, encrypted]).toEqual([[], [join(directory, 'locked')]])
})

test('a configured key file that is missing or not a key is reported', async () => {
  const { broken } = await gatherCredentials(hop(['none', 'odd', 'plain']), undefined, signal)
  expect(broken.map(({ kind, path }) => [kind, path])).toEqual([
    ['missing', join(directory, 'none')],
    ['unusable', join(directory, 'odd')],
  ])
})

test('a default key file that is missing or not a key is skipped', async () => {
  const { offers, broken } = await gatherCredentials(
    hop(['none', 'odd', 'only.pub'], 'habit'),
    undefined,
    signal,
  )
  expect([offers, broken]).toEqual([[], []])
})

test('a missing ssh agent offers no keys', async () => {
  const { offers } = await gatherCredentials(hop([]), join(directory, 'no-agent'), signal)
  expect(offers).toEqual([])
})
