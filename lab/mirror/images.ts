import { calicoServices, type OlderTestImages, olderTestImages, type Part } from '../components/parts.ts'
import { accounts, defineImage, type Image, iptablesLinks } from './image.ts'
import { canalImageNames, listRke1Images } from './rke1-images.ts'

const kubernetesRegistry = 'registry.k8s.io'
const testRegistry = `${kubernetesRegistry}/e2e-test-images`

/**
 * Names of protocols, as in upstream's image. Without them nft prints numbers, and a kube-proxy that starts on
 * the rules of another one deletes the Services that it has just added.
 */
const protocols = { 'etc/protocols': 'tcp 6 TCP\nudp 17 UDP\nsctp 132 SCTP\n' }

/**
 * Link that makes bash the shell. Debian's busybox shell runs its own nc regardless of PATH, unlike the
 * busybox of upstream's images.
 */
const bashAsShell = { 'bin/sh': 'bash' }

/**
 * Link through which programs that search PATH for `sh` find bash. Debian's busybox shell hides environment
 * variables with names invalid in a shell. /bin/sh stays busybox, because tests also check its error
 * messages.
 */
const bashInPath = { 'usr/local/bin/sh': '/bin/bash' }

/**
 * Images of upstream's conformance suite. Upstream builds them from Alpine or Debian; the lab builds them
 * from busybox and the same programs from Debian. Tool versions are Debian's, regardless of the tag.
 */
const testImages: readonly Image[] = [
  defineBusybox('1.37.0-2'),
  defineImage(`${testRegistry}/nonroot:1.5`, {}, { command: ['id', '-u'], busybox: true, user: '1234' }),
  // 2.55 is the older version from which upstream's suite upgrades.
  ...['2.66.1', '2.55'].map((tag) => defineFullAgnhost(`${testRegistry}/agnhost:${tag}`, 'pause')),
  defineFullAgnhost(`${testRegistry}/nautilus:1.8`, 'test-webserver', {
    'data.json': '{\n  "image": "nautilus.jpg"\n}\n',
  }),
  defineImage(
    `${testRegistry}/nonewprivs:1.4`,
    { nonewprivs: 'usr/local/bin/nnp' },
    { entrypoint: [], command: ['nnp'], busybox: true, files: accounts, setuid: ['usr/local/bin/nnp'] },
  ),
  defineImage(
    `${testRegistry}/nginx:1.27.0-2`,
    {},
    {
      command: ['nginx', '-g', 'daemon off;'],
      busybox: true,
      debian: ['nginx'],
      files: { ...accounts, 'etc/nginx/nginx.conf': renderNginxConfig(), 'var/www/index.html': 'nginx\n' },
    },
  ),
  defineImage(
    `${testRegistry}/glibc-dns-testing:2.1.1`,
    {},
    {
      command: ['bash'],
      busybox: true,
      files: accounts,
      debian: ['bash', 'bind9-dnsutils', 'hostname', 'libc-bin'],
      links: bashAsShell,
    },
  ),
]

/** Lists the images that the thirty conformance tests of an older minor use. */
function listOlderTestImages({ agnhost, previous, busybox }: OlderTestImages): readonly Image[] {
  const name = `${testRegistry}/${previous}`
  return [
    defineFullAgnhost(`${testRegistry}/agnhost:${agnhost}`, 'pause'),
    previous.startsWith('agnhost:') ? defineFullAgnhost(name, 'pause') : defineHttpd(name),
    defineBusybox(busybox),
  ]
}

function defineBusybox(tag: string): Image {
  return defineImage(
    `${testRegistry}/busybox:${tag}`,
    {},
    { command: ['sh'], busybox: true, files: accounts, debian: ['bash'], links: bashInPath },
  )
}

/**
 * Defines the web server image of older suites. The web server of busybox is enough, because tests only read
 * one page from it.
 */
function defineHttpd(name: string): Image {
  return defineImage(
    name,
    {},
    {
      command: ['httpd', '-f', '-p', '80', '-h', '/var/www'],
      busybox: true,
      files: { ...accounts, 'var/www/index.html': 'It works!\n' },
    },
  )
}

/**
 * Defines agnhost with all programs that upstream adds for tests. Pods that need only agnhost itself use the
 * small image.
 */
function defineFullAgnhost(
  name: string,
  command: string,
  files: Readonly<Record<string, string>> = {},
): Image {
  return defineImage(
    name,
    { agnhost: 'agnhost', 'localhost.crt': 'localhost.crt', 'localhost.key': 'localhost.key' },
    {
      command: [command],
      busybox: true,
      debian: ['bash', 'bind9-dnsutils', 'curl', 'iproute2', 'libc-bin', 'netcat-openbsd', 'socat'],
      links: { ...bashAsShell, 'agnhost-2': 'agnhost', 'bin/nc': 'nc.openbsd' },
      files: { ...accounts, 'uploads/.keep': '', ...files },
    },
  )
}

function renderNginxConfig(): string {
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

export function listImages(part: Part): readonly Image[] {
  if (part.os !== 'linux') return []
  const { name, version } = part
  const bare = version.slice(1)
  switch (name) {
    case 'kubernetes':
      return ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'].map((program) =>
        defineImage(
          `${kubernetesRegistry}/${program}:${version}`,
          { [program]: `usr/local/bin/${program}` },
          {
            entrypoint: [],
            ...(program === 'kube-proxy'
              ? { debian: ['conntrack', 'iptables', 'nftables'], links: iptablesLinks, files: protocols }
              : {}),
          },
        ),
      )
    case 'etcd':
    case 'test-etcd':
      return [
        defineImage(
          `${kubernetesRegistry}/etcd:${bare}-0`,
          Object.fromEntries(part.programs.map((program) => [program.name, `usr/local/bin/${program.name}`])),
          { entrypoint: [] },
        ),
      ]
    case 'pause':
      return [defineImage(`${kubernetesRegistry}/pause:${bare}`, { pause: 'pause' })]
    case 'agnhost':
      // 2.55 is the older version from which upstream's suite upgrades.
      return [bare, '2.55'].map((tag) =>
        defineImage(
          `${testRegistry}/agnhost:${tag}`,
          { agnhost: 'agnhost' },
          { command: ['pause'], busybox: true },
        ),
      )
    case 'sample-apiserver':
      // The tag is the Kubernetes version to which this sample-apiserver belongs.
      return [
        defineImage(`${testRegistry}/sample-apiserver:1.${bare.slice(2)}`, {
          'sample-apiserver': 'sample-apiserver',
        }),
      ]
    case 'test-images': {
      const older = olderTestImages[version]
      return older === undefined ? testImages : listOlderTestImages(older)
    }
    case 'coredns':
      return [defineImage(`${kubernetesRegistry}/coredns/coredns:${version}`, { coredns: 'coredns' })]
    case 'metrics-server':
      return [
        defineImage(`${kubernetesRegistry}/metrics-server/metrics-server:${version}`, {
          'metrics-server': 'metrics-server',
        }),
      ]
    case 'traefik':
      return [defineImage(`docker.io/library/traefik:${version}`, { traefik: 'usr/local/bin/traefik' })]
    case 'local-path-provisioner':
      return [
        defineImage(`docker.io/rancher/local-path-provisioner:${version}`, {
          'local-path-provisioner': 'usr/bin/local-path-provisioner',
        }),
        // Image of the helper pods with which local-path-provisioner creates and removes directories.
        defineImage('docker.io/library/busybox:1.37.0', {}, { command: ['sh'], busybox: true }),
      ]
    case 'flannel':
      // The host's flanneld is a program. This image is for clusters whose pod network is an addon.
      return [
        defineImage(
          `ghcr.io/flannel-io/flannel:${version}`,
          { flanneld: 'opt/bin/flanneld' },
          { debian: ['iptables', 'nftables'], links: iptablesLinks },
        ),
      ]
    case 'calico':
      return [
        ...listCalicoImages('quay.io', {
          node: `calico/node:${version}`,
          cni: `calico/cni:${version}`,
          controllers: `calico/kube-controllers:${version}`,
        }),
        ...listCalicoImages('docker.io', canalImageNames),
      ]
    case 'rke1':
      return listRke1Images()
    case 'metallb':
      return part.programs.map((program) =>
        defineImage(`quay.io/metallb/${program.name}:${version}`, { [program.name]: program.name }),
      )
    default:
      return []
  }
}

const tunnelService = 'allocate-tunnel-addrs'

/**
 * Starts the same program as upstream's script. With canal it has nothing to do. Upstream's program waits then, but Go
 * ends one without cgo in which all goroutines wait, and runit would start it again each second.
 */
const tunnelScript = `#!/bin/sh
exec 2>&1
calico-node -${tunnelService} || exec sleep 60
`

/**
 * Lists the images of Calico's manifest. Upstream builds them from Red Hat's base image; the lab uses busybox
 * and Debian's packages of the same programs. BIRD and bpftool are missing, so BGP and eBPF cannot be used.
 */
function listCalicoImages(
  registry: string,
  names: Readonly<Record<'node' | 'cni' | 'controllers', string>>,
): readonly Image[] {
  const plugins = ['install', 'calico', 'loopback', 'host-local', 'portmap', 'tuning']
  const controllers = ['wrapper', 'kube-controllers', 'check-status']
  return [
    defineImage(
      `${registry}/${names.node}`,
      {
        'calico-node': 'bin/calico-node',
        'rc.local': 'etc/rc.local',
        start_runit: 'usr/sbin/start_runit',
        'felix.cfg': 'etc/calico/felix.cfg',
        ...Object.fromEntries(
          calicoServices
            .filter((name) => name !== tunnelService)
            .map((name) => [`run-${name}`, `etc/service/available/${name}/run`]),
        ),
      },
      {
        entrypoint: [],
        command: ['start_runit'],
        busybox: true,
        files: accounts,
        scripts: { [`etc/service/available/${tunnelService}/run`]: tunnelScript },
        debian: ['conntrack', 'iproute2', 'ipset', 'iptables', 'nftables', 'runit'],
        // Upstream's image has a directory here, Debian's package a link.
        debianExclude: ['etc/service'],
        // The lab builds calico-node without cgo. Such a program cannot remove eBPF programs of a previous run.
        environment: { FELIX_DebugSkipCTLBCleanup: 'true' },
        // start_runit names this path, and busybox is in /bin.
        links: { 'usr/bin/which': '/bin/busybox', ...iptablesLinks },
      },
    ),
    defineImage(
      `${registry}/${names.cni}`,
      Object.fromEntries(plugins.map((name) => [name, `opt/cni/bin/${name}`])),
      { links: { 'opt/cni/bin/calico-ipam': 'calico' } },
    ),
    defineImage(
      `${registry}/${names.controllers}`,
      Object.fromEntries(controllers.map((name) => [name, `usr/bin/${name}`])),
      {
        entrypoint: ['/usr/bin/wrapper', '/usr/bin/kube-controllers'],
        user: '999',
        // The process may write only to /tmp.
        links: { status: 'tmp', profiles: 'tmp' },
      },
    ),
  ]
}

/** Path of an image's archive on a mirror. */
export function formatImagePath(name: string): string {
  return `images/${name.replace(/:(?=[^/]*$)/, '/')}.tar`
}
