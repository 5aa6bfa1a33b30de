import { beforeAll, expect, test } from 'vitest'
import { formatLock } from '../../catalog/lock.ts'
import { buildTestLock } from '../../plan/testing/fixtures.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

const clusterFile = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 127.0.0.1, roles: [control-plane, worker], ssh: { port: 1 } }
`
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  const made = await runHyperkube('init', { 'cluster.yml': clusterFile })
  files = { ...Object.fromEntries(made.files), 'cluster.lock': formatLock(buildTestLock('1.37.1')) }
})

test.each([
  ['eject', "required option '--to <tool>' not specified"],
  ['eject --to k3s', 'Allowed choices are kubeadm'],
])('%s: a usage error', async (command, message) => {
  const { code, stdout, stderr } = await runHyperkube(command, files)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('an existing directory is never overwritten', async () => {
  const { code, stderr } = await runHyperkube('eject --to kubeadm --yes', {
    ...files,
    'eject/README.md': 'mine',
  })
  expect(code).toBe(1)
  expect(stderr).toContain('EJECT_EXISTS: eject already exists')
  expect(stderr).toContain('--out DIRECTORY')
})

test('nothing is written if no host is reachable', async () => {
  const result = await runHyperkube('eject --to kubeadm --yes --progress plain', files)
  expect(result.code).toBe(1)
  expect([...result.files.keys()].filter((path) => path.startsWith('eject'))).toEqual([])
})
