import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { listDefaultReleases } from '../catalog/catalog.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import type { Cluster } from '../spec/cluster.ts'
import { listCaFiles } from '../spec/download-route.ts'
import { readRke1 } from '../spec/rke1/read-rke1.ts'
import { parseTestCluster, buildPlanInput, type FactsVariation } from './testing/fixtures.ts'
import { planCluster } from './plan.ts'

/** Example clusters. Their complete plans are stored as golden files, so that changes show up in review. */
const examples = join(import.meta.dirname, '../../examples')

function example(name: string): Cluster {
  return parseTestCluster(readFileSync(join(examples, `${name}.yml`), 'utf8'))
}

const caText = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUIinBM3BgFFz3upCjLQee2VyEn6UwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHQ29ycCBDQTAgFw0yNjExMTgwMDI0NThaGA8yMTI2MTAyNTAw
MjQ1OFowEjEQMA4GA1UEAwwHQ29ycCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABKD+D4CpwlL4JyNbkYcdgcIU8thjX8HP5W2LaGeBjryP3lCRilapEolelL8p
1+bWE4bNQd62uGt18wd1O7Fijy2jUzBRMB0GA1UdDgQWBBT5wqZsoeXDl7w5eEU7
1gY9A3TtUzAfBgNVHSMEGDAWgBT5wqZsoeXDl7w5eEU71gY9A3TtUzAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQD8S4wCVUH59kmvGDbfidEDgN/q
akaxK93HTokEsoxr4AIgHw6xBduKcXp6TY9oEF7HNdTvnwuA6iymmVIVTOg9b+Y=
-----END CERTIFICATE-----
`

function planText(
  cluster: Cluster,
  host: string,
  variation: FactsVariation = {},
  secrets: readonly string[] = [],
): string {
  const input = buildPlanInput(cluster, () => variation)
  const tags = new Map([...input.identity.tags, ...secrets.map((name) => [name, `tag of ${name}`] as const)])
  const attachments = new Map(listCaFiles(cluster).map(({ file }) => [file, caText]))
  const { plans, findings } = planCluster({ ...input, identity: { ...input.identity, tags }, attachments })
  const plan = plans.find((one) => one.host === host)
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  return stringify(plan, { lineWidth: 0, aliasDuplicateObjects: false })
}

function golden(name: string): string {
  return join(import.meta.dirname, 'testdata', name)
}

describe('the golden plan of a host', () => {
  test.each([
    ['single', 'one'],
    ['high-availability', 'cp1'],
    ['high-availability', 'w1'],
    ['dedicated-etcd', 'etcd1'],
    ['dedicated-etcd', 'cp1'],
    ['dedicated-etcd', 'gpu1'],
    ['windows', 'win1'],
  ])('%s/%s', async (name, host) => {
    await expect(planText(example(name), host)).toMatchFileSnapshot(golden(`${name}/${host}.yaml`))
  })

  test('a converted RKE1 cluster', async () => {
    const text = 'nodes:\n  - { address: 192.168.1.11, user: root, role: [controlplane, etcd, worker] }\n'
    const { cluster } = readRke1({ file: 'rke.yml', text })
    await expect(planText(parseTestCluster(stringify(cluster)), 'cp1')).toMatchFileSnapshot(
      golden('rke1/cp1.yaml'),
    )
  })
})

describe('the golden plan of an adopted host', () => {
  const adoption = { from: 'kubeadm', hosts: ['one'], committed: false } as const

  function planAdopted(changes: { readonly committed?: boolean } = {}): string {
    const cluster = example('single')
    const input = buildPlanInput(
      {
        ...cluster,
        spec: { ...cluster.spec, network: { ...cluster.spec.network, plugin: 'none', kubeProxy: 'none' } },
      },
      () => ({ linux: { foreignServices: ['containerd.service', 'kubelet.service'] } }),
    )
    const identity = { ...input.identity, adoption: { ...adoption, ...changes } }
    const { plans, findings } = planCluster({ ...input, identity })
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    return stringify(
      plans[0]?.components.flatMap(({ name, replaces, files }) =>
        replaces === undefined
          ? []
          : [
              {
                name,
                replaces,
                bootstrap: files.find(({ path }) => path.endsWith('/bootstrap.env'))?.content,
              },
            ],
      ),
    )
  }

  test('names what each component replaces', async () => {
    await expect(planAdopted()).toMatchFileSnapshot(golden('adopted/one.yaml'))
  })

  test('keeps nothing after the commit', () => {
    expect(planAdopted({ committed: true })).toBe(planAdopted().replaceAll('kept: true', 'kept: false'))
  })

  test('a host that joined later replaces nothing, and foreign services are errors there', () => {
    const input = buildPlanInput(example('single'), () => ({
      linux: { foreignServices: ['containerd.service'] },
    }))
    const identity = { ...input.identity, adoption: { ...adoption, hosts: [] } }
    const { findings } = planCluster({ ...input, identity })
    expect(findings.map(({ code }) => code)).toContain('HOST_SERVICE_TAKEN')
  })
})

describe('the golden difference to an ordinary host', () => {
  const single = example('single')
  const differences: readonly (readonly [name: string, variation: FactsVariation])[] = [
    ['cgroup-v1', { linux: { cgroup: { version: 1, controllers: ['cpu', 'cpuset', 'memory', 'pids'] } } }],
    ['container', { linux: { container: true, missingCapabilities: ['CAP_SYS_RESOURCE'] } }],
    ['swap', { linux: { swap: true } }],
    ['docker', { linux: { firewalls: ['docker'] } }],
    ['without-nft', { linux: { programs: ['ipset', 'iptables'] } }],
    ['network-manager', { linux: { networkManager: true } }],
    ['selinux', { linux: { selinux: 'enforcing' } }],
    [
      'systemd-resolved',
      {
        linux: {
          resolver: {
            file: '/run/systemd/resolve/resolv.conf',
            servers: ['192.0.2.53'],
            systemdResolved: true,
          },
        },
      },
    ],
  ]
  test.each(differences)('on a host with %s', async (name, variation) => {
    const patch = difference(planText(single, 'one'), planText(single, 'one', variation))
    await expect(patch).toMatchFileSnapshot(golden(`differences/${name}.diff`))
  })

  test('with the profile cis', async () => {
    const { spec } = single
    const cis = { ...single, spec: { ...spec, security: { ...spec.security, profile: 'cis' as const } } }
    const patch = difference(planText(single, 'one'), planText(cis, 'one'))
    await expect(patch).toMatchFileSnapshot(golden('differences/profile-cis.diff'))
  })

  test('without flannel and kube-proxy', async () => {
    const { spec } = single
    const network = { ...spec.network, plugin: 'none' as const }
    const plan = (kubeProxy: 'managed' | 'none') =>
      planText({ ...single, spec: { ...spec, network: { ...network, kubeProxy } } }, 'one')
    const patch = difference(plan('managed'), plan('none'))
    await expect(patch).toMatchFileSnapshot(golden('differences/without-kube-proxy.diff'))
  })

  test('with both address families', async () => {
    const text = readFileSync(join(examples, 'single.yml'), 'utf8').replace(
      'roles:',
      "internalAddressIPv6: 'fd00:192:168:1::11'\n      roles:",
    )
    const dual = parseTestCluster(`${text}
  network:
    pods: [10.244.0.0/16, 'fd00:10:244::/56']
    services: [10.96.0.0/16, 'fd00:10:96::/112']
`)
    const patch = difference(planText(single, 'one'), planText(dual, 'one'))
    await expect(patch).toMatchFileSnapshot(golden('differences/dual-stack.diff'))
  })

  test('with IPv6 first', async () => {
    const text = readFileSync(join(examples, 'dual-stack.yml'), 'utf8')
    const first = text.replaceAll(/(pods|services): \[(.*), (.*)\]/g, '$1: [$3, $2]')
    expect(first).not.toBe(text)
    const [ipv4First, ipv6First] = [text, first].map((one) => planText(parseTestCluster(one), 'cp1'))
    const patch = difference(ipv4First ?? '', ipv6First ?? '')
    await expect(patch).toMatchFileSnapshot(golden('differences/ipv6-first.diff'))
  })

  test('behind a proxy with a login, with a private registry', async () => {
    const secrets = ['proxy-environment', 'proxy-login', 'registry-login/registry.corp.example:5000']
    const corporate = parseTestCluster(`${readFileSync(join(examples, 'single.yml'), 'utf8')}
  proxy:
    http: http://proxy.corp.example:3128
    https: http://proxy.corp.example:3128
    no: [corp.example]
    username: cluster
    password: { secret: proxy-password }
    ca: proxy-ca.pem
  artifacts: { mirror: 'https://files.corp.example', ca: corp-ca.pem }
  registries:
    - { host: registry.k8s.io, mirrors: ['https://registry.corp.example:5000'] }
    - host: registry.corp.example:5000
      username: puller
      password: { secret: puller }
      ca: corp-ca.pem
    - { host: old.corp.example, skipVerify: true }
`)
    const patch = difference(planText(single, 'one'), planText(corporate, 'one', {}, secrets))
    await expect(patch).toMatchFileSnapshot(golden('differences/corporate-network.diff'))
  })

  test('with a virtual IP', async () => {
    const cluster = example('high-availability')
    const { spec } = cluster
    const withAddress = { ...cluster, spec: { ...spec, api: { ...spec.api, virtualIP: '192.168.1.10' } } }
    const patch = difference(planText(cluster, 'cp2'), planText(withAddress, 'cp2'))
    await expect(patch).toMatchFileSnapshot(golden('differences/virtual-ip.diff'))
    expect(planText(withAddress, 'w1')).toBe(planText(cluster, 'w1'))
  })

  test.each(
    listDefaultReleases(shippedCatalog)
      .slice(1)
      .map(({ kubernetes }) => kubernetes),
  )('in Kubernetes %s', async (kubernetes) => {
    const older = { ...single, spec: { ...single.spec, kubernetes } }
    const patch = difference(planText(single, 'one'), planText(older, 'one'))
    await expect(patch).toMatchFileSnapshot(golden(`differences/kubernetes-${kubernetes}.diff`))
  })

  test('on Windows Server 2025', async () => {
    const cluster = example('windows')
    const patch = difference(
      planText(cluster, 'win1'),
      planText(cluster, 'win1', { windows: { build: 26_100 } }),
    )
    await expect(patch).toMatchFileSnapshot(golden('differences/windows-2025.diff'))
  })
})

function difference(before: string, after: string): string {
  return createTwoFilesPatch('ordinary', 'different', before, after, '', '', { context: 1 })
}
