import { basename } from 'node:path'
import { HyperkubeError } from '../../src/kit/errors.ts'

/** Operating system for which an upstream component (part) is built. */
export type Os = 'linux' | 'windows'

export interface Program {
  readonly name: string
  /** Source of the program: a Go package, or for C a file inside the module. */
  readonly from: string
  /** Arguments that print the version. The field keeps this name, because the build cache key contains it. */
  readonly ask: readonly string[]
}

export interface Part {
  readonly name: string
  readonly version: string
  readonly os: Os
  /**
   * Folder below `go/` with the go.mod and go.sum that pin the sources of this component. With the language
   * `go-module` it is the path of the module, whose own go.mod and go.sum pin the sources.
   */
  readonly module: string
  readonly programs: readonly Program[]
  /** `go-module` builds inside of a copy of the module, so that its replace directives apply. */
  readonly language: 'go' | 'go-test' | 'c' | 'go-module'
  readonly cgo: boolean
  readonly tags: readonly string[]
  /** Go variables set at link time, so that a program reports its true version. */
  readonly stamps: Readonly<Record<string, string>>
  /** True if the component is built only when requested by name. */
  readonly onRequest: boolean
  /** Files of the sources that are copied to the directory of the programs. */
  readonly files?: readonly string[]
  /** Go module that has the files and scripts. Default: Kubernetes. */
  readonly filesFrom?: string
  /**
   * Scripts of the sources, by path, each with the name of its copy beside the programs. Go modules do not
   * keep the executable bit, so the copies get it.
   */
  readonly scripts?: Readonly<Record<string, string>>
  /** Ids of parts whose programs are copied beside those of this part, for images with programs of several. */
  readonly includes?: readonly string[]
}

export const kubernetesVersions = ['v1.37.1', 'v1.36.4'] as const
/**
 * Older Kubernetes minors of the catalog, built only on request. Each version is the newest patch whose
 * modules are all in the Go module proxy and in the checksum database.
 */
export const olderKubernetesVersions = ['v1.35.8', 'v1.34.10', 'v1.33.13', 'v1.32.5'] as const
export type KubernetesVersion = (typeof kubernetesVersions)[number] | (typeof olderKubernetesVersions)[number]

/** Versions of the images that the thirty conformance tests of an older minor use. */
export interface OlderTestImages {
  readonly agnhost: string
  /** Image from which conformance tests upgrade: an older agnhost, or a web server before Kubernetes 1.35. */
  readonly previous: string
  readonly busybox: string
}

/** Test images by Kubernetes version, from test/utils/image/manifest.go of that version. */
export const olderTestImages: Readonly<Record<string, OlderTestImages>> = {
  'v1.36.4': { agnhost: '2.63.0', previous: 'agnhost:2.55', busybox: '1.37.0-1' },
  'v1.35.8': { agnhost: '2.59', previous: 'agnhost:2.55', busybox: '1.37.0-1' },
  'v1.34.10': { agnhost: '2.56', previous: 'httpd:2.4.38-4', busybox: '1.37.0-1' },
  'v1.33.13': { agnhost: '2.53', previous: 'httpd:2.4.38-4', busybox: '1.36.1-1' },
  'v1.32.5': { agnhost: '2.53', previous: 'httpd:2.4.38-4', busybox: '1.36.1-1' },
}

const containerdTags = ['no_btrfs', 'no_devmapper', 'no_zfs']
const kubernetesModule = 'k8s.io/kubernetes'
const cniPlugins = 'github.com/containernetworking/plugins/plugins'

const etcdPrograms: readonly Program[] = [
  { name: 'etcd', from: 'go.etcd.io/etcd/server/v3', ask: ['--version'] },
  { name: 'etcdctl', from: 'go.etcd.io/etcd/etcdctl/v3', ask: ['version'] },
  { name: 'etcdutl', from: 'go.etcd.io/etcd/etcdutl/v3', ask: ['version'] },
]

const pausePrograms: readonly Program[] = [{ name: 'pause', from: 'build/pause/linux/pause.c', ask: ['-v'] }]

const testImagePrograms: readonly Program[] = ['agnhost', 'nonewprivs'].map((name) => ({
  name,
  from: `${kubernetesModule}/test/images/${name}`,
  ask: ['--version'],
}))

/** Files of the Kubernetes sources that agnhost's image contains. */
const testImageFiles = ['localhost.crt', 'localhost.key'].map((name) => `test/images/agnhost/porter/${name}`)

const metallbCrds = [
  'bfdprofiles',
  'bgpadvertisements',
  'bgppeers',
  'communities',
  'configurationstates',
  'ipaddresspools',
  'l2advertisements',
  'servicebgpstatuses',
  'servicel2statuses',
]

/** Services of the calico-node image that run without BGP. */
export const calicoServices = [
  'allocate-tunnel-addrs',
  'cni',
  'complete-startup',
  'felix',
  'monitor-addresses',
  'node-status-reporter',
] as const

export const calicoVersion = 'v3.31.0'

/** Versions of the programs in the images of RKE1. */
export const rke1Versions = {
  kubernetes: 'v1.32.5',
  etcd: 'v3.5.35',
  pause: 'v3.10.2',
  coredns: 'v1.15.0',
  flannel: 'v0.28.7',
  criDockerd: 'v0.3.17',
} as const satisfies Readonly<Record<string, string>> & { readonly kubernetes: KubernetesVersion }

export const parts: readonly Part[] = [
  ...kubernetesVersions.map((version) => kubernetes(version)),
  // test/full/patch-version.test.ts installs v1.36.3, because no release of hyperkube names this patch
  // version.
  ...[...olderKubernetesVersions, 'v1.36.3'].map((version) => ({
    ...kubernetes(version),
    onRequest: true,
  })),
  ...['v3.7.3', 'v3.6.16'].map((version) => definePart('etcd', version, etcdPrograms)),
  // This is the etcd version of Kubernetes 1.32 and 1.33.
  definePart('etcd', 'v3.5.35', etcdPrograms, { onRequest: true }),
  definePart('containerd', 'v2.3.7', containerdPrograms(['containerd', 'containerd-shim-runc-v2', 'ctr']), {
    tags: containerdTags,
    stamps: { 'github.com/containerd/containerd/v2/version.Version': 'v2.3.7' },
  }),
  definePart(
    'runc',
    'v1.5.2',
    [{ name: 'runc', from: 'github.com/opencontainers/runc', ask: ['--version'] }],
    {
      cgo: true,
      tags: ['seccomp', 'netgo', 'osusergo'],
    },
  ),
  definePart(
    'cni-plugins',
    'v1.9.1',
    [
      cniPlugin('main/bridge'),
      cniPlugin('main/loopback'),
      cniPlugin('main/ptp'),
      cniPlugin('ipam/host-local'),
      cniPlugin('meta/portmap'),
    ],
    cniStamp(),
  ),
  flannel('linux'),
  kubeRouter(),
  definePart(
    'crictl',
    'v1.36.0',
    [{ name: 'crictl', from: 'sigs.k8s.io/cri-tools/cmd/crictl', ask: ['--version'] }],
    { stamps: { 'sigs.k8s.io/cri-tools/pkg/version.Version': 'v1.36.0' } },
  ),
  definePart('coredns', 'v1.15.0', [
    { name: 'coredns', from: 'github.com/coredns/coredns', ask: ['-version'] },
  ]),
  definePart(
    'metrics-server',
    'v0.9.0',
    [{ name: 'metrics-server', from: 'sigs.k8s.io/metrics-server/cmd/metrics-server', ask: ['--version'] }],
    { stamps: kubernetesStamps('v0.9.0') },
  ),
  definePart(
    'agnhost',
    'v2.66.1',
    [{ name: 'agnhost', from: `${kubernetesModule}/test/images/agnhost`, ask: ['--version'] }],
    { module: 'kubernetes/v1.37.1', stamps: { 'main.Version': '2.66.1' } },
  ),
  definePart('pause', 'v3.10.2', pausePrograms, {
    module: 'kubernetes/v1.37.1',
    language: 'c',
  }),
  // The conformance suites of older minors use these versions of the pause image.
  ...[
    { version: 'v3.10.1', module: 'kubernetes/v1.35.8' },
    { version: 'v3.10', module: 'kubernetes/v1.33.13' },
  ].map(({ version, module }) =>
    definePart('pause', version, pausePrograms, { module, language: 'c', onRequest: true }),
  ),
  definePart(
    'traefik',
    'v3.6.12',
    [{ name: 'traefik', from: 'github.com/traefik/traefik/v3/cmd/traefik', ask: ['version'] }],
    { stamps: { 'github.com/traefik/traefik/v3/pkg/version.Version': '3.6.12' } },
  ),
  definePart(
    'local-path-provisioner',
    'v0.0.30',
    [
      {
        name: 'local-path-provisioner',
        from: 'github.com/rancher/local-path-provisioner',
        ask: ['--version'],
      },
    ],
    { stamps: { 'main.VERSION': 'v0.0.30' } },
  ),
  metallb(),
  // Helm renders charts of addons on the machine of the operator.
  definePart(
    'helm',
    'v4.3.1',
    [{ name: 'helm', from: 'helm.sh/helm/v4/cmd/helm', ask: ['version', '--short'] }],
    {
      stamps: { 'helm.sh/helm/v4/internal/version.version': 'v4.3.1' },
      onRequest: true,
    },
  ),
  // GoBGP is a router for tests of BGP.
  definePart(
    'gobgp',
    'v4.8.0',
    ['gobgpd', 'gobgp'].map((name) => ({
      name,
      from: `github.com/osrg/gobgp/v4/cmd/${name}`,
      ask: ['--version'],
    })),
    { onRequest: true },
  ),
  definePart('kwok', 'v0.8.0', [{ name: 'kwok', from: 'sigs.k8s.io/kwok/cmd/kwok', ask: ['--version'] }], {
    onRequest: true,
  }),
  ...[...kubernetesVersions, ...olderKubernetesVersions].map((version) =>
    definePart(
      'e2e',
      version,
      [{ name: 'e2e.test', from: `${kubernetesModule}/test/e2e`, ask: ['--version'] }],
      {
        module: `kubernetes/${version}`,
        language: 'go-test',
        stamps: kubernetesStamps(version),
        onRequest: true,
      },
    ),
  ),
  definePart('test-images', 'v1.37.1', testImagePrograms, {
    module: 'kubernetes/v1.37.1',
    stamps: { 'main.Version': '2.66.1' },
    onRequest: true,
    files: testImageFiles,
  }),
  ...Object.entries(olderTestImages).map(([version, { agnhost }]) =>
    definePart('test-images', version, testImagePrograms.slice(0, 1), {
      module: `kubernetes/${version}`,
      stamps: { 'main.Version': agnhost },
      onRequest: true,
      files: testImageFiles,
    }),
  ),
  definePart(
    'sample-apiserver',
    'v0.29.2',
    [{ name: 'sample-apiserver', from: 'k8s.io/sample-apiserver', ask: ['--help'] }],
    { onRequest: true },
  ),
  // sample-apiserver stores its objects in this etcd.
  definePart('test-etcd', 'v3.7.0', etcdPrograms, { module: 'etcd/v3.7.0', onRequest: true }),
  // versitygw is an S3 server for tests that use buckets.
  definePart(
    'versitygw',
    'v1.8.0',
    [{ name: 'versitygw', from: 'github.com/versity/versitygw/cmd/versitygw', ask: ['--version'] }],
    { stamps: { 'main.Version': 'v1.8.0' }, onRequest: true },
  ),
  kubeBench(),
  // cosign can also sign the checksums of a release.
  definePart(
    'cosign',
    'v3.1.3',
    [{ name: 'cosign', from: 'github.com/sigstore/cosign/v3/cmd/cosign', ask: ['version'] }],
    { stamps: { 'sigs.k8s.io/release-utils/version.gitVersion': 'v3.1.3' }, onRequest: true },
  ),
  calico(),
  ...rke1(),
  ...kubernetesVersions.map((version) => kubernetesForWindows(version)),
  definePart('containerd', 'v2.3.7', containerdPrograms(['containerd', 'ctr']), {
    os: 'windows',
    stamps: { 'github.com/containerd/containerd/v2/version.Version': 'v2.3.7' },
    onRequest: true,
  }),
  definePart(
    'cni-plugins',
    'v1.9.1',
    [
      cniPlugin('main/windows/win-overlay'),
      cniPlugin('main/windows/win-bridge'),
      cniPlugin('ipam/host-local'),
    ],
    { ...cniStamp(), os: 'windows', onRequest: true },
  ),
  flannel('windows'),
]

/** Parts that upstream's conformance suite needs besides the cluster: the suite and its test images. */
export const conformanceParts: readonly string[] = [
  'e2e@v1.37.1',
  'test-images@v1.37.1',
  'sample-apiserver',
  'test-etcd',
]

export function formatPartId({ name, version, os }: Pick<Part, 'name' | 'version' | 'os'>): string {
  return os === 'windows' ? `${name}-windows@${version}` : `${name}@${version}`
}

/**
 * Selects parts, which are upstream components at pinned versions built from unmodified sources. Names can be
 * `etcd`, `etcd@v3.6.16`, `windows` for all Windows parts, or `all`. Without names, parts with `onRequest`
 * are left out.
 */
export function selectParts(names: readonly string[] = []): readonly Part[] {
  const unknown = names.filter((name) => !parts.some((part) => matchesName(part, name)))
  if (unknown.length > 0) {
    throw new HyperkubeError('UNKNOWN_PART', `there is no part ${unknown.join(', ')}`, {
      hint: 'npm run lab -- components --list',
    })
  }
  return parts.filter((part) =>
    names.length === 0 ? !part.onRequest : names.some((name) => matchesName(part, name)),
  )
}

function matchesName(part: Part, name: string): boolean {
  const id = formatPartId(part)
  return name === 'all' || name === part.os || name === id || id.startsWith(`${name}@`)
}

type Extra = Partial<Omit<Part, 'name' | 'version' | 'programs'>>

function definePart(name: string, version: string, programs: readonly Program[], extra: Extra = {}): Part {
  return {
    name,
    version,
    os: 'linux',
    module: `${name}/${version}`,
    programs,
    language: 'go',
    cgo: false,
    tags: [],
    stamps: {},
    onRequest: false,
    ...extra,
  }
}

function kubernetes(version: string): Part {
  return definePart(
    'kubernetes',
    version,
    [
      defineKubernetesProgram('kube-apiserver'),
      defineKubernetesProgram('kube-controller-manager'),
      defineKubernetesProgram('kube-scheduler'),
      defineKubernetesProgram('kubelet'),
      defineKubernetesProgram('kube-proxy'),
      defineKubernetesProgram('kubectl', ['version', '--client']),
      defineKubernetesProgram('kubeadm', ['version', '-o', 'short']),
    ],
    { stamps: kubernetesStamps(version) },
  )
}

function kubernetesForWindows(version: string): Part {
  return definePart(
    'kubernetes',
    version,
    [
      defineKubernetesProgram('kubelet'),
      defineKubernetesProgram('kube-proxy'),
      defineKubernetesProgram('kubectl'),
      { name: 'kube-log-runner', from: 'k8s.io/component-base/logs/kube-log-runner', ask: [] },
    ],
    {
      os: 'windows',
      stamps: kubernetesStamps(version),
      onRequest: true,
    },
  )
}

function defineKubernetesProgram(name: string, versionArgs: readonly string[] = ['--version']): Program {
  return { name, from: `${kubernetesModule}/cmd/${name}`, ask: versionArgs }
}

function kubernetesStamps(version: string): Record<string, string> {
  const [major = '', minor = ''] = version.slice(1).split('.')
  return Object.fromEntries(
    ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((target) => [
      [`${target}.gitVersion`, version],
      [`${target}.gitMajor`, major],
      [`${target}.gitMinor`, minor],
      [`${target}.gitTreeState`, 'clean'],
    ]),
  )
}

function containerdPrograms(names: readonly string[]): Program[] {
  return names.map((name) => ({
    name,
    from: `github.com/containerd/containerd/v2/cmd/${name}`,
    ask: name.includes('shim') ? ['-v'] : ['--version'],
  }))
}

function cniPlugin(path: string): Program {
  return { name: path.slice(path.lastIndexOf('/') + 1), from: `${cniPlugins}/${path}`, ask: [] }
}

function cniStamp(): Extra {
  return {
    stamps: { 'github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion': 'v1.9.1' },
  }
}

/** Defines kube-bench, which checks a cluster against the CIS benchmark with upstream's checks. */
function kubeBench(): Part {
  const module = 'github.com/aquasecurity/kube-bench'
  return definePart('kube-bench', 'v0.15.6', [{ name: 'kube-bench', from: module, ask: ['version'] }], {
    stamps: { [`${module}/cmd.KubeBenchVersion`]: 'v0.15.6' },
    onRequest: true,
    filesFrom: module,
    files: ['master', 'etcd', 'controlplane', 'node', 'policies'].map((name) => `cfg/cis-1.12/${name}.yaml`),
  })
}

/**
 * Defines Calico, a network plugin that operators can bring. Its repository has several Go modules. The Go
 * module proxy lacks one of them, lib/httpmachinery, which these programs do not use.
 */
function calico(): Part {
  const module = 'github.com/projectcalico/calico'
  const define = (path: string, versionArgs: readonly string[]): Program => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    from: `${module}/${path}`,
    ask: versionArgs,
  })
  return definePart(
    'calico',
    calicoVersion,
    [
      define('node/cmd/calico-node', ['-v']),
      define('cni-plugin/cmd/calico', ['-v']),
      define('cni-plugin/cmd/install', ['-v']),
      define('kube-controllers/cmd/kube-controllers', ['-v']),
      define('kube-controllers/cmd/check-status', ['-v']),
      define('kube-controllers/cmd/wrapper', ['-v']),
      cniPlugin('main/loopback'),
      cniPlugin('ipam/host-local'),
      cniPlugin('meta/portmap'),
      cniPlugin('meta/tuning'),
    ],
    {
      stamps: { [`${module}/pkg/buildinfo.Version`]: calicoVersion },
      onRequest: true,
      filesFrom: module,
      files: ['manifests/calico-vxlan.yaml', 'node/filesystem/etc/calico/felix.cfg'],
      scripts: {
        'node/filesystem/etc/rc.local': 'rc.local',
        'node/filesystem/sbin/start_runit': 'start_runit',
        ...Object.fromEntries(
          calicoServices.map((name) => [`node/filesystem/etc/service/available/${name}/run`, `run-${name}`]),
        ),
      },
    },
  )
}

/**
 * Defines RKE1, whose clusters hyperkube adopts, with the programs of all its images. The sources are Go modules
 * with replace directives, so they are built inside of these modules.
 */
function rke1(): readonly Part[] {
  const define = (name: string, version: string, module: string, extra: Extra = {}): Part =>
    definePart(name, version, [{ name: basename(module), from: '.', ask: ['--version'] }], {
      module,
      language: 'go-module',
      onRequest: true,
      ...extra,
    })
  const { kubernetes: kubernetesVersion, etcd, pause, coredns, flannel: flannelVersion } = rke1Versions
  const { criDockerd } = rke1Versions
  return [
    define('cri-dockerd', criDockerd, 'github.com/Mirantis/cri-dockerd'),
    define('rke1', 'v1.8.14', 'github.com/rancher/rke', {
      stamps: { 'main.VERSION': 'v1.8.14' },
      includes: [
        `kubernetes@${kubernetesVersion}`,
        `etcd@${etcd}`,
        `pause@${pause}`,
        `coredns@${coredns}`,
        `flannel@${flannelVersion}`,
        'cni-plugins@v1.9.1',
        `cri-dockerd@${criDockerd}`,
      ],
    }),
  ]
}

/** Defines MetalLB, which gives addresses to Services of the type LoadBalancer, with its CRDs. */
function metallb(): Part {
  const module = 'go.universe.tf/metallb'
  return definePart(
    'metallb',
    'v0.16.1',
    ['controller', 'speaker'].map((name) => ({ name, from: `${module}/${name}`, ask: ['--help'] })),
    {
      onRequest: true,
      filesFrom: module,
      files: metallbCrds.map((name) => `config/crd/bases/metallb.io_${name}.yaml`),
    },
  )
}

/**
 * Defines kube-router, which enforces NetworkPolicy. Its go.mod names a version of netlink that the Go module
 * proxy does not have, so the pinned go.mod names the next available one.
 */
function kubeRouter(): Part {
  const module = 'github.com/cloudnativelabs/kube-router/v2'
  return definePart(
    'kube-router',
    'v2.10.0',
    [{ name: 'kube-router', from: `${module}/cmd/kube-router`, ask: ['--version'] }],
    { stamps: { [`${module}/pkg/version.Version`]: 'v2.10.0' } },
  )
}

function flannel(os: Os): Part {
  return definePart(
    'flannel',
    'v0.28.7',
    [{ name: 'flanneld', from: 'github.com/flannel-io/flannel', ask: ['--version'] }],
    {
      os,
      // flannel's udp backend is written in C on Linux and does not exist on Windows, so only Linux needs
      // cgo.
      cgo: os === 'linux',
      tags: os === 'linux' ? ['netgo', 'osusergo'] : [],
      stamps: { 'github.com/flannel-io/flannel/pkg/version.Version': 'v0.28.7' },
      onRequest: os === 'windows',
    },
  )
}
