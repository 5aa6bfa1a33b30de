import { expect, test } from 'vitest'
import { importIdentity } from '../../identity/import-identity.ts'
import { createIdentity } from '../../identity/identity.ts'
import { sealIdentity } from '../../identity/seal.ts'
import { formatKeyFile, makeSealingKey } from '../../identity/sealing-key.ts'
import { parseAdoptHostFlag } from '../adopt/adoption-target.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

const keyFile = '/home/me/.config/hyperkube/keys/shop.key'
const clusterFile = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.36.4
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
`
const lockFile = 'apiVersion: hyperkube.dev/v1\nkind: Lock\nkubernetes: 1.36.4\nartifacts: []\nimages: {}\n'

test.each([
  ['adopt', 'adopt needs --from-kubeadm or --from-rke FILE'],
  ['adopt --from-kubeadm', '--from-kubeadm needs --host for each host of the cluster'],
  ['adopt --from-kubeadm --state x --host 10.0.0.1', '--state needs --from-rke FILE'],
  ['adopt --from-kubeadm --host 10.0.0.1 --name Shop', '--name must be a DNS label'],
  ['adopt --from-kubeadm --host user@', 'expected [USER@]ADDRESS[:PORT]'],
  ['adopt --from-kubeadm --host 10.0.0.1 --host root@10.0.0.1', '10.0.0.1 is given twice'],
  ['adopt --from-rke a.yml --host 10.0.0.1', 'cannot be used with'],
])('%s: a usage error', async (command, message) => {
  const { code, stdout, stderr } = await runHyperkube(command)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('the value of --host may have a user and a port', () => {
  const parse = (text: string) => parseAdoptHostFlag(text)[0]
  expect(parse('root@10.0.0.1:2222')).toEqual({ user: 'root', address: '10.0.0.1', port: 2222 })
  expect(parse('cp1.example.com')).toEqual({ user: undefined, address: 'cp1.example.com' })
  expect(parse('ops@fd00::1')).toEqual({ user: 'ops', address: 'fd00::1' })
  expect(parse('ops@[fd00::1]:22')).toEqual({ user: 'ops', address: 'fd00::1', port: 22 })
})

test('an existing cluster.yml is never overwritten', async () => {
  const { code, stderr } = await runHyperkube('adopt --from-kubeadm --host 10.0.0.1 --yes', {
    'cluster.yml': 'mine',
  })
  expect(code).toBe(1)
  expect(stderr).toContain('SPEC_NOT_WRITTEN')
})

test('an RKE1 file without its kubeconfig is an error that names the file', async () => {
  const nodes = 'nodes: [{ address: 10.0.0.1, user: root, role: [controlplane, etcd, worker] }]\n'
  const { code, stderr } = await runHyperkube('adopt --from-rke rke/cluster.yml --dry-run', {
    'rke/cluster.yml': nodes,
  })
  expect(code).toBe(1)
  expect(stderr).toContain('rke/kube_config_cluster.yml does not exist')
})

async function createAdoptedFiles(from: 'kubeadm' | 'rke1'): Promise<Record<string, string>> {
  const now = new Date('2026-11-15T12:00:00Z')
  const created = await createIdentity('shop', now)
  const { kubernetes, etcd, frontProxy } = created.cas
  const identity = await importIdentity(
    {
      ...{ kubernetes, etcd, frontProxy },
      serviceAccountKey: created.serviceAccount.privateKey,
      encryptionConfiguration: undefined,
    },
    { name: 'shop', from, hosts: ['cp1'], now },
  )
  const key = makeSealingKey()
  return {
    'cluster.yml': clusterFile,
    'cluster.lock': lockFile,
    'cluster.identity': await sealIdentity(identity, key),
    [keyFile]: formatKeyFile(key),
  }
}

test.each([
  'reset --yes',
  'node remove w1 --yes',
  'certs rotate-ca --yes',
  'etcd rejoin cp1 --yes',
  'up --provisional 10m --yes',
  'upgrade --to 1.37.1 --dry-run',
  'upgrade --to 1.37.1 --yes',
])('%s is refused while the hosts of an adopted cluster can return', async (command) => {
  const { code, stderr } = await runHyperkube(command, await createAdoptedFiles('rke1'))
  expect(code).toBe(1)
  expect(stderr).toContain('ADOPT_NOT_COMMITTED')
  expect(stderr).toContain('hyperkube adopt rollback')
})

test.each(['adopt rollback --yes', 'adopt rollback --dry-run', 'adopt rollback w1 --yes --force-unlock'])(
  '%s is refused if no host is reachable, and changes nothing',
  async (command) => {
    const files = await createAdoptedFiles('kubeadm')
    const unreachable = clusterFile
      .replaceAll('10.0.0.', '127.0.0.')
      .replaceAll('] }', '], ssh: { port: 1 } }')
    const { code, stdout, stderr } = await runHyperkube(`${command} --progress plain`, {
      ...files,
      'cluster.yml': unreachable,
    })
    expect(code).toBe(1)
    expect(stderr).toContain('error ADOPT_NO_HOST: no host to return is reachable: ')
    expect(stdout).toBe('')
  },
)
