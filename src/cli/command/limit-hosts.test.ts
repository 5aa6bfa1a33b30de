import { expect, test } from 'vitest'
import { readCluster } from '../../spec/read-cluster.ts'
import { type LeafCommand, exitCodes } from './command.ts'
import { runHyperkube, createInMemoryContext } from '../testing/run-in-memory.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { parseLimitFlag } from './shared-flags.ts'
import { buildCommand } from './help.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const text = buildClusterFile(
  '{ name: cp1, address: 10.0.0.1, roles: [control-plane] }',
  '{ name: worker1, address: 10.0.0.2, roles: [worker] }',
  '{ name: worker2, address: 10.0.0.3, roles: [worker] }',
)

function limitNames(names: readonly string[] | undefined): string[] {
  const { cluster } = readCluster({ file: 'cluster.yml', text })
  return cluster === undefined ? [] : limitHosts(cluster, names).map(({ name }) => name)
}

test('without --limit all hosts are selected, with it the named hosts in the order of cluster.yml', () => {
  expect(limitNames(undefined)).toEqual(['cp1', 'worker1', 'worker2'])
  expect(limitNames(['worker2', 'cp1'])).toEqual(['cp1', 'worker2'])
})

test('an unknown host in --limit is an error with a suggestion', () => {
  expect(() => limitNames(['cp1', 'wroker2', 'cpl'])).toThrow(
    expect.objectContaining({
      code: 'LIMIT_UNKNOWN_HOST',
      message: 'cluster.yml has no host wroker2, cpl',
      hint: 'did you mean worker2, cp1?',
    }),
  )
  expect(() => limitNames(['something-else'])).toThrow(
    expect.objectContaining({ hint: 'hosts in cluster.yml: cp1, worker1, worker2' }),
  )
})

test('--limit takes names separated by commas and can be repeated', () => {
  expect(parseLimitFlag('cp1, w1', parseLimitFlag('w1,w2'))).toEqual(['w1', 'w2', 'cp1'])
  expect(() => parseLimitFlag('cp1,')).toThrow('expected host names such as cp1,w1')
})

test('a command that acts on no host refuses --limit and --key', async () => {
  expect(await runHyperkube('validate --limit cp1', { 'cluster.yml': text })).toMatchObject({ code: 2 })
  expect(await runHyperkube('validate --key x', { 'cluster.yml': text })).toMatchObject({ code: 2 })
})

test('a command with the shared flags limit and key accepts --limit and --key', () => {
  const definition: LeafCommand = {
    examples: [],
    sharedFlags: ['limit', 'key'],
    configure: () => undefined,
    run: async () => exitCodes.ok,
  }
  const command = buildCommand({ name: 'act', summary: 'act', definition }, createInMemoryContext({}).context)
  command.parse(['--limit', 'cp1,w1', '--limit', 'w2', '--key', 'x'], { from: 'user' })
  expect(command.opts()).toMatchObject({ limit: ['cp1', 'w1', 'w2'], key: 'x' })
})
