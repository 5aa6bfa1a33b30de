import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readCluster } from '../../spec/read-cluster.ts'
import { buildAdoptedCluster } from './cluster-settings.ts'
import { nameHosts } from './host-settings.ts'
import type { AdoptionObservation } from './observation.ts'
import {
  buildCertificate,
  buildKubeadmObservation,
  buildRke1Observation,
  changeApi,
  changeArgs,
  changeHost,
} from './testing/observations.ts'

const given = { name: 'shop', hostSsh: new Map([['10.0.0.1', { user: 'ops' }]]) }

function build(observation: AdoptionObservation) {
  const text = stringify(buildAdoptedCluster(observation, given))
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  return { text, cluster, errors: findings.filter(({ severity }) => severity === 'error') }
}

test('the cluster.yml of a kubeadm cluster is valid and describes it as it is', async () => {
  const { text, errors } = build(buildKubeadmObservation())
  expect(errors).toEqual([])
  await expect(text).toMatchFileSnapshot('testdata/kubeadm-cluster.txt')
})

test.each([
  ['api.shop.example', 'api.shop.example:6443'],
  ['api.shop.example:443', 'api.shop.example:443'],
  ['fd00::5', '[fd00::5]:6443'],
  ['[fd00::5]:443', '[fd00::5]:443'],
])('the endpoint %s of kubeadm becomes %s', (stated, endpoint) => {
  const { cluster, errors } = build(
    changeApi(buildKubeadmObservation(), ({ kubeadm }) => ({
      kubeadm: kubeadm && { ...kubeadm, controlPlaneEndpoint: stated },
    })),
  )
  expect(errors).toEqual([])
  expect(cluster?.spec.api.endpoint).toBe(endpoint)
})

test('a virtual IP that a control plane has now stays the endpoint', () => {
  const withAddress = changeHost(buildKubeadmObservation(), 0, ({ addresses, certificates }) => ({
    addresses: [...addresses, '10.0.0.100', '192.0.2.7'],
    certificates: certificates.map((certificate) =>
      certificate.path.endsWith('/apiserver.crt')
        ? { ...certificate, names: ['cp1', '10.0.0.1', '10.0.0.100', '192.0.2.7'] }
        : certificate,
    ),
  }))
  const { cluster, errors } = build(
    changeApi(withAddress, ({ kubeadm }) => ({
      kubeadm: kubeadm && { ...kubeadm, controlPlaneEndpoint: '10.0.0.100:6443' },
    })),
  )
  expect(errors).toEqual([])
  expect(cluster?.spec.api).toMatchObject({
    endpoint: '10.0.0.100:6443',
    sans: ['192.0.2.7', 'api.shop.example'],
  })
})

test('full names of control planes stay in the certificates of API servers', () => {
  const named = changeHost(buildKubeadmObservation(), 0, ({ certificates }) => ({
    nodeName: 'cp1.shop.example',
    certificates: certificates.map((certificate) =>
      certificate.path.endsWith('/apiserver.crt')
        ? { ...certificate, names: ['cp1.shop.example', '10.0.0.1'] }
        : certificate,
    ),
  }))
  const { cluster } = build(
    changeApi(named, ({ kubeadm, nodes }) => ({
      nodes: nodes.map((node) => (node.name === 'cp1' ? { ...node, name: 'cp1.shop.example' } : node)),
      kubeadm: kubeadm && { ...kubeadm, controlPlaneEndpoint: 'cp1.shop.example:6443' },
    })),
  )
  expect(cluster?.spec.hosts[0]).toMatchObject({ name: 'cp1-shop-example', nodeName: 'cp1.shop.example' })
  expect(cluster?.spec.api.endpoint).toBe('cp1.shop.example:6443')
})

test('the cluster.yml of an RKE1 cluster keeps its issuer, networks and etcd timing', async () => {
  const { text, errors } = build(buildRke1Observation())
  expect(errors).toEqual([])
  await expect(text).toMatchFileSnapshot('testdata/rke1-cluster.txt')
})

test('settings of a kubelet that differs from others belong to its host', () => {
  const { cluster } = build(
    changeHost(buildKubeadmObservation(), 4, ({ kubelet }) => ({
      kubelet: { ...kubelet, config: { ...kubelet.config, maxPods: 250 } },
    })),
  )
  expect(cluster?.spec.components.kubelet.config).toEqual({})
  expect(cluster?.spec.hosts.map(({ components }) => components?.kubelet?.maxPods)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    250,
  ])
})

test('flags of a kubelet have priority over its configuration file', () => {
  const { cluster } = build(
    changeHost(buildKubeadmObservation(), 4, ({ kubelet }) => ({
      kubelet: {
        args: {
          ...kubelet.args,
          'max-pods': '250',
          'system-reserved': 'cpu=500m',
          'feature-gates': 'A=false',
          'eviction-hard': 'nodefs.available<3%',
        },
        config: {
          ...kubelet.config,
          maxPods: 110,
          systemReserved: { cpu: '100m' },
          featureGates: { A: true, B: true },
        },
      },
    })),
  )
  expect(cluster?.spec.hosts[4]?.components?.kubelet).toMatchObject({
    maxPods: 250,
    systemReserved: { cpu: '500m' },
    config: { featureGates: { A: false, B: true }, evictionHard: { 'nodefs.available': '3%' } },
  })
})

test('DNS servers, resolver file and disabled limits of a kubelet are kept if they are not the usual ones', () => {
  const change = (own: Readonly<Record<string, unknown>>, args: Readonly<Record<string, string>> = {}) =>
    build(
      changeHost(buildKubeadmObservation(), 4, ({ kubelet }) => ({
        kubelet: { args: { ...kubelet.args, ...args }, config: { ...kubelet.config, ...own } },
      })),
    ).cluster?.spec.hosts[4]?.components?.kubelet?.config
  expect(change({ clusterDNS: ['169.254.20.10'] })).toMatchObject({ clusterDNS: ['169.254.20.10'] })
  expect(change({ resolvConf: '/etc/kubernetes/resolv.conf' })).toMatchObject({
    resolvConf: '/etc/kubernetes/resolv.conf',
  })
  expect(change({ resolvConf: '/run/systemd/resolve/resolv.conf' })).toBeUndefined()
  expect(change({ eventRecordQPS: 0, podsPerCore: 0 })).toMatchObject({ eventRecordQPS: 0 })
  expect(change({}, { 'resolv-conf': '/etc/own.conf', 'cluster-dns': '10.96.0.53' })).toMatchObject({
    clusterDNS: ['10.96.0.53'],
    resolvConf: '/etc/own.conf',
  })
})

test('kubelet settings without a key of their own are fields of its configuration', () => {
  const own = {
    maxPods: 1200,
    systemReserved: { cpu: '100m', pid: '500' },
    seccompDefault: false,
    serializeImagePulls: true,
    logging: { format: 'json', flushFrequency: 0, options: { json: { infoBufferSize: '0' } }, verbosity: 4 },
  }
  const { cluster, errors } = build(
    changeHost(buildKubeadmObservation(), 4, ({ kubelet }) => ({
      kubelet: { ...kubelet, config: { ...kubelet.config, ...own } },
    })),
  )
  expect(errors).toEqual([])
  expect(cluster?.spec.hosts[4]?.components?.kubelet).toMatchObject({
    systemReserved: { cpu: '100m' },
    config: {
      maxPods: 1200,
      systemReserved: { pid: '500' },
      seccompDefault: false,
      serializeImagePulls: true,
      maxParallelImagePulls: 1,
      logging: { format: 'json', verbosity: 4 },
    },
  })
})

test('the file of DNS servers of RKE1 is that of the host', () => {
  const changed = changeHost(buildRke1Observation(), 1, ({ kubelet, components }) => ({
    kubelet: { ...kubelet, args: { ...kubelet.args, 'resolv-conf': '/host/etc/own.conf' } },
    components: components.map((one) => ({ ...one, mounts: [{ host: '/etc', path: '/host/etc' }] })),
  }))
  expect(build(changed).cluster?.spec.hosts[1]?.components?.kubelet?.config).toMatchObject({
    resolvConf: '/etc/own.conf',
  })
})

test('settings of a kubelet without a configuration file come from its flags', () => {
  const args = {
    'eviction-hard': 'memory.available<1Gi,nodefs.available<5%',
    'image-gc-high-threshold': '90',
    'cpu-manager-policy': 'static',
    'feature-gates': 'NodeSwap=true,Other=false',
    'allowed-unsafe-sysctls': 'net.core.somaxconn,kernel.msg*',
    'pod-max-pids': '2000',
    'kube-reserved': 'cpu=200m,memory=1Gi,pid=1000',
    'system-reserved': 'cpu=100m',
  }
  const changed = changeHost(buildRke1Observation(), 0, ({ kubelet }) => ({
    kubelet: { ...kubelet, args: { ...kubelet.args, ...args } },
  }))
  expect(build(changed).cluster?.spec.hosts[0]?.components?.kubelet?.config).toMatchObject({
    evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
    imageGCHighThresholdPercent: 90,
    cpuManagerPolicy: 'static',
    featureGates: { NodeSwap: true, Other: false },
    allowedUnsafeSysctls: ['net.core.somaxconn', 'kernel.msg*'],
    podPidsLimit: 2000,
    kubeReserved: { cpu: '200m', memory: '1Gi', pid: '1000' },
  })
  expect(build(changed).cluster?.spec.hosts[0]?.components?.kubelet?.systemReserved).toEqual({ cpu: '100m' })
})

test('a control plane without taint is also a worker, and other taints are kept', () => {
  const { cluster } = build(
    changeApi(buildKubeadmObservation(), ({ nodes }) => ({
      nodes: nodes.map((node, index) => ({
        ...node,
        taints: index === 3 ? [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] : [],
      })),
    })),
  )
  expect(cluster?.spec.hosts[0]).toMatchObject({ roles: ['control-plane', 'worker'] })
  expect(cluster?.spec.hosts[3]?.taints).toEqual([{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }])
})

test('etcd on hosts of its own gets the role etcd', () => {
  const base = buildKubeadmObservation()
  const moved = changeHost(
    changeHost(base, 0, ({ components }) => ({
      components: components.filter(({ name }) => name !== 'etcd'),
    })),
    3,
    () => ({ components: base.hosts[0]?.components.filter(({ name }) => name === 'etcd') ?? [] }),
  )
  expect(build(moved).cluster?.spec.hosts.map(({ roles }) => roles.join())).toEqual([
    'control-plane',
    'control-plane,etcd',
    'control-plane,etcd',
    'etcd,worker',
    'worker',
  ])
})

test('node names with dots become names without dots, and stay the names of the nodes', () => {
  const names = ['a.example.com', 'a-example-com', '10.0.0.3']
  const hosts = buildKubeadmObservation().hosts.flatMap((host, index) => {
    const nodeName = names[index]
    return nodeName === undefined ? [] : [{ ...host, nodeName }]
  })
  expect(nameHosts({ hosts })).toEqual(['a-example-com', 'a-example-com-2', '10-0-0-3'])
})

test('flags that hyperkube keeps are in cluster.yml, and files are not', () => {
  const { cluster } = build(
    changeArgs(buildKubeadmObservation(), 'kube-apiserver', {
      'feature-gates': 'A=true',
      'event-ttl': '2h0m0s',
      'oidc-ca-file': '/etc/kubernetes/oidc.pem',
      'audit-policy-file': '/etc/kubernetes/audit.yaml',
    }),
  )
  expect(cluster?.spec.components.apiServer.args).toEqual({
    'service-account-extend-token-expiration': 'true',
    'feature-gates': 'A=true',
    'event-ttl': '2h0m0s',
  })
})

test('workers of an older minor keep it', () => {
  const { cluster } = build(
    changeApi(buildKubeadmObservation(), ({ nodes }) => ({
      nodes: nodes.map((node, index) => (index < 3 ? node : { ...node, kubelet: '1.35.8' })),
    })),
  )
  expect(cluster?.spec).toMatchObject({ kubernetes: '1.36.4', workers: { kubernetes: '1.35.8' } })
})

test('the DNS servers of pods are kept if they are not those of hyperkube', () => {
  const change = (args: Readonly<Record<string, string>>) =>
    [0, 1].reduce(
      (observation, index) =>
        changeHost(observation, index, ({ kubelet }) => ({
          kubelet: { ...kubelet, args: { ...kubelet.args, ...args } },
        })),
      buildRke1Observation(),
    )
  const read = (server: string) =>
    build(change({ 'cluster-dns': server })).cluster?.spec.components.kubelet.config['clusterDNS']
  expect(read('10.43.0.53')).toEqual(['10.43.0.53'])
  expect(read('169.254.20.10')).toEqual(['169.254.20.10'])
  expect(read('10.43.0.10')).toBeUndefined()
})

test('the directory of FlexVolume drivers is kept', () => {
  const changed = changeHost(buildRke1Observation(), 1, ({ kubelet }) => ({
    kubelet: { ...kubelet, args: { ...kubelet.args, 'volume-plugin-dir': '/var/lib/kubelet/volumeplugins' } },
  }))
  expect(build(changed).cluster?.spec.hosts[1]?.components?.kubelet?.config).toMatchObject({
    volumePluginDir: '/var/lib/kubelet/volumeplugins',
  })
})

test('admission plugins that are off by default are kept if they need no file', () => {
  const changed = changeArgs(buildRke1Observation(), 'kube-apiserver', {
    'enable-admission-plugins':
      'NamespaceLifecycle,NodeRestriction,Priority,TaintNodesByCondition,AlwaysPullImages,EventRateLimit',
  })
  const { cluster, errors } = build(changed)
  expect(errors).toEqual([])
  expect(cluster?.spec.components.apiServer.args['enable-admission-plugins']).toBe('AlwaysPullImages')
})

test('a dedicated etcd host of RKE1 stays a node with its taint', () => {
  const base = buildRke1Observation()
  const etcdTaint = { key: 'node-role.kubernetes.io/etcd', value: 'true', effect: 'NoExecute' }
  const moved = changeApi(
    changeHost(
      changeHost(base, 0, ({ components }) => ({
        components: components.filter(({ name }) => name !== 'etcd'),
      })),
      1,
      ({ components }) => ({
        components: [
          ...components,
          ...(base.hosts[0]?.components.filter(({ name }) => name === 'etcd') ?? []),
        ],
      }),
    ),
    ({ nodes }) => ({
      nodes: nodes.map((node, index) => (index === 1 ? { ...node, taints: [etcdTaint] } : node)),
    }),
  )
  const { cluster, errors } = build(moved)
  expect(errors).toEqual([])
  expect(cluster?.spec.hosts[1]).toMatchObject({ roles: ['etcd', 'worker'], taints: [etcdTaint] })
  expect(cluster?.spec.components.etcd.args).toMatchObject({ 'heartbeat-interval': '500' })
})

test('names of API servers that hyperkube would not give them become sans', () => {
  const names = ['kubernetes', 'cp1.example.com', '10.0.0.1', '10.43.0.1', '10.0.0.100', 'api.shop.example']
  const changed = changeHost(buildRke1Observation(), 0, ({ certificates, addresses }) => ({
    nodeName: 'cp1.example.com',
    // keepalived holds a virtual address here at this moment.
    addresses: [...addresses, '10.0.0.100'],
    certificates: [...certificates, buildCertificate('/etc/kubernetes/ssl/kube-apiserver.pem', { names })],
  }))
  const { cluster, errors } = build(changed)
  expect(errors).toEqual([])
  expect(cluster?.spec.api.sans).toEqual(['cp1.example.com', '10.0.0.100', 'api.shop.example'])
})
