import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import type { Host } from '../spec/host.ts'
import { gather } from './connected-agents.ts'

function hostOf(name: string): Host {
  return { name, address: name, os: 'linux', local: false, roles: ['worker'], labels: {}, files: [] }
}

test('hosts are named in the order of the file, whoever fails first', async () => {
  const failed = Promise.withResolvers<void>()
  const { missing } = await gather(['cp1', 'w1', 'w2'].map(hostOf), {
    async connect({ name: host }) {
      if (host === 'w2') setImmediate(failed.resolve)
      else await failed.promise
      throw new HyperkubeError('SSH_UNREACHABLE', 'nobody answers', { host })
    },
    release: async () => Promise.reject(new Error('nobody gets that far')),
    tell: () => undefined,
    signal: new AbortController().signal,
  })
  expect([...missing.keys()]).toEqual(['cp1', 'w1', 'w2'])
})
