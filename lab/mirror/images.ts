import type { Part } from '../components/parts.ts'

/** An image is one layer of programs that need nothing else, as upstream's own are. */
export interface Image {
  readonly name: string
  /** Programs of the part, by the place where each is in the image. */
  readonly programs: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Adds a shell and the usual small tools, from the machine's static busybox. */
  readonly busybox: boolean
  /** Small files of the image itself: path to contents. */
  readonly files: Readonly<Record<string, string>>
  /** Who its process is, if not root. */
  readonly user: string
  /** Programs of the machine that go in with the libraries they need. */
  readonly machinePrograms: readonly string[]
  /** Names that lead to other files of the image. */
  readonly links?: Readonly<Record<string, string>>
  /** Programs that run as their owner, whoever starts them. */
  readonly setuid?: readonly string[]
  /** Debian packages that go in with all that they depend on; what they bring takes the place of busybox's. */
  readonly debian?: readonly string[]
}

const kubernetesRegistry = 'registry.k8s.io'
const testRegistry = `${kubernetesRegistry}/e2e-test-images`

const accounts = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
}

/** Debian's busybox has a shell that runs its own nc, whatever is in its path; upstream's does not. */
const anotherShell = { 'bin/sh': 'bash' }

/**
 * The same shell keeps from programs the variables that a shell could not name, which upstream's does not. Who looks for a
 * shell gets another one; who names /bin/sh gets busybox, because how it complains is looked at, too.
 */
const foundShell = { 'usr/local/bin/sh': '/bin/bash' }

/**
 * What upstream's conformance suite runs. Where upstream's images are Alpine or Debian with programs in it, these are
 * busybox with the same programs from Debian: versions of tools are Debian's, whatever a tag says.
 */
const testImages: readonly Image[] = [
  image(
    `${testRegistry}/busybox:1.37.0-2`,
    {},
    { command: ['sh'], busybox: true, files: accounts, debian: ['bash'], links: foundShell },
  ),
  image(`${testRegistry}/nonroot:1.5`, {}, { command: ['id', '-u'], busybox: true, user: '1234' }),
  // The second is the older one that upstream's suite upgrades from.
  ...['2.66.1', '2.55'].map((tag) => fullAgnhost(`${testRegistry}/agnhost:${tag}`, 'pause')),
  fullAgnhost(`${testRegistry}/nautilus:1.8`, 'test-webserver', {
    'data.json': '{\n  "image": "nautilus.jpg"\n}\n',
  }),
  image(
    `${testRegistry}/nonewprivs:1.4`,
    { nonewprivs: 'usr/local/bin/nnp' },
    { entrypoint: [], command: ['nnp'], busybox: true, files: accounts, setuid: ['usr/local/bin/nnp'] },
  ),
  image(
    `${testRegistry}/nginx:1.27.0-2`,
    {},
    {
      command: ['nginx', '-g', 'daemon off;'],
      busybox: true,
      debian: ['nginx'],
      files: { ...accounts, 'etc/nginx/nginx.conf': nginxConfiguration(), 'var/www/index.html': 'nginx\n' },
    },
  ),
  image(
    `${testRegistry}/glibc-dns-testing:2.1.1`,
    {},
    {
      command: ['bash'],
      busybox: true,
      files: accounts,
      debian: ['bash', 'bind9-dnsutils', 'hostname', 'libc-bin'],
      links: anotherShell,
    },
  ),
]

/** agnhost with all that upstream puts beside it for tests; pods that only need agnhost itself take the small one. */
function fullAgnhost(name: string, command: string, files: Readonly<Record<string, string>> = {}): Image {
  return image(
    name,
    { agnhost: 'agnhost', 'localhost.crt': 'localhost.crt', 'localhost.key': 'localhost.key' },
    {
      command: [command],
      busybox: true,
      debian: ['bash', 'bind9-dnsutils', 'curl', 'iproute2', 'libc-bin', 'netcat-openbsd', 'socat'],
      links: { ...anotherShell, 'agnhost-2': 'agnhost', 'bin/nc': 'nc.openbsd' },
      files: { ...accounts, 'uploads/.keep': '', ...files },
    },
  )
}

function nginxConfiguration(): string {
  return `user root;
pid /tmp/nginx.pid;
error_log /dev/stderr;
events {}
http {
  access_log /dev/stdout;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  server {
    listen 80;
    root /var/www;
  }
}
`
}

export function imagesOf(part: Part): readonly Image[] {
  if (part.os !== 'linux') return []
  const { name, version } = part
  const bare = version.slice(1)
  switch (name) {
    case 'kubernetes':
      return ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'].map((program) =>
        image(
          `${kubernetesRegistry}/${program}:${version}`,
          { [program]: `usr/local/bin/${program}` },
          {
            entrypoint: [],
            machinePrograms: program === 'kube-proxy' ? ['nft', 'conntrack'] : [],
          },
        ),
      )
    case 'etcd':
    case 'test-etcd':
      return [
        image(
          `${kubernetesRegistry}/etcd:${bare}-0`,
          Object.fromEntries(part.programs.map((program) => [program.name, `usr/local/bin/${program.name}`])),
          { entrypoint: [] },
        ),
      ]
    case 'pause':
      return [image(`${kubernetesRegistry}/pause:${bare}`, { pause: 'pause' })]
    case 'agnhost':
      // The second is the older one that upstream's suite upgrades from.
      return [bare, '2.55'].map((tag) =>
        image(
          `${testRegistry}/agnhost:${tag}`,
          { agnhost: 'agnhost' },
          { command: ['pause'], busybox: true },
        ),
      )
    case 'sample-apiserver':
      // Its tag is the version of Kubernetes that it is a sample of.
      return [
        image(`${testRegistry}/sample-apiserver:1.${bare.slice(2)}`, {
          'sample-apiserver': 'sample-apiserver',
        }),
      ]
    case 'test-images':
      return testImages
    case 'coredns':
      return [image(`${kubernetesRegistry}/coredns/coredns:${version}`, { coredns: 'coredns' })]
    case 'metrics-server':
      return [
        image(`${kubernetesRegistry}/metrics-server/metrics-server:${version}`, {
          'metrics-server': 'metrics-server',
        }),
      ]
    case 'traefik':
      return [image(`docker.io/library/traefik:${version}`, { traefik: 'usr/local/bin/traefik' })]
    case 'local-path-provisioner':
      return [
        image(`docker.io/rancher/local-path-provisioner:${version}`, {
          'local-path-provisioner': 'usr/bin/local-path-provisioner',
        }),
        // Its helpers make and remove directories.
        image('docker.io/library/busybox:1.37.0', {}, { command: ['sh'], busybox: true }),
      ]
    default:
      return []
  }
}

/** Where a mirror keeps an image's archive. */
export function imagePath(name: string): string {
  return `images/${name.replace(/:(?=[^/]*$)/, '/')}.tar`
}

type Extra = Partial<Omit<Image, 'name' | 'programs'>>

function image(name: string, programs: Readonly<Record<string, string>>, extra: Extra = {}): Image {
  return {
    name,
    programs,
    entrypoint: Object.values(programs)
      .slice(0, 1)
      .map((path) => `/${path}`),
    command: [],
    busybox: false,
    files: {},
    user: '',
    machinePrograms: [],
    ...extra,
  }
}
