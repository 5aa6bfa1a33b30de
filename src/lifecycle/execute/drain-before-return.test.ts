import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { drainBeforeReturn } from './drain-before-return.ts'

const wait = {
  waiting: () => undefined,
  timeoutMs: 1000,
  now: () => new Date(0),
  signal: new AbortController().signal,
}

async function listDrained(reason: () => Promise<string | undefined>): Promise<readonly unknown[]> {
  const drained: unknown[] = []
  const client = createFakeClusterClient({
    nodesReady: async (_, runtime) => (runtime === 'containerd' ? reason() : 'asked for another runtime'),
    drain: async (host, { lost, timeoutMs }) => void drained.push([host, lost, timeoutMs]),
  })
  await drainBeforeReturn('w1', client, wait)
  return drained
}

test('a moved node is drained', async () => {
  expect(await listDrained(async () => undefined)).toEqual([['w1', false, 1000]])
})

test('a node that is not ready or has not moved returns without a drain, also without an API', async () => {
  expect(await listDrained(async () => 'w1 reports docker')).toEqual([])
  expect(await listDrained(async () => Promise.reject(new Error('connection refused')))).toEqual([])
})

test('a blocked drain stops the rollback, and the error names the way without a drain', async () => {
  const blocked = new HyperkubeError('DRAIN_BLOCKED', 'w1 is not drained after 10 min', {
    hint: 'check kubectl get poddisruptionbudgets -A',
  })
  const client = createFakeClusterClient({ drain: async () => Promise.reject(blocked) })
  await expect(drainBeforeReturn('w1', client, wait)).rejects.toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: blocked.message,
    hint: 'check kubectl get poddisruptionbudgets -A; to end these pods without waiting: hyperkube adopt rollback --no-drain',
  })
})
