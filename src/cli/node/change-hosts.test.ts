import { expect, test } from 'vitest'
import { exitCodes, type Invocation } from '../command/command.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { addNode, removeNode, replaceNode } from './change-hosts.ts'
import type { NodeAction } from './action.ts'

const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: "1.37.1"
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
`

async function runAction(action: NodeAction, name: string, more: Record<string, unknown> = {}) {
  const { context, collectResult } = createInMemoryContext({ 'cluster.yml': text })
  const { cluster } = await loadCluster(context, 'cluster.yml')
  if (cluster === undefined) throw new Error('cluster.yml is invalid')
  const options: Invocation['options'] = { file: 'cluster.yml', output: 'table', input: false, ...more }
  const code = await action({ context, options, cluster, name }).catch((error: unknown) => error)
  const { stderr, files } = collectResult(exitCodes.ok)
  return { code, stderr: stderr, isFileUnchanged: files.get('cluster.yml') === text }
}

test('removal of the last control plane is refused, and cluster.yml stays unchanged', async () => {
  const lastControlPlane = await runAction(removeNode, 'cp1')
  expect(lastControlPlane).toMatchObject({ code: exitCodes.failure, isFileUnchanged: true })
  expect(lastControlPlane.stderr).toContain('control-plane')
  expect(lastControlPlane.stderr).toContain('no host was changed, and cluster.yml was not written')
})

test('removal of an unknown host and addition of an existing host are refused', async () => {
  expect((await runAction(removeNode, 'w2')).code).toMatchObject({
    code: 'LIMIT_UNKNOWN_HOST',
    hint: expect.stringContaining('w1'),
  })
  expect((await runAction(addNode, 'w1', { address: '10.0.0.3' })).code).toMatchObject({ code: 'HOST_KNOWN' })
  expect((await runAction(replaceNode, 'w1', { by: 'cp1', address: '10.0.0.3' })).code).toMatchObject({
    code: 'HOST_KNOWN',
  })
})

test('a compromised host must be in cluster.yml, and --restart-pods needs --compromised', async () => {
  expect((await runAction(removeNode, 'w2', { compromised: true, progress: 'plain' })).code).toMatchObject({
    code: 'LIMIT_UNKNOWN_HOST',
  })
  const lastControlPlane = await runAction(removeNode, 'cp1', { compromised: true, progress: 'plain' })
  expect(lastControlPlane).toMatchObject({ code: exitCodes.failure, isFileUnchanged: true })
  expect(lastControlPlane.stderr).toContain('no host was changed, and cluster.yml was not written')
  const withoutEffect = await runAction(removeNode, 'w1', { restartPods: true })
  expect(withoutEffect).toMatchObject({ code: exitCodes.usage, isFileUnchanged: true })
})
