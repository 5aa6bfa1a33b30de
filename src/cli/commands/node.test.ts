import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const files = {
  'cluster.yml': buildClusterFile(
    '{ name: cp1, address: 192.168.1.11, roles: [control-plane] }',
    '{ name: etcd1, address: 192.168.1.12, roles: [etcd] }',
    '{ name: w1, address: 192.168.1.21, roles: [worker] }',
  ),
}

test.each([
  ['node', 'needs a subcommand: list, add, remove, replace, drain, uncordon'],
  ['node drain', "missing required argument 'host'"],
  ['node drian w1', 'did you mean hyperkube node drain?'],
  ['node add w2', "required option '--address <address>' not specified"],
  ['node replace w1 --by w2', "required option '--address <address>' not specified"],
  ['node drain w1 --deadline soon', 'expected a duration such as 30s, 5m or 1h30m'],
])('%s is a usage error', async (words, problem) => {
  const { code, stderr } = await runHyperkube(words, files)
  expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
})

test.each(['drain', 'uncordon'])('%s: a dedicated etcd host is an unknown node', async (action) => {
  const { code, stderr } = await runHyperkube(`node ${action} etcd1`, files)
  expect([code, stderr]).toEqual([1, expect.stringContaining('NODE_UNKNOWN')])
})

test('node drain without the identity is an error', async () => {
  const { code, stderr } = await runHyperkube('node drain w1 --yes', files)
  expect([code, stderr]).toEqual([1, expect.stringContaining('IDENTITY_NOT_READ')])
})
