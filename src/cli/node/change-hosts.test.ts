import { expect, test } from 'vitest'
import { exitCodes, type Invocation } from '../command.ts'
import { inMemory } from '../testing/run-in-memory.ts'
import { loadCluster } from '../load-cluster.ts'
import { addNode } from './add.ts'
import type { NodeAction } from './action.ts'
import { removeNode } from './remove.ts'
import { replaceNode } from './replace.ts'

const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: "1.37.1"
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
`

async function ask(action: NodeAction, name: string, more: Record<string, unknown> = {}) {
  const { context, ended } = inMemory({ 'cluster.yml': text })
  const { cluster } = await loadCluster(context, 'cluster.yml')
  if (cluster === undefined) throw new Error('the file is wrong')
  const options: Invocation['options'] = { file: 'cluster.yml', output: 'table', input: false, ...more }
  const code = await action({ context, options, cluster, name }).catch((error: unknown) => error)
  const { stderr, files } = ended(exitCodes.ok)
  return { code, said: stderr, kept: files.get('cluster.yml') === text }
}

test('what cannot be is refused before anything is looked at, and the file stays', async () => {
  const last = await ask(removeNode, 'cp1')
  expect(last).toMatchObject({ code: exitCodes.failure, kept: true })
  expect(last.said).toContain('control-plane')
  expect(last.said).toContain('nothing was done, and cluster.yml is as it was')
})

test('names are held against the file', async () => {
  expect((await ask(removeNode, 'w2')).code).toMatchObject({
    code: 'LIMIT_UNKNOWN_HOST',
    hint: expect.stringContaining('w1'),
  })
  expect((await ask(addNode, 'w1', { address: '10.0.0.3' })).code).toMatchObject({ code: 'HOST_KNOWN' })
  expect((await ask(replaceNode, 'w1', { by: 'cp1', address: '10.0.0.3' })).code).toMatchObject({
    code: 'HOST_KNOWN',
  })
})

test('where a machine is has to be said', async () => {
  expect(await ask(addNode, 'w2')).toMatchObject({ code: exitCodes.usage, kept: true })
  expect((await ask(replaceNode, 'w1', { by: 'w2' })).said).toContain('--by NAME --address ADDRESS')
})
