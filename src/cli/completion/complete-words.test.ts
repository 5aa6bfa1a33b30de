import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const clusterFile = buildClusterFile(
  '{ name: cp1, address: 192.168.1.11, roles: [control-plane] }',
  '{ name: w1, address: 192.168.1.21, roles: [worker] }',
  '{ name: w2, address: 192.168.1.22, roles: [worker] }',
)
const files = { 'cluster.yml': clusterFile, 'other.yml': clusterFile.replace('name: cp1', 'name: other1') }

/** Completes the last word. A line that ends with a space completes an empty word. */
async function complete(line: string, environment = {}): Promise<string[]> {
  const { code, stdout, stderr } = await runHyperkube(`complete -- ${line}`, files, { environment })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.split('\n').flatMap((row) => (row === '' ? [] : [row.split('\t')[0] ?? '']))
}

test.each([
  ['val', ['validate']],
  ['etcd ', ['status', 'snapshot', 'recover', 'rejoin']],
  ['etcd snapshot re', ['restore']],
  ['addons en', ['enable']],
  ['node remove ', ['cp1', 'w1', 'w2']],
  ['node drain w', ['w1', 'w2']],
  ['logs kubelet conta', ['containerd']],
  ['up --limit cp1,w', ['cp1,w1', 'cp1,w2']],
  ['up --prov', ['--provisional']],
  ['plan --progress ', ['auto', 'tree', 'plain', 'json']],
  ['upgrade --to 1.36', ['1.36.4']],
  ['addon disable trae', ['traefik']],
  ['certs rotate-ca e', ['etcd']],
  ['explain SPEC_LOAD_BALANCER_', ['EMPTY', 'FAMILY', 'PRIMARY'].map((end) => `SPEC_LOAD_BALANCER_${end}`)],
  ['explain SPEC_NOT_VALID -o ya', ['yaml']],
  ['up --ignore PEER_UDP_', ['PEER_UDP_BLOCKED', 'PEER_UDP_SMALLER']],
  ['explain SPEC_NOT_VALID ', []],
  ['node drain o --file other.yml ', []],
  ['node drain --file other.yml o', ['other1']],
  ['validate --file ', []],
  ['nosuch ', []],
])('hyperkube %s completes to %j', async (line, expected) => {
  expect(await complete(line)).toEqual(expected)
})

test('commands for services and shells are not offered', async () => {
  const names = await complete('')
  expect(names).toContain('up')
  expect(names).not.toContain('agent')
  expect(names).not.toContain('complete')
})

test('a flag that was already typed is not offered', async () => {
  expect(await complete('up --yes --y')).toEqual([])
})

test('without a cluster.yml no host is offered', async () => {
  expect(await complete('node drain ', { file: 'missing.yml' })).toEqual([])
})
