import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import type { HostSpec } from '../../spec/host.ts'
import { connectAgents } from './connected-agents.ts'

function buildHost(name: string): HostSpec {
  return { name, address: name, os: 'linux', local: false, roles: ['worker'], labels: {}, files: [] }
}

test('unreachable hosts are listed in the order of cluster.yml, whichever fails first', async () => {
  const failed = Promise.withResolvers<void>()
  const { unreachable } = await connectAgents(['cp1', 'w1', 'w2'].map(buildHost), {
    async connect({ name: host }) {
      if (host === 'w2') setImmediate(failed.resolve)
      else await failed.promise
      throw new HyperkubeError('SSH_UNREACHABLE', 'unreachable', { host })
    },
    release: async () => Promise.reject(new Error('not reached')),
    emit: () => undefined,
    signal: new AbortController().signal,
  })
  expect([...unreachable.keys()]).toEqual(['cp1', 'w1', 'w2'])
})

test('of 500 hosts at most 64 are connected at the same time, and all are tried', async () => {
  let [running, most] = [0, 0]
  const hosts = Array.from({ length: 500 }, (_, index) => buildHost(`w${index}`))
  const { unreachable } = await connectAgents(hosts, {
    async connect({ name: host }) {
      most = Math.max(most, ++running)
      await new Promise((resolve) => void setImmediate(resolve))
      running--
      throw new HyperkubeError('SSH_UNREACHABLE', 'unreachable', { host })
    },
    release: async () => Promise.reject(new Error('not reached')),
    emit: () => undefined,
    signal: new AbortController().signal,
  })
  expect(unreachable.size).toBe(500)
  expect(most).toBe(64)
})
