import { assert, property, subarray } from 'fast-check'
import { expect, test } from 'vitest'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { type AdoptionItem, type AdoptionReport, isPrevented } from './adoption-report.ts'
import { assessAdoption } from './assess-adoption.ts'
import type { AdoptionObservation } from './observation.ts'
import {
  buildCertificate,
  buildKubeadmObservation,
  buildRke1Observation,
  changeApi,
  changeArgs,
  changeHost,
} from './testing/observations.ts'

const minors = shippedCatalog.minors.map(({ minor }) => minor)
const etcdVersions = new Map(shippedCatalog.minors.map(({ minor, components }) => [minor, components.etcd]))

function assess(observation: AdoptionObservation): AdoptionReport {
  return assessAdoption(observation, { name: 'shop', minors, etcdVersions, findings: [] })
}

const listRefusals = (observation: AdoptionObservation): readonly AdoptionItem[] =>
  assess(observation).items.filter(({ verdict }) => verdict === 'prevents')

function formatItems({ items }: AdoptionReport): string {
  return items.map(({ verdict, code, message }) => `${verdict} ${code} ${message}\n`).join('')
}

type Change = (observation: AdoptionObservation) => AdoptionObservation

/** Clusters that cannot be adopted: what is wrong, the code, and a part of the message. */
const unsuitable: readonly (readonly [name: string, code: string, message: RegExp, change: Change])[] = [
  [
    'unsupported CNI',
    'ADOPT_CNI',
    /the pod network is Calico/,
    (one) => ({
      ...one,
      hosts: one.hosts.map((host) => ({
        ...host,
        cni: [{ file: '/etc/cni/net.d/10-calico.conflist', name: 'k8s-pod-network', types: ['calico'] }],
      })),
    }),
  ],
  [
    'external etcd',
    'ADOPT_EXTERNAL_ETCD',
    /outside of the cluster, at https:\/\/10\.9\.9\.9:2379/,
    (one) =>
      changeApi(
        changeArgs(
          {
            ...one,
            hosts: one.hosts.map((host) => ({
              ...host,
              components: host.components.filter(({ name }) => name !== 'etcd'),
            })),
          },
          'kube-apiserver',
          { 'etcd-servers': 'https://10.9.9.9:2379' },
        ),
        ({ kubeadm }) =>
          kubeadm === undefined ? {} : { kubeadm: { ...kubeadm, etcd: { ...kubeadm.etcd, external: true } } },
      ),
  ],
  [
    'expired certificates',
    'ADOPT_CERTIFICATE_EXPIRED',
    /apiserver\.crt \(2026-11-17\)/,
    (one) =>
      changeHost(one, 1, ({ certificates }) => ({
        certificates: [
          ...certificates,
          buildCertificate('/etc/kubernetes/pki/apiserver.crt', {
            notAfter: new Date('2026-11-17T00:00:00Z'),
          }),
        ],
      })),
  ],
  [
    'lost etcd member',
    'ADOPT_ETCD_MEMBER_LOST',
    /cp3/,
    (one) => ({
      ...one,
      etcd: {
        confirmed: true,
        members: (one.etcd?.members ?? []).map((member, index) => ({ ...member, healthy: index !== 2 })),
      },
    }),
  ],
  [
    'cloud provider',
    'ADOPT_CLOUD_PROVIDER',
    /cloud provider external/,
    (one) => changeArgs(one, 'kube-controller-manager', { 'cloud-provider': 'external' }),
  ],
  [
    'swapped names',
    'ADOPT_NAMES_SWAPPED',
    /calls itself w2, but that node is another machine, with the address 10\.0\.0\.5/,
    (one) =>
      changeHost(
        changeHost(one, 3, () => ({ nodeName: 'w2' })),
        4,
        () => ({ nodeName: 'w1' }),
      ),
  ],
  [
    'dirty host',
    'ADOPT_HOST_DIRTY',
    /files of k3s, the service k3s-agent/,
    (one) =>
      changeHost(one, 4, ({ paths, services }) => ({
        paths: [...paths, '/etc/rancher/k3s', '/var/lib/rancher/k3s'],
        services: [...services, 'k3s-agent'],
      })),
  ],
  [
    'too old version',
    'ADOPT_VERSION',
    /Kubernetes 1\.29\.15; hyperkube knows 1\.32 to 1\.37/,
    (one) => changeApi(one, () => ({ version: '1.29.15' })),
  ],
  [
    'Windows nodes',
    'ADOPT_WINDOWS',
    /win1/,
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: [...nodes, ...nodes.slice(0, 1).map((node) => ({ ...node, name: 'win1', os: 'windows' }))],
      })),
  ],
  [
    'another container runtime',
    'ADOPT_RUNTIME',
    /the container runtime is cri-o:\/\/1\.36\.0; only containerd/,
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: nodes.map((node) => (node.name === 'w1' ? { ...node, runtime: 'cri-o://1.36.0' } : node)),
      })),
  ],
  [
    'another socket of containerd',
    'ADOPT_RUNTIME',
    /the container runtime is at unix:\/\/\/run\/own\.sock/,
    (one) =>
      changeHost(one, 3, ({ kubelet }) => ({
        kubelet: {
          ...kubelet,
          config: { ...kubelet.config, containerRuntimeEndpoint: 'unix:///run/own.sock' },
        },
      })),
  ],
  [
    'another cgroup driver',
    'ADOPT_CGROUP_DRIVER',
    /uses the cgroup driver cgroupfs, but hyperkube uses systemd on hosts with cgroup v2/,
    (one) =>
      changeHost(one, 3, ({ kubelet }) => ({
        kubelet: { ...kubelet, config: { ...kubelet.config, cgroupDriver: 'cgroupfs' } },
      })),
  ],
  [
    'another cgroup driver of containerd',
    'ADOPT_CGROUP_DRIVER',
    /uses the cgroup driver cgroupfs, but hyperkube uses systemd/,
    (one) =>
      changeHost(one, 3, ({ kubelet, runtime }) => ({
        kubelet: { ...kubelet, config: { ...kubelet.config, cgroupDriver: 'systemd' } },
        runtime: { ...runtime, systemdCgroup: false },
      })),
  ],
  [
    'custom paths',
    'ADOPT_CUSTOM_PATH',
    /the data directory of etcd is \/srv\/etcd instead of \/var\/lib\/etcd/,
    (one) => changeArgs(one, 'etcd', { 'data-dir': '/srv/etcd' }),
  ],
]

/** Unsuitable clusters of other kinds. */
const otherUnsuitable: typeof unsuitable = [
  [
    'etcd at another address than the node',
    'ADOPT_ETCD_ADDRESS',
    /cp1 has the peer URL https:\/\/10\.0\.0\.1:2380, but its node has the address 192\.168\.0\.1;/,
    (one) =>
      changeApi(
        changeHost(one, 0, ({ addresses }) => ({ addresses: [...addresses, '192.168.0.1'] })),
        ({ nodes }) => ({
          nodes: nodes.map((node) => (node.name === 'cp1' ? { ...node, addresses: ['192.168.0.1'] } : node)),
        }),
      ),
  ],
  [
    'virtual IP of a static pod',
    'ADOPT_ENDPOINT_POD',
    /the static pod kube-vip would end, .* at api\.shop\.example:6443/,
    (one) => changeHost(one, 0, () => ({ otherStaticPods: ['kube-vip'] })),
  ],
  [
    'another prefix in etcd',
    'ADOPT_CUSTOM_PATH',
    /keeps objects in etcd below \/shop instead of \/registry/,
    (one) => changeArgs(one, 'kube-apiserver', { 'etcd-prefix': '/shop' }),
  ],
  [
    'backup of a manifest',
    'ADOPT_HOST_DIRTY',
    /a manifest of etcd in \/etc\/kubernetes\/manifests\/etcd\.yaml\.bak/,
    (one) =>
      changeHost(one, 1, ({ components }) => ({
        components: components.flatMap((component) =>
          component.name === 'etcd'
            ? ['etcd.yaml', 'etcd.yaml.bak'].map((file) => ({
                ...component,
                file: `/etc/kubernetes/manifests/${file}`,
              }))
            : [component],
        ),
      })),
  ],
  [
    'IPv6 first',
    'ADOPT_IPV6_FIRST',
    /the first service network is fd00:10:96::\/112/,
    (one) =>
      changeArgs(one, 'kube-apiserver', { 'service-cluster-ip-range': 'fd00:10:96::/112,10.96.0.0/16' }),
  ],
]

/** The same clusters, managed by RKE1. Its first host is a control plane, its last one a worker. */
const unsuitableRke1: typeof unsuitable = [
  [
    'unsupported CNI',
    'ADOPT_CNI',
    /the pod network is Weave Net/,
    (one) =>
      changeApi(
        {
          ...one,
          hosts: one.hosts.map((host) => ({
            ...host,
            cni: [{ file: '/etc/cni/net.d/10-weave.conflist', name: 'weave', types: ['weave-net'] }],
          })),
        },
        () => ({ daemonSets: [{ namespace: 'kube-system', name: 'weave-net', images: [] }] }),
      ),
  ],
  [
    'Cilium beside the DaemonSet of canal',
    'ADOPT_CNI',
    /the pod network is Cilium/,
    (one) => ({
      ...one,
      hosts: one.hosts.map((host) => ({
        ...host,
        cni: [{ file: '/etc/cni/net.d/05-cilium.conflist', name: 'cilium', types: ['cilium-cni'] }],
      })),
    }),
  ],
  [
    'external etcd',
    'ADOPT_EXTERNAL_ETCD',
    /outside of the cluster, at https:\/\/10\.9\.9\.9:2379/,
    (one) =>
      changeArgs(
        {
          ...one,
          hosts: one.hosts.map((host) => ({
            ...host,
            components: host.components.filter(({ name }) => name !== 'etcd'),
          })),
        },
        'kube-apiserver',
        { 'etcd-servers': 'https://10.9.9.9:2379' },
      ),
  ],
  [
    'expired certificates',
    'ADOPT_CERTIFICATE_EXPIRED',
    /kube-proxy\.pem \(2026-11-17\)/,
    (one) =>
      changeHost(one, 1, ({ certificates }) => ({
        certificates: [
          ...certificates,
          buildCertificate('/etc/kubernetes/ssl/kube-proxy.pem', {
            notAfter: new Date('2026-11-17T00:00:00Z'),
          }),
        ],
      })),
  ],
  [
    'lost etcd member',
    'ADOPT_ETCD_MEMBER_LOST',
    /etcd-cp9/,
    (one) => ({
      ...one,
      etcd: {
        confirmed: true,
        members: [
          ...(one.etcd?.members ?? []),
          { name: 'etcd-cp9', peerUrls: ['https://10.0.0.9:2380'], learner: false, healthy: false },
        ],
      },
    }),
  ],
  [
    'cloud provider',
    'ADOPT_CLOUD_PROVIDER',
    /cloud provider external/,
    (one) => changeArgs(one, 'kubelet', { 'cloud-provider': 'external' }),
  ],
  [
    'ids of a cloud provider',
    'ADOPT_CLOUD_PROVIDER',
    /nodes have ids of a cloud provider: cp1/,
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: nodes.map((node) => (node.name === 'cp1' ? { ...node, providerId: 'aws:///i-1' } : node)),
      })),
  ],
  [
    'swapped names',
    'ADOPT_NAMES_SWAPPED',
    /calls itself w1, but that node is another machine/,
    (one) =>
      changeHost(
        changeHost(one, 0, () => ({ nodeName: 'w1' })),
        1,
        () => ({ nodeName: 'cp1' }),
      ),
  ],
  [
    'dirty host',
    'ADOPT_HOST_DIRTY',
    /a static pod kube-scheduler/,
    (one) =>
      changeHost(one, 1, ({ components }) => ({
        components: [
          ...components,
          ...one.hosts
            .flatMap((host) => host.components.filter(({ name }) => name === 'kube-scheduler'))
            .map((scheduler) => ({ ...scheduler, runsAs: 'static-pod' as const, running: true })),
        ],
      })),
  ],
  [
    'kubelet beside the container',
    'ADOPT_HOST_DIRTY',
    /the service kubelet/,
    (one) => changeHost(one, 1, ({ services }) => ({ services: [...services, 'kubelet'] })),
  ],
  [
    'containers of others',
    'ADOPT_HOST_DIRTY',
    /the container database in Docker/,
    (one) => changeHost(one, 1, () => ({ dockerContainers: ['kubelet', 'nginx-proxy', 'database'] })),
  ],
  [
    'stopped component',
    'ADOPT_HOST_DIRTY',
    /the stopped container kube-proxy/,
    (one) =>
      changeHost(one, 1, ({ components }) => ({
        components: components.map((component) =>
          component.name === 'kube-proxy' ? { ...component, running: false } : component,
        ),
      })),
  ],
  [
    'too old version',
    'ADOPT_VERSION',
    /Kubernetes 1\.26\.15; hyperkube knows 1\.32 to 1\.37/,
    (one) => changeApi(one, () => ({ version: '1.26.15' })),
  ],
  ['Windows hosts', 'ADOPT_WINDOWS', /win1/, (one) => ({ ...one, windowsHosts: ['win1'] })],
  [
    'Docker as another service',
    'ADOPT_RUNTIME',
    /Docker is not the service docker\.service/,
    (one) => changeHost(one, 1, () => ({ services: ['snap.docker.dockerd', 'containerd'] })),
  ],
  [
    'custom paths',
    'ADOPT_CUSTOM_PATH',
    /the data directory of etcd is \/opt\/rke\/var\/lib\/etcd\/? instead of \/var\/lib\/etcd/,
    (one) =>
      changeHost(one, 0, ({ components }) => ({
        components: components.map((component) =>
          component.name === 'etcd'
            ? { ...component, mounts: [{ host: '/opt/rke/var/lib/etcd', path: '/var/lib/rancher/etcd/' }] }
            : component,
        ),
      })),
  ],
]

/** Custom paths that would lose data or keys: a part of the message, and the change. */
const customPaths: readonly (readonly [message: RegExp, change: Change])[] = [
  [
    /the data directory of etcd is \/var\/lib\/etcd\/shop/,
    (one) => changeArgs(one, 'etcd', { 'data-dir': '/var/lib/etcd/shop' }),
  ],
  [/the write-ahead log of etcd is \/wal/, (one) => changeArgs(one, 'etcd', { 'wal-dir': '/wal' })],
  [
    /the CA of clients is \/etc\/kubernetes\/pki\/own\.crt/,
    (one) => changeArgs(one, 'kube-apiserver', { 'client-ca-file': '/etc/kubernetes/pki/own.crt' }),
  ],
  [
    /the CA of etcd is \/etc\/etcd\/ca\.crt/,
    (one) => changeArgs(one, 'kube-apiserver', { 'etcd-cafile': '/etc/etcd/ca.crt' }),
  ],
  [
    /the CA of the front proxy is \/srv\/proxy\.crt/,
    (one) => changeArgs(one, 'kube-apiserver', { 'requestheader-client-ca-file': '/srv/proxy.crt' }),
  ],
  [
    /the directory of the kubelet is \/data\/kubelet/,
    (one) =>
      changeHost(one, 3, ({ kubelet }) => ({
        kubelet: { ...kubelet, args: { ...kubelet.args, 'root-dir': '/data/kubelet' } },
      })),
  ],
  [
    /the configuration of the kubelet is \/etc\/kubelet\.yaml/,
    (one) => changeHost(one, 3, () => ({ kubelet: { args: { config: '/etc/kubelet.yaml' }, config: {} } })),
  ],
  [
    /the directory of CNI plugins is \/usr\/lib\/cni instead of \/opt\/cni\/bin/,
    (one) =>
      changeHost(one, 3, ({ runtime }) => ({ runtime: { ...runtime, pluginDirectories: ['/usr/lib/cni'] } })),
  ],
  [/\/var\/lib\/etcd is a symbolic link/, (one) => changeHost(one, 0, () => ({ links: ['/var/lib/etcd'] }))],
  [
    /the data directory of containerd is \/data\/containerd/,
    (one) => changeHost(one, 3, ({ runtime }) => ({ runtime: { ...runtime, root: '/data/containerd' } })),
  ],
]

test('a healthy kubeadm cluster can be adopted', async () => {
  const report = assess(buildKubeadmObservation())
  expect(isPrevented(report)).toBe(false)
  expect(report.hosts.map(({ name, roles }) => `${name} ${roles.join()}`)).toEqual([
    'cp1 control-plane',
    'cp2 control-plane',
    'cp3 control-plane',
    'w1 worker',
    'w2 worker',
  ])
  await expect(formatItems(report)).toMatchFileSnapshot('testdata/kubeadm-report.txt')
})

test('a healthy RKE1 cluster can be adopted, and the report names what is lost', async () => {
  const report = assess(buildRke1Observation())
  expect(report.items.filter(({ verdict }) => verdict === 'prevents')).toEqual([])
  await expect(formatItems(report)).toMatchFileSnapshot('testdata/rke1-report.txt')
})

test.each([
  ['etcd', { 'listen-metrics-urls': 'http://0.0.0.0:2381', 'snapshot-count': '50000' }],
  ['kube-apiserver', { 'audit-policy-file': '/etc/kubernetes/audit.yaml', 'audit-log-path': '/var/log/a' }],
  ['kube-apiserver', { 'authorization-mode': 'Node,RBAC,Webhook', 'tls-min-version': 'VersionTLS13' }],
  ['kube-apiserver', { 'authorization-config': '/etc/kubernetes/authorization.yaml' }],
  ['kube-controller-manager', { 'bind-address': '0.0.0.0', controllers: '*,-ttl' }],
  ['kube-scheduler', { 'bind-address': '0.0.0.0' }],
])('settings of %s that only operators of kubeadm set are lost: %j', (program, args) => {
  const names = Object.keys(args).map((name) => `--${name}`)
  const { items } = assess(changeArgs(buildKubeadmObservation(), program, args))
  const { message = '' } = items.find(({ code }) => code === 'ADOPT_LOSES_FLAGS') ?? {}
  expect(new Set(message.replace(`flags of ${program}: `, '').split(', '))).toEqual(new Set(names))
})

test('flags that kubeadm sets are not lost', () => {
  const changed = changeArgs(buildKubeadmObservation(), 'etcd', {
    'experimental-initial-corrupt-check': 'true',
    'experimental-watch-progress-notify-interval': '5s',
    'listen-metrics-urls': 'http://127.0.0.1:2381',
  })
  expect(assess(changed).items.filter(({ code }) => code === 'ADOPT_LOSES_FLAGS')).toEqual([])
})

test('static pods that serve no address of the API are only lost', () => {
  const own = changeApi(buildKubeadmObservation(), ({ kubeadm }) => ({
    kubeadm: kubeadm && { ...kubeadm, controlPlaneEndpoint: '10.0.0.1:6443' },
  }))
  expect(listRefusals(changeHost(own, 0, () => ({ otherStaticPods: ['nginx'] })))).toEqual([])
  const ofControlPlane = changeApi(buildKubeadmObservation(), ({ kubeadm }) => ({
    kubeadm: kubeadm && { ...kubeadm, controlPlaneEndpoint: 'cp1.shop.example:6443' },
  }))
  const named = changeHost(ofControlPlane, 0, () => ({
    hostname: 'cp1.shop.example',
    otherStaticPods: ['nginx'],
  }))
  expect(listRefusals(named)).toEqual([])
  const onWorker = changeHost(buildKubeadmObservation(), 3, () => ({ otherStaticPods: ['nginx'] }))
  expect(listRefusals(onWorker)).toEqual([])
  expect(assess(onWorker).items.map(({ code }) => code)).toContain('ADOPT_LOSES_STATIC_PODS')
})

test('settings of containerd, drop-ins and environment variables are lost', () => {
  const base = changeHost(buildKubeadmObservation(), 3, ({ runtime }) => ({
    runtime: { ...runtime, settings: ['registry docker.io', 'runtime nvidia'] },
    dropIns: ['/etc/systemd/system/containerd.service.d/http-proxy.conf'],
  }))
  const { items } = assess(
    changeHost(base, 0, ({ components }) => ({
      components: components.map((one) =>
        one.name === 'kube-apiserver' ? { ...one, environment: ['HTTPS_PROXY', 'NO_PROXY'] } : one,
      ),
    })),
  )
  expect(items.filter(({ verdict }) => verdict === 'lost')).toMatchObject([
    {
      code: 'ADOPT_LOSES_ENVIRONMENT',
      message: 'environment variables of kube-apiserver: HTTPS_PROXY and NO_PROXY',
    },
    {
      code: 'ADOPT_LOSES_RUNTIME_SETTINGS',
      message: 'settings of containerd: registry docker.io and runtime nvidia',
    },
    {
      code: 'ADOPT_LOSES_DROP_INS',
      message: 'drop-ins of units: /etc/systemd/system/containerd.service.d/http-proxy.conf',
    },
    { code: 'ADOPT_LOSES_TOOL' },
  ])
})

test('with RKE1 the configuration of containerd is that of Docker, and no setting of the cluster', () => {
  const changed = changeHost(buildRke1Observation(), 1, ({ runtime }) => ({
    runtime: { ...runtime, settings: ['default runtime runsc', 'runtime runsc'] },
    dropIns: ['/etc/systemd/system/docker.service.d/http-proxy.conf'],
  }))
  const codes = assess(changed).items.map(({ code }) => code)
  expect(codes).toContain('ADOPT_LOSES_DROP_INS')
  expect(codes).not.toContain('ADOPT_LOSES_RUNTIME_SETTINGS')
})

test('flags of a second etcd member of RKE1 are reported, also on a host of its own', () => {
  const base = buildRke1Observation()
  const etcd = base.hosts[0]?.components.filter(({ name }) => name === 'etcd') ?? []
  const changed = changeHost(base, 1, ({ components }) => ({
    components: [
      ...components,
      ...etcd.map((one) => ({ ...one, args: { ...one.args, 'heartbeat-interval': '900', own: 'yes' } })),
    ],
  }))
  expect(listLost(changed)).toEqual(
    expect.arrayContaining([
      'flags of etcd: --own',
      'flags of etcd that differ between members: --heartbeat-interval; those of 10.0.0.1 are kept',
    ]),
  )
})

test('refused externalIPs are reported unless the cluster already has a setting for them', () => {
  const isReported = (flag: string): boolean =>
    assess(
      changeArgs(buildRke1Observation(), 'kube-apiserver', { [flag]: 'DenyServiceExternalIPs' }),
    ).items.some(({ code }) => code === 'ADOPT_CHANGES_EXTERNAL_IPS')
  const flags = ['enable-admission-plugins', 'disable-admission-plugins', 'event-ttl']
  expect(flags.map(isReported)).toEqual([false, false, true])
})

test('metrics that only their host can read any more are reported once', () => {
  const listCodes = (observation: AdoptionObservation): readonly string[] =>
    assess(observation)
      .items.filter(({ message }) => /bind-address|metrics of/.test(message))
      .map(({ code }) => code)
  const rke1 = buildRke1Observation()
  expect(listCodes(rke1)).toEqual(['ADOPT_CHANGES_METRICS_ADDRESS'])
  expect(assess(rke1).items.find(({ code }) => code === 'ADOPT_CHANGES_METRICS_ADDRESS')?.next).toContain(
    'set bind-address: 0.0.0.0 in spec.components.controllerManager.args and spec.components.scheduler.args',
  )
  const open = changeArgs(buildKubeadmObservation(), 'kube-scheduler', { 'bind-address': '0.0.0.0' })
  expect(listCodes(open)).toEqual(['ADOPT_LOSES_FLAGS'])
  expect(listCodes(buildKubeadmObservation())).toEqual([])
})

test('control planes with different keys are refused', () => {
  const keyDigests = { serviceAccount: 'a', encryption: 'b' }
  const base = buildKubeadmObservation()
  const equal = {
    ...base,
    hosts: base.hosts.map((host) => (host.components.length === 0 ? host : { ...host, keyDigests })),
  }
  expect(listRefusals(equal)).toEqual([])
  const listed = (own: AdoptionObservation['hosts'][number]['keyDigests']): readonly unknown[] =>
    listRefusals(changeHost(equal, 2, () => ({ keyDigests: own ?? {} }))).map(({ code, host }) => [
      code,
      host,
    ])
  expect(listed({ ...keyDigests, serviceAccount: 'c' })).toEqual([['ADOPT_SERVICE_ACCOUNTS', '10.0.0.3']])
  expect(listed({ ...keyDigests, encryption: 'c' })).toEqual([['ADOPT_ENCRYPTION', '10.0.0.3']])
  expect(listed({ serviceAccount: 'a' })).toEqual([['ADOPT_ENCRYPTION', '10.0.0.3']])
})

test.each(['6444', '6445'])('API servers at port %s are refused', (port) => {
  const changed = changeArgs(buildKubeadmObservation(), 'kube-apiserver', { 'secure-port': port })
  expect(listRefusals(changed)).toEqual([
    expect.objectContaining({ code: 'ADOPT_API_PORT', message: expect.stringContaining(port) }),
  ])
})

test('other containers of the static pods of components are lost', () => {
  const changed = changeHost(buildKubeadmObservation(), 0, ({ components }) => ({
    components: components.map((one) =>
      one.name === 'etcd' ? { ...one, otherContainers: ['backup'] } : one,
    ),
  }))
  expect(listLost(changed)).toContain('containers of static pods: backup of etcd')
})

test('a read-only port of kubelets is lost', () => {
  const changed = changeHost(buildRke1Observation(), 1, ({ kubelet }) => ({
    kubelet: { ...kubelet, args: { ...kubelet.args, 'read-only-port': '10255' } },
  }))
  expect(listLost(changed)).toContain('the read-only port of kubelets: 10255')
  expect(listLost(buildRke1Observation()).join()).not.toContain('read-only port')
})

test('flags that differ between control planes are reported', () => {
  const changed = changeHost(buildKubeadmObservation(), 1, ({ components }) => ({
    components: components.map((one) =>
      one.name === 'kube-apiserver'
        ? { ...one, args: { ...one.args, 'event-ttl': '4h', 'audit-webhook-config-file': '/etc/a' } }
        : one,
    ),
  }))
  const { items } = assess(changed)
  expect(items.filter(({ code }) => code === 'ADOPT_LOSES_FLAGS').map(({ message }) => message)).toEqual([
    'flags of kube-apiserver: --audit-webhook-config-file',
    'flags of kube-apiserver that differ between control planes: --event-ttl; those of 10.0.0.1 are kept',
  ])
})

test('flags of kubelets that cluster.yml cannot keep are lost', () => {
  // RKE1 sets the first three in every cluster.
  const own = { 'event-qps': '0', 'volume-plugin-dir': '/var/lib/kubelet/volumeplugins', v: '2' }
  const changed = changeHost(buildRke1Observation(), 1, ({ kubelet }) => ({
    kubelet: {
      ...kubelet,
      args: {
        ...kubelet.args,
        ...own,
        'serialize-image-pulls': 'false',
        'sync-frequency': '2m',
        'registry-qps': '10',
      },
    },
  }))
  expect(assess(changed).items).toContainEqual({
    verdict: 'lost',
    code: 'ADOPT_LOSES_FLAGS',
    message: 'flags of kubelets: --sync-frequency',
    next: 'if nodes need them, set spec.components.kubelet in cluster.yml',
  })
})

test('fields of kubelet configurations are kept, or reported as lost', () => {
  const own = { shutdownGracePeriod: '2m', reservedSystemCPUs: '0', volumePluginDir: '/opt/plugins' }
  const changed = changeHost(buildKubeadmObservation(), 3, ({ kubelet }) => ({
    kubelet: { ...kubelet, config: { ...kubelet.config, ...own } },
  }))
  expect(assess(changed).items).toContainEqual({
    verdict: 'lost',
    code: 'ADOPT_LOSES_FLAGS',
    message: 'configuration fields of kubelets: volumePluginDir',
    next: 'if nodes need them, set spec.components.kubelet in cluster.yml',
  })
  const other = assess(buildKubeadmObservation()).items.map(({ message }) => message)
  expect(other.join()).not.toContain('configuration fields')
})

test('an RKE1 cluster with another minor of etcd cannot be adopted', () => {
  const base = buildRke1Observation()
  const members = (base.etcd?.members ?? []).map((member) => ({ ...member, version: '3.4.27' }))
  const refusals = listRefusals({ ...base, etcd: { confirmed: true, members } })
  expect(refusals).toMatchObject([
    { code: 'ADOPT_ETCD_VERSION', next: expect.stringContaining('system_images.etcd') },
  ])
})

test.each([...unsuitable, ...otherUnsuitable])(
  '%s: refused with %s, a reason and a next step',
  (_, code, message, change) => {
    const refusals = listRefusals(change(buildKubeadmObservation()))
    expect(refusals.map((item) => item.code)).toEqual(refusals.map(() => code))
    expect(refusals[0]?.message).toMatch(message)
    for (const { next } of refusals) expect(next).toBeTruthy()
  },
)

test.each(unsuitableRke1)(
  'RKE1: %s: refused with %s, a reason and a next step',
  (_, code, message, change) => {
    const refusals = listRefusals(change(buildRke1Observation()))
    expect(refusals.map((item) => item.code)).toEqual(refusals.map(() => code))
    expect(refusals[0]?.message).toMatch(message)
    for (const { next } of refusals) expect(next).toBeTruthy()
  },
)

test.each(customPaths)('custom path: %s', (message, change) => {
  const refusals = listRefusals(change(buildKubeadmObservation()))
  expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['ADOPT_CUSTOM_PATH']))
  expect(refusals[0]?.message).toMatch(message)
  expect(refusals[0]?.next).toBeTruthy()
})

test.each([
  [{ containerRuntimeEndpoint: 'unix:///var/run/containerd/containerd.sock' }, {}],
  [{ containerRuntimeEndpoint: '' }, { 'container-runtime-endpoint': '/run/containerd/containerd.sock' }],
])('the default socket of kubeadm is that of containerd: %j %j', (config, args) => {
  const changed = changeHost(buildKubeadmObservation(), 3, ({ kubelet }) => ({
    kubelet: { args: { ...kubelet.args, ...args }, config: { ...kubelet.config, ...config } },
  }))
  expect(listRefusals(changed)).toEqual([])
})

test('the flag for the container runtime has priority over the configuration of the kubelet', () => {
  const changed = changeHost(buildKubeadmObservation(), 3, ({ kubelet }) => ({
    kubelet: {
      args: { ...kubelet.args, 'container-runtime-endpoint': 'unix:///run/own.sock' },
      config: { ...kubelet.config, containerRuntimeEndpoint: '' },
    },
  }))
  expect(listRefusals(changed).map(({ code }) => code)).toEqual(['ADOPT_RUNTIME'])
})

test('containerd 1 does not choose the cgroup driver of the kubelet', () => {
  const changed = changeHost(buildKubeadmObservation(), 3, ({ runtime }) => ({
    runtime: { ...runtime, containerd: '1.7.29', systemdCgroup: false },
  }))
  expect(listRefusals(changed)).toEqual([])
})

test('standard paths may be written out', () => {
  const written = changeArgs(buildKubeadmObservation(), 'etcd', {
    'data-dir': '/var/lib/etcd/',
    'wal-dir': '/var/lib/etcd/member/wal',
  })
  expect(listRefusals(written)).toEqual([])
})

test('the containers that RKE1 starts by default are expected', () => {
  const names = ['kubelet', 'kube-proxy', 'etcd', 'kube-apiserver', 'etcd-rolling-snapshots', 'nginx-proxy']
  expect(listRefusals(changeHost(buildRke1Observation(), 0, () => ({ dockerContainers: names })))).toEqual([])
})

test('each problem is reported, whatever else is wrong', () => {
  assert(
    property(subarray([...unsuitable], { minLength: 1 }), (chosen) => {
      const changed = chosen.reduce((one, [, , , change]) => change(one), buildKubeadmObservation())
      const codes = new Set(listRefusals(changed).map(({ code }) => code))
      // Without etcd on the hosts there is neither a member nor a data directory to check.
      const hasExternal = chosen.some(([, code]) => code === 'ADOPT_EXTERNAL_ETCD')
      const hidden = new Set(hasExternal ? ['ADOPT_ETCD_MEMBER_LOST', 'ADOPT_CUSTOM_PATH'] : [])
      const missing = chosen.filter(([, code]) => !hidden.has(code) && !codes.has(code))
      expect(missing).toEqual([])
    }),
  )
})

const further: readonly (readonly [name: string, code: string, change: Change])[] = [
  [
    'unreadable host',
    'ADOPT_HOST_NOT_READ',
    (one) => ({ ...one, unreadable: [{ address: '10.0.0.9', message: 'refused' }] }),
  ],
  [
    'API that does not respond',
    'ADOPT_API_NOT_READ',
    (one) => ({ ...one, api: undefined, apiFailure: 'timeout' }),
  ],
  [
    'another minor of etcd',
    'ADOPT_ETCD_VERSION',
    (one) => ({
      ...one,
      etcd: {
        confirmed: true,
        members: (one.etcd?.members ?? []).map((member) =>
          member.name === 'cp2' ? { ...member, version: '3.5.24' } : member,
        ),
      },
    }),
  ],
  [
    'containerd as another service',
    'ADOPT_RUNTIME',
    (one) => changeHost(one, 3, () => ({ services: ['kubelet', 'own-containerd'] })),
  ],
  [
    'CA of its own',
    'ADOPT_CA_NAME',
    (one) =>
      changeHost(one, 0, ({ certificates }) => ({
        certificates: certificates.map((certificate) =>
          certificate.path === '/etc/kubernetes/pki/ca.crt'
            ? { ...certificate, commonName: 'Corporate CA' }
            : certificate,
        ),
      })),
  ],
  ['etcd that does not respond', 'ADOPT_ETCD_NOT_READ', (one) => ({ ...one, etcd: undefined })],
  ['node that was not read', 'ADOPT_HOST_MISSING', (one) => ({ ...one, hosts: one.hosts.slice(0, 4) })],
  [
    'host of another cluster',
    'ADOPT_HOST_FOREIGN',
    (one) =>
      changeHost(one, 4, () => ({
        certificates: [buildCertificate('/etc/kubernetes/pki/ca.crt', { fingerprint: 'other' })],
      })),
  ],
  [
    'same name twice',
    'ADOPT_NAMES_SWAPPED',
    (one) =>
      changeApi(
        changeHost(one, 4, () => ({ nodeName: 'w1' })),
        ({ nodes }) => ({ nodes: nodes.slice(0, 4) }),
      ),
  ],
  [
    'node that is not Ready',
    'ADOPT_NODE_NOT_READY',
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: nodes.map((node, index) => ({ ...node, ready: index !== 2 })),
      })),
  ],
  [
    'external CA',
    'ADOPT_CA_KEY_MISSING',
    (one) =>
      changeHost(one, 0, ({ paths }) => ({ paths: paths.filter((path) => !path.endsWith('pki/ca.key')) })),
  ],
  [
    'CA bundle',
    'ADOPT_CA_BUNDLE',
    (one) =>
      changeHost(one, 0, ({ certificates }) => ({
        certificates: [
          ...certificates,
          buildCertificate('/etc/kubernetes/pki/ca.crt', { fingerprint: 'next' }),
        ],
      })),
  ],
  [
    'two service account keys',
    'ADOPT_SERVICE_ACCOUNTS',
    (one) =>
      changeArgs(one, 'kube-apiserver', {
        'service-account-key-file': '/etc/kubernetes/pki/sa.pub,/etc/kubernetes/pki/old.pub',
      }),
  ],
  [
    'two service account keys in one file',
    'ADOPT_SERVICE_ACCOUNTS',
    (one) => changeHost(one, 1, () => ({ serviceAccountKeys: 2 })),
  ],
  [
    'kms encryption',
    'ADOPT_ENCRYPTION',
    (one) =>
      changeHost(one, 0, () => ({
        encryption: [{ resources: ['secrets'], providers: ['kms', 'identity'] }],
      })),
  ],
  [
    'cluster without kube-proxy',
    'ADOPT_KUBE_PROXY_MISSING',
    (one) => changeApi(one, () => ({ kubeProxyMode: undefined })),
  ],
  [
    'member on an unknown host',
    'ADOPT_ETCD_MEMBER_LOST',
    (one) => ({
      ...one,
      etcd: {
        confirmed: true,
        members: [
          ...(one.etcd?.members ?? []),
          { name: 'gone', peerUrls: ['https://10.0.0.99:2380'], learner: false, healthy: true },
        ],
      },
    }),
  ],
  [
    'kubelet of another minor',
    'ADOPT_VERSION',
    (one) =>
      changeApi(one, ({ nodes }) => ({ nodes: nodes.map((node) => ({ ...node, kubelet: '1.99.0' })) })),
  ],
  [
    'workers of two versions',
    'ADOPT_VERSION',
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: nodes.map((node, index) => (index === 4 ? { ...node, kubelet: '1.35.8' } : node)),
      })),
  ],
  [
    'flannel backend wireguard',
    'ADOPT_CNI',
    (one) =>
      changeApi(one, ({ nodes }) => ({
        nodes: nodes.map((node) => ({ ...node, flannelBackend: 'wireguard' })),
      })),
  ],
  [
    'cluster of the other tool',
    'ADOPT_NO_CONTROL_PLANE',
    (one) => ({ ...one, hosts: one.hosts.slice(3), api: undefined, etcd: undefined }),
  ],
]

test.each(further)('%s: refused with %s', (_, code, change) => {
  const refusals = listRefusals(change(buildKubeadmObservation()))
  expect(refusals.map((item) => item.code)).toContain(code)
  for (const { next } of refusals) expect(next).toBeTruthy()
})

test('errors of the new cluster.yml prevent the adoption', () => {
  const findings = [
    { code: 'SPEC_OVERLAP', severity: 'error' as const, message: 'overlaps', path: 'spec.network.pods' },
  ]
  const { items } = assessAdoption(buildKubeadmObservation(), {
    name: 'shop',
    minors,
    etcdVersions,
    findings,
  })
  expect(items.at(-1)).toMatchObject({
    code: 'ADOPT_SETTINGS',
    message: 'cluster.yml would not be valid: spec.network.pods overlaps (SPEC_OVERLAP)',
  })
})

test('with a state file the keys need not be on control planes, but its CA must be theirs', () => {
  const base = buildRke1Observation()
  const path = '/etc/kubernetes/ssl/kube-ca.pem'
  const stateCa = `fingerprint of ${path}`
  const withoutKeys = { ...changeHost(base, 0, () => ({ paths: [] })), stateCa }
  expect(listRefusals(withoutKeys)).toEqual([])
  expect(listRefusals({ ...withoutKeys, stateCa: 'other' }).map(({ code }) => code)).toEqual([
    'ADOPT_STATE_MISMATCH',
  ])
})

const listLost = (observation: AdoptionObservation): readonly string[] =>
  assess(observation).items.flatMap(({ verdict, message }) => (verdict === 'lost' ? [message] : []))

test('flags of kube-proxy that RKE1 does not set by itself are lost', () => {
  const changed = changeArgs(buildRke1Observation(), 'kube-proxy', {
    'healthz-bind-address': '127.0.0.1',
    'metrics-bind-address': '0.0.0.0:10249',
    'conntrack-max-per-core': '65536',
  })
  expect(listLost(changed)).toContain('flags of kube-proxy: --metrics-bind-address, --conntrack-max-per-core')
})

test('of the admission plugins only those that need a file are lost', () => {
  const plugins = 'NamespaceLifecycle,NodeRestriction,Priority,AlwaysPullImages,EventRateLimit'
  const changed = changeArgs(buildRke1Observation(), 'kube-apiserver', {
    'enable-admission-plugins': plugins,
  })
  expect(listLost(changed)).toContain('flags of kube-apiserver: --enable-admission-plugins=EventRateLimit')
})

test('policies of Calico are not lost with canal, which stays', () => {
  expect(
    listLost(buildRke1Observation()).filter((message) => message.includes('globalnetworkpolicies')),
  ).toEqual([])
})

test.each([
  ['the mode AlwaysAllow', { 'authorization-mode': 'AlwaysAllow' }],
  ['the mode Node, ABAC', { 'authorization-mode': 'Node,ABAC' }],
  ['a file', { 'authorization-config': '/etc/kubernetes/authorization.yaml' }],
])('authorization with %s cannot be adopted', (_, args) => {
  expect(listRefusals(changeArgs(buildRke1Observation(), 'kube-apiserver', args))).toMatchObject([
    { code: 'ADOPT_AUTHORIZATION', host: '10.0.0.1' },
  ])
})

test('the report names what hosts of RKE1 lose together with Docker', () => {
  const base = buildRke1Observation()
  const changed = changeApi(
    changeHost(base, 0, ({ dockerContainers, runtime }) => ({
      dockerContainers: [...dockerContainers, 'etcd-rolling-snapshots'],
      runtime: { ...runtime, dockerSettings: ['an HTTP proxy', 'the insecure registry reg.shop.example'] },
    })),
    ({ daemonSets }) => ({
      daemonSets: [...daemonSets, { namespace: 'cattle-system', name: 'cattle-node-agent', images: [] }],
    }),
  )
  const report = assess({ ...changed, hiddenSettings: ['services.kubelet.extra_env'] })
  const found = report.items.filter(({ verdict }) => verdict === 'lost').map(({ code }) => code)
  expect(found).toEqual(
    expect.arrayContaining([
      'ADOPT_LOSES_SETTINGS',
      'ADOPT_LOSES_DOCKER_SETTINGS',
      'ADOPT_LOSES_SNAPSHOTS',
      'ADOPT_LOSES_RANCHER',
    ]),
  )
  expect(listLost(changed)).toContain(
    'settings of Docker: an HTTP proxy and the insecure registry reg.shop.example',
  )
})

test('a host behind NAT is refused with its reason', () => {
  const natted = changeHost(buildRke1Observation(), 1, () => ({ addresses: ['192.168.7.5'] }))
  expect(listRefusals(natted)).toMatchObject([
    {
      code: 'ADOPT_NODE_ADDRESS',
      message: 'the node w1 has the address 10.0.0.4, which no network interface of the host has',
    },
  ])
})

test('the machine id that kubelets of RKE1 report is that of their image', () => {
  const sameId = changeApi(buildRke1Observation(), ({ nodes }) => ({
    nodes: nodes.map((node) => ({ ...node, machineId: '8c859f2bde9e41155bca40d2d85aebb5' })),
  }))
  expect(listRefusals(sameId)).toEqual([])
  const swapped = changeApi(sameId, ({ nodes }) => ({
    nodes: nodes.map((node, index) => ({ ...node, addresses: [`10.0.0.${index === 0 ? 4 : 1}`] })),
  }))
  expect(listRefusals(swapped).map(({ code }) => code)).toEqual([
    'ADOPT_NAMES_SWAPPED',
    'ADOPT_NAMES_SWAPPED',
  ])
})

test('another prefix in etcd is refused, because the cluster would look empty', () => {
  const changed = changeArgs(buildRke1Observation(), 'kube-apiserver', { 'etcd-prefix': '/shop' })
  expect(listRefusals(changed)).toMatchObject([
    {
      code: 'ADOPT_CUSTOM_PATH',
      message: 'the API server keeps objects in etcd below /shop instead of /registry',
    },
  ])
})

test('programs for volumes that only the image of the kubelet has are lost', () => {
  const changed = [0, 1].reduce(
    (observation, index) => changeHost(observation, index, () => ({ missingPrograms: ['mount.nfs'] })),
    buildRke1Observation(),
  )
  expect(listLost(changed)).toContain(
    "mount.nfs, which the image of RKE1's kubelet has; missing on cp1 and w1",
  )
})

test('expired certificates that RKE1 does not use any more prevent nothing', () => {
  const notAfter = new Date('2026-11-17T00:00:00Z')
  const [own, removed, old] = [
    '/etc/kubernetes/ssl/kube-etcd-10-0-0-1.pem',
    '/etc/kubernetes/ssl/kube-etcd-10-0-0-9.pem',
    '/var/lib/kubelet/pki/kubelet-client-current.pem',
  ] as const
  const expire = (...paths: readonly string[]): AdoptionObservation =>
    changeHost(changeArgs(buildRke1Observation(), 'etcd', { 'cert-file': own }), 0, ({ certificates }) => ({
      certificates: [...certificates, ...paths.map((path) => buildCertificate(path, { notAfter }))],
    }))
  expect(listRefusals(expire(removed, old))).toEqual([])
  expect(listRefusals(expire(own)).map(({ code }) => code)).toEqual(['ADOPT_CERTIFICATE_EXPIRED'])
})

test.each([
  ['etcd', 'listen-metrics-urls', 'http://0.0.0.0:2381', 'http://127.0.0.1:2381'],
  ['kube-apiserver', 'anonymous-auth', 'true', 'false'],
  ['kube-scheduler', 'bind-address', '0.0.0.0', '127.0.0.1'],
])('%s loses --%s only with an unusual value', (program, flag, unusual, usual) => {
  const read = (value: string): boolean =>
    listLost(changeArgs(buildRke1Observation(), program, { [flag]: value })).some(
      (message) => message.includes(`flags of ${program}: `) && message.includes(`--${flag}`),
    )
  expect([read(unusual), read(usual)]).toEqual([true, false])
})
