import type {
  AdoptedCertificate,
  AdoptedComponent,
  AdoptedHost,
  AdoptedNode,
  AdoptionObservation,
} from '../observation.ts'
import { unrestricted } from '../pod-security.ts'

/** Time at which the observations of tests were made. */
export const observed = new Date('2026-11-18T07:00:00Z')

const version = '1.36.4'

function buildComponent(
  name: string,
  args: Readonly<Record<string, string>>,
  runsAs: AdoptedComponent['runsAs'],
): AdoptedComponent {
  return { name, runsAs, image: `registry.k8s.io/${name}:v${version}`, args, mounts: [] }
}

/** Names of the CAs of kubeadm and RKE1, by path. */
const commonNames: Readonly<Record<string, string>> = {
  '/etc/kubernetes/pki/ca.crt': 'kubernetes',
  '/etc/kubernetes/pki/etcd/ca.crt': 'etcd-ca',
  '/etc/kubernetes/pki/front-proxy-ca.crt': 'front-proxy-ca',
  '/etc/kubernetes/ssl/kube-ca.pem': 'kube-ca',
  '/etc/kubernetes/ssl/kube-apiserver-requestheader-ca.pem': 'kube-apiserver-requestheader-ca',
}

export function buildCertificate(path: string, change: Partial<AdoptedCertificate> = {}): AdoptedCertificate {
  return {
    path,
    commonName: commonNames[path] ?? path,
    isCa: path.endsWith('ca.crt') || path.endsWith('-ca.pem'),
    notAfter: new Date('2027-11-18T07:00:00Z'),
    fingerprint: `fingerprint of ${path}`,
    names: [],
    ...change,
  }
}

const kubeadmPaths = [
  '/etc/kubernetes/manifests',
  '/etc/kubernetes/admin.conf',
  '/etc/kubernetes/pki/ca.key',
  '/etc/kubernetes/pki/front-proxy-ca.key',
  '/etc/kubernetes/pki/etcd/ca.key',
  '/etc/kubernetes/pki/sa.key',
  '/var/lib/etcd/member',
  '/var/lib/kubelet/config.yaml',
]

function buildControlPlaneParts(address: string, name: string): AdoptedComponent[] {
  return [
    buildComponent(
      'etcd',
      {
        name,
        'data-dir': '/var/lib/etcd',
        'advertise-client-urls': `https://${address}:2379`,
        'snapshot-count': '10000',
      },
      'static-pod',
    ),
    buildComponent(
      'kube-apiserver',
      {
        'advertise-address': address,
        'allow-privileged': 'true',
        'authorization-mode': 'Node,RBAC',
        'client-ca-file': '/etc/kubernetes/pki/ca.crt',
        'enable-admission-plugins': 'NodeRestriction',
        'enable-bootstrap-token-auth': 'true',
        'etcd-servers': 'https://127.0.0.1:2379',
        'secure-port': '6443',
        'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
        'service-account-key-file': '/etc/kubernetes/pki/sa.pub',
        'service-account-signing-key-file': '/etc/kubernetes/pki/sa.key',
        'service-cluster-ip-range': '10.96.0.0/12',
        'tls-cert-file': '/etc/kubernetes/pki/apiserver.crt',
      },
      'static-pod',
    ),
    buildComponent(
      'kube-controller-manager',
      {
        'allocate-node-cidrs': 'true',
        'bind-address': '127.0.0.1',
        'cluster-cidr': '10.244.0.0/16',
        'cluster-name': 'kubernetes',
        controllers: '*,bootstrapsigner,tokencleaner',
      },
      'static-pod',
    ),
    buildComponent('kube-scheduler', { 'bind-address': '127.0.0.1' }, 'static-pod'),
  ]
}

/** Builds a host of kubeadm: a control plane if its name begins with cp. */
function buildHost(name: string, address: string): AdoptedHost {
  const isControlPlane = name.startsWith('cp')
  const pki = '/etc/kubernetes/pki'
  return {
    address,
    hostname: name,
    nodeName: name,
    machineId: `id-of-${name}`,
    arch: 'x86_64',
    distribution: 'Debian GNU/Linux 12 (bookworm)',
    cgroup: 2,
    addresses: [address],
    components: isControlPlane ? buildControlPlaneParts(address, name) : [],
    otherStaticPods: [],
    certificates: [
      buildCertificate(`${pki}/ca.crt`),
      buildCertificate('/var/lib/kubelet/pki/kubelet-client-current.pem'),
      ...(isControlPlane
        ? [
            buildCertificate(`${pki}/apiserver.crt`, {
              names: ['kubernetes', 'kubernetes.default.svc', name, '10.96.0.1', address, 'api.shop.example'],
            }),
            buildCertificate(`${pki}/etcd/ca.crt`),
            buildCertificate(`${pki}/front-proxy-ca.crt`),
          ]
        : []),
    ],
    kubelet: {
      args: { config: '/var/lib/kubelet/config.yaml' },
      config: {
        clusterDomain: 'cluster.local',
        clusterDNS: ['10.96.0.10'],
        staticPodPath: '/etc/kubernetes/manifests',
        containerLogMaxFiles: 0,
        evictionHard: { 'nodefs.available': '5%' },
      },
    },
    cni: [{ file: '/etc/cni/net.d/10-flannel.conflist', name: 'cbr0', types: ['flannel', 'portmap'] }],
    vxlan: [{ name: 'flannel.1', vni: 1, port: 8472 }],
    services: ['containerd', 'kubelet', 'ssh'],
    paths: isControlPlane ? kubeadmPaths : ['/etc/kubernetes/manifests', '/var/lib/kubelet/config.yaml'],
    runtime: { containerd: '2.1.4', root: '/var/lib/containerd' },
    dockerContainers: [],
  }
}

function buildNode({ nodeName, machineId, address }: AdoptedHost, index: number): AdoptedNode {
  return {
    name: nodeName,
    os: 'linux',
    kubelet: version,
    runtime: 'containerd://2.1.4',
    machineId,
    addresses: [address],
    podCidrs: [`10.244.${index}.0/24`],
    ready: true,
    labels: {
      'kubernetes.io/hostname': nodeName,
      ...(nodeName.startsWith('cp') ? {} : { 'shop.example/disk': 'ssd' }),
    },
    taints: nodeName.startsWith('cp')
      ? [{ key: 'node-role.kubernetes.io/control-plane', value: '', effect: 'NoSchedule' }]
      : [],
    providerId: '',
    flannelBackend: 'vxlan',
  }
}

/** Builds the observation of a healthy kubeadm cluster with flannel, 3+2. */
export function buildKubeadmObservation(): AdoptionObservation {
  const names = ['cp1', 'cp2', 'cp3', 'w1', 'w2']
  const hosts = names.map((name, index) => buildHost(name, `10.0.0.${index + 1}`))
  return {
    from: 'kubeadm',
    observed,
    name: 'kubernetes',
    hosts,
    unreadable: [],
    windowsHosts: [],
    api: {
      version,
      nodes: hosts.map(buildNode),
      kubeadm: {
        clusterName: 'kubernetes',
        certificatesDir: '/etc/kubernetes/pki',
        controlPlaneEndpoint: 'api.shop.example:6443',
        etcd: { external: false, dataDir: '/var/lib/etcd' },
      },
      kubeProxyMode: 'iptables',
      daemonSets: [
        {
          namespace: 'kube-flannel',
          name: 'kube-flannel-ds',
          images: ['ghcr.io/flannel-io/flannel:v0.27.4'],
        },
        { namespace: 'kube-system', name: 'kube-proxy', images: [`registry.k8s.io/kube-proxy:v${version}`] },
      ],
      deployments: [
        { namespace: 'kube-system', name: 'coredns', images: ['registry.k8s.io/coredns/coredns:v1.13.1'] },
      ],
      foreignPolicies: [],
      networkPolicies: 2,
    },
    etcd: {
      confirmed: true,
      members: hosts.slice(0, 3).map(({ nodeName, address }) => ({
        name: nodeName,
        peerUrls: [`https://${address}:2380`],
        learner: false,
        healthy: true,
        version: '3.6.5',
      })),
    },
  }
}

const rke1Certificates = [
  '/etc/kubernetes/ssl/kube-ca.pem',
  '/etc/kubernetes/ssl/kube-apiserver-requestheader-ca.pem',
  '/etc/kubernetes/ssl/kube-node.pem',
]

/** Builds the observation of a healthy RKE1 cluster with canal, one control plane and one worker. */
export function buildRke1Observation(): AdoptionObservation {
  const base = buildKubeadmObservation()
  const { api } = base
  if (api === undefined) throw new Error('the observation has an API')
  const hosts = [base.hosts[0], base.hosts[3]].flatMap((host) => {
    if (host === undefined) return []
    const isControlPlane = host.components.length > 0
    return [
      {
        ...host,
        components: [
          ...host.components.map((component) => toContainer(component)),
          buildComponent('kubelet', { 'hostname-override': host.nodeName, 'max-pods': '200' }, 'container'),
          buildComponent('kube-proxy', { 'cluster-cidr': '10.42.0.0/16' }, 'container'),
        ],
        certificates: rke1Certificates.map((path) => buildCertificate(path)),
        kubelet: {
          args: { 'hostname-override': host.nodeName, 'max-pods': '200', 'fail-swap-on': 'false' },
          config: {},
        },
        cni: [
          { file: '/etc/cni/net.d/10-canal.conflist', name: 'k8s-pod-network', types: ['calico', 'portmap'] },
        ],
        services: ['docker', 'containerd', 'ssh'],
        paths: isControlPlane
          ? [
              '/etc/kubernetes/ssl/kube-ca-key.pem',
              '/etc/kubernetes/ssl/kube-apiserver-requestheader-ca-key.pem',
              '/etc/kubernetes/ssl/kube-service-account-token-key.pem',
            ]
          : [],
        runtime: { docker: '20.10.24' },
        dockerContainers: ['kubelet', 'kube-proxy', ...(isControlPlane ? ['etcd'] : ['nginx-proxy'])],
        ...(isControlPlane
          ? {
              encryption: [{ resources: ['secrets'], providers: ['aescbc', 'identity'] }],
              admission: { plugins: ['EventRateLimit'], podSecurity: unrestricted },
            }
          : {}),
      },
    ]
  })
  return {
    ...base,
    from: 'rke1',
    name: 'shop',
    hosts,
    api: {
      ...api,
      version: '1.32.6',
      nodes: hosts.map((host, index) => {
        const node = buildNode(host, index)
        const roles = host.nodeName.startsWith('cp') ? ['controlplane', 'etcd'] : ['worker']
        return {
          ...node,
          kubelet: '1.32.6',
          runtime: 'docker://20.10.24',
          labels: {
            ...node.labels,
            'cattle.io/creator': 'norman',
            'topology.kubernetes.io/zone': 'east',
            ...Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, 'true'])),
          },
        }
      }),
      kubeadm: undefined,
      kubeProxyMode: undefined,
      daemonSets: [
        { namespace: 'kube-system', name: 'canal', images: ['rancher/mirrored-calico-node:v3.28.1'] },
        {
          namespace: 'ingress-nginx',
          name: 'nginx-ingress-controller',
          images: ['rancher/nginx-ingress-controller'],
        },
      ],
      foreignPolicies: [{ resource: 'globalnetworkpolicies.crd.projectcalico.org', count: 2 }],
    },
    etcd: {
      confirmed: true,
      members: (base.etcd?.members ?? [])
        .slice(0, 1)
        .map((one) => ({ ...one, name: 'etcd-cp1', version: '3.5.21' })),
    },
  }
}

function toContainer(component: AdoptedComponent): AdoptedComponent {
  // RKE1 sets no address.
  const { 'bind-address': _address, ...args } = component.args
  const ssl = '/etc/kubernetes/ssl'
  const changed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    etcd: {
      name: 'etcd-cp1',
      'data-dir': '/var/lib/rancher/etcd/',
      'heartbeat-interval': '500',
      'election-timeout': '5000',
    },
    'kube-apiserver': {
      'client-ca-file': `${ssl}/kube-ca.pem`,
      'service-account-issuer': 'rke',
      'api-audiences': 'unknown',
      'service-account-key-file': `${ssl}/kube-service-account-token-key.pem`,
      'service-account-signing-key-file': `${ssl}/kube-service-account-token-key.pem`,
      'encryption-provider-config': `${ssl}/encryption.yaml`,
      'service-cluster-ip-range': '10.43.0.0/16',
      'service-node-port-range': '30000-32767',
      'admission-control-config-file': '/etc/kubernetes/admission.yaml',
    },
    'kube-controller-manager': { 'cluster-cidr': '10.42.0.0/16' },
  }
  return {
    ...component,
    runsAs: 'container',
    args: { ...args, ...changed[component.name] },
    mounts: [
      { host: '/etc/kubernetes', path: '/etc/kubernetes' },
      { host: '/var/lib/etcd', path: '/var/lib/rancher/etcd/' },
    ],
    running: true,
  }
}

/** Replaces the host at an index. */
export function changeHost(
  observation: AdoptionObservation,
  index: number,
  change: (host: AdoptedHost) => Partial<AdoptedHost>,
): AdoptionObservation {
  const hosts = observation.hosts.map((host, at) => (at === index ? { ...host, ...change(host) } : host))
  return { ...observation, hosts }
}

/** Replaces flags of a component on all hosts that run it. */
export function changeArgs(
  observation: AdoptionObservation,
  component: string,
  args: Readonly<Record<string, string>>,
): AdoptionObservation {
  return {
    ...observation,
    hosts: observation.hosts.map((host) => ({
      ...host,
      components: host.components.map((one) =>
        one.name === component ? { ...one, args: { ...one.args, ...args } } : one,
      ),
    })),
  }
}

/** Changes the API's part of an observation. */
export function changeApi(
  observation: AdoptionObservation,
  change: (api: NonNullable<AdoptionObservation['api']>) => Partial<NonNullable<AdoptionObservation['api']>>,
): AdoptionObservation {
  const { api } = observation
  return api === undefined ? observation : { ...observation, api: { ...api, ...change(api) } }
}
