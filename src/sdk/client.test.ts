import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { formatLock } from '../catalog/lock.ts'
import { createIdentity } from '../identity/identity.ts'
import { sealIdentity } from '../identity/seal.ts'
import { formatKeyFile, makeSealingKey } from '../identity/sealing-key.ts'
import { buildClusterFile } from '../cli/testing/cluster-file.ts'
import type { Event } from '../contract/event.ts'
import { buildTestLock } from '../plan/testing/fixtures.ts'
import { openCluster } from './client.ts'

let directory: string
let file: string
let key: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'client-'))
  file = join(directory, 'cluster.yml')
  key = join(directory, 'key')
  // Port 1 of the loopback address accepts no connections.
  await writeFile(
    file,
    buildClusterFile('{ name: cp1, address: 127.0.0.1, ssh: { port: 1 }, roles: [control-plane] }'),
  )
  await writeFile(join(directory, 'cluster.lock'), formatLock(buildTestLock('1.37.1')))
  const sealingKey = makeSealingKey()
  await writeFile(key, formatKeyFile(sealingKey), { mode: 0o600 })
  const identity = await createIdentity('shop', new Date())
  await writeFile(join(directory, 'cluster.identity'), await sealIdentity(identity, sealingKey))
})
afterEach(async () => rm(directory, { recursive: true }))

test('an invalid cluster.yml is refused with its first error, and a missing one by name', async () => {
  await writeFile(file, 'kind: Cluster\n')
  await expect(openCluster({ file })).rejects.toMatchObject({
    code: 'SPEC_NOT_VALID',
    message: expect.stringContaining(`${file}:1`),
  })
  await rm(file)
  await expect(openCluster({ file })).rejects.toMatchObject({ message: expect.stringContaining(file) })
})

test('an unreachable host is part of the status, and the cause of all problems of doctor', async () => {
  const { cluster, status, doctor } = await openCluster({ file, key })
  expect(cluster.metadata.name).toBe('shop')
  const { hosts, summary } = await status()
  expect(hosts).toMatchObject([{ host: 'cp1', unreachable: expect.stringContaining('127.0.0.1') }])
  expect(summary.hosts).toEqual({ healthy: 0, total: 1 })
  const { healthy, findings } = await doctor()
  expect(healthy).toBe(false)
  expect(findings[0]?.meaning).not.toBe('')
})

test('a plan without reachable hosts has an error and emits its events, and up throws it', async () => {
  const events: Event[] = []
  const { plan, up } = await openCluster({ file, key })
  const { findings, steps } = await plan({ onEvent: (event) => events.push(event) })
  expect(findings).toMatchObject([{ code: 'SSH_UNREACHABLE', severity: 'error', host: 'cp1' }])
  expect(steps).toEqual([])
  expect(events[0]?.body).toEqual({ type: 'run-started', command: 'plan' })
  expect(events.at(-1)?.body).toMatchObject({ type: 'run-ended', result: { outcome: 'failed' } })
  const applying = up({ plan: await plan() })
  await expect(applying).rejects.toMatchObject({ code: 'SSH_UNREACHABLE' })
  await expect(plan({ hosts: ['cp7'] })).rejects.toMatchObject({ code: 'LIMIT_UNKNOWN_HOST' })
})

test('an aborted signal ends a plan as interrupted', async () => {
  const events: Event[] = []
  const stop = new AbortController()
  const { plan } = await openCluster({ file, key, signal: stop.signal })
  stop.abort()
  await expect(plan({ onEvent: (event) => events.push(event) })).rejects.toThrow('aborted')
  expect(events.at(-1)?.body).toEqual({ type: 'run-ended', result: { outcome: 'interrupted' } })
})

test('another key is refused before any connection', async () => {
  const other = join(directory, 'other')
  await writeFile(other, formatKeyFile(makeSealingKey()), { mode: 0o600 })
  const { status } = await openCluster({ file, key: other })
  await expect(status()).rejects.toMatchObject({ code: 'IDENTITY_WRONG_KEY' })
  await cp(key, other)
  await expect(status()).resolves.toMatchObject({ kind: 'Status', cluster: 'shop' })
})
