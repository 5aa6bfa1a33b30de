import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { selectVersions } from '../cluster/artifacts.ts'
import { renderUpgradeConfig } from './configs.ts'
import { listImageFetches } from './images.ts'
import { upgradeWithKubeadm } from './upgrade.ts'

const [from, to] = [selectVersions('v1.36.4'), selectVersions('v1.37.1')]

/**
 * Creates fake hosts that record the commands run on them, and a fake API that reflects the effects of the
 * commands.
 */
function createFakeCluster(names: readonly string[]) {
  const done: string[] = []
  const versions = new Map(names.map((name) => [name, from.kubernetes]))
  const notReady = new Set<string>()
  const hosts = names.map((name) => ({
    name,
    script: async (text: string) => {
      const output = text
        .replaceAll(/\/opt\S*kubectl \S+/g, 'kubectl')
        .split('\n')
        .filter((line) => !line.startsWith('install'))
      done.push(`${name}: ${output.join('; ')}`)
      if (text.includes('restart kubelet')) {
        versions.set(name, to.kubernetes)
        if (name === 'cp1') notReady.add(name)
      }
      return { code: 0, stdout: '', stderr: '' }
    },
  }))
  const status = (ready: boolean) => [{ type: 'Ready', status: ready ? 'True' : 'False' }]
  const respond = (path: string): object => {
    if (path.includes('/pods')) return { items: [{ status: { phase: 'Succeeded' } }] }
    const name = path.slice(path.lastIndexOf('/') + 1)
    // A node in `notReady` becomes Ready only after the first read.
    const ready = !notReady.delete(name)
    done.push(`${name} ${ready ? 'is' : 'is not'} Ready`)
    return { status: { nodeInfo: { kubeletVersion: versions.get(name) }, conditions: status(ready) } }
  }
  const api = { get: async <T>(path: string): Promise<T> => JSON.parse(JSON.stringify(respond(path))) }
  return { hosts, api, done }
}

test('kubeadm upgrades one node at a time, after the previous node is Ready', async () => {
  const { hosts, api, done } = createFakeCluster(['cp1', 'cp2', 'w1'])
  const noted: string[] = []
  await upgradeWithKubeadm({
    clusterHosts: { controlPlanes: hosts.slice(0, 2), workers: hosts.slice(2) },
    api,
    from,
    to,
    signal: new AbortController().signal,
    note: (output) => noted.push(output),
  })
  const node = (name: string, verb: string): string[] => [
    `${name}: kubeadm upgrade ${verb} --config /etc/kubernetes/upgrade.yaml`,
    `${name} is Ready`,
    `cp1: kubectl drain ${name} --ignore-daemonsets --timeout=300s`,
    `${name}: systemctl daemon-reload; systemctl restart kubelet`,
    ...(name === 'cp1' ? ['cp1 is not Ready'] : []),
    `${name} is Ready`,
    `cp1: kubectl uncordon ${name}`,
  ]
  expect(done).toEqual([
    "cp1: kubectl -n kube-system get configmap kubeadm-config -o yaml |; sed 's/imageTag: 3.6.16-0/imageTag: 3.7.3-0/' | kubectl replace -f -",
    ...node('cp1', 'apply v1.37.1 --yes'),
    ...node('cp2', 'node'),
    ...node('w1', 'node'),
  ])
  expect(noted).toEqual(['cp1 has v1.37.1', 'cp2 has v1.37.1', 'w1 has v1.37.1'])
})

test('a worker needs only the kube-proxy image', () => {
  const names = (controlPlane: boolean): string[] =>
    listImageFetches(to, controlPlane).map(({ path }) => path.replace('images/registry.k8s.io/', ''))
  expect(names(false)).toEqual(['kube-proxy/v1.37.1.tar'])
  expect(names(true)).toEqual([
    'kube-apiserver/v1.37.1.tar',
    'kube-controller-manager/v1.37.1.tar',
    'kube-scheduler/v1.37.1.tar',
    'etcd/3.7.3-0.tar',
    'kube-proxy/v1.37.1.tar',
  ])
})

test('neither apply nor node pulls images', () => {
  const lenient = { imagePullPolicy: 'Never', ignorePreflightErrors: ['all'] }
  expect(parse(renderUpgradeConfig())).toMatchObject({
    kind: 'UpgradeConfiguration',
    apply: lenient,
    node: lenient,
  })
  expect(renderUpgradeConfig()).not.toContain('*')
})
