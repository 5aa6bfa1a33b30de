import { expect, test } from 'vitest'
import type { EventBody } from '../agents/event-stream.ts'
import { createFakeClusterClient } from '../testing/fake-cluster-client.ts'
import { passGate } from './gate.ts'

const gate = { kind: 'controllers-ready', host: 'cp1' } as const

async function pass(reasons: readonly (string | undefined)[], timeoutMs: number) {
  const emitted: EventBody[] = []
  const [left, checked] = [[...reasons], [] as string[]]
  const client = createFakeClusterClient({
    async controllersReady(host) {
      checked.push(host)
      return left.length > 1 ? left.shift() : left[0]
    },
  })
  const options = { timeoutMs, now: () => new Date(), signal: new AbortController().signal }
  const error: unknown = await passGate(gate, client, (body) => void emitted.push(body), options).catch(
    (reason: unknown) => reason,
  )
  return { error, emitted, checked }
}

test('the controllers-ready gate polls until the controllers are ready and reports why it waits', async () => {
  const { error, emitted, checked } = await pass(['kube-scheduler fails ping', undefined], 10_000)
  expect(error).toBeUndefined()
  expect(checked).toEqual(['cp1', 'cp1'])
  expect(emitted).toMatchObject([
    { type: 'waiting', for: 'until the controllers of cp1 are ready: kube-scheduler fails ping' },
  ])
})

test('the controllers-ready gate fails after its timeout with the reason', async () => {
  const { error } = await pass(['kube-scheduler: no connection'], 1)
  expect(error).toMatchObject({
    code: 'GATE_NOT_PASSED',
    message: expect.stringContaining('kube-scheduler: no connection'),
  })
})

test('the gate of nodes passes on the container runtime that they must report', async () => {
  const checked: unknown[] = []
  const client = createFakeClusterClient({
    async nodesReady(...args) {
      checked.push(args)
      return undefined
    },
  })
  const options = { timeoutMs: 1, now: () => new Date(), signal: new AbortController().signal }
  const nodes = { kind: 'nodes-ready', hosts: ['w1'], runtime: 'docker' } as const
  await passGate(nodes, client, () => undefined, options)
  expect(checked).toEqual([[['w1'], 'docker']])
})
